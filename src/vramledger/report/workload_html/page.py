"""The page: figures, tables and provenance put into the template."""

import json
from collections.abc import Callable
from typing import Final

from vramledger.report.workload_html.figure import Figure
from vramledger.report.workload_html.lengths import holding_curve, joint_map, length_histogram
from vramledger.report.workload_html.times import arrivals, hours_of_week, in_flight
from vramledger.report.workload_tables import (
    SYNTHETIC,
    headline,
    opening,
    origin,
    tables,
    unknown,
)
from vramledger.workload.profile.profile import Profile

FIGURES: Final[tuple[Callable[[Profile], Figure | None], ...]] = (
    holding_curve,
    length_histogram,
    joint_map,
    arrivals,
    hours_of_week,
    in_flight,
)


def to_html(profile: Profile) -> str:
    """One self-contained page. Whatever comes out of a file is escaped; nothing is loaded."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from plotly.offline import get_plotlyjs

    found = [figure for figure in (make(profile) for make in FIGURES) if figure is not None]
    drawn = {each.id: {"data": each.data, "layout": each.layout} for each in found}
    environment = Environment(
        loader=PackageLoader("vramledger.report.workload_html", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2").render(
        opening=opening(profile),
        headline=headline(profile),
        synthetic=profile.synthetic,
        SYNTHETIC=SYNTHETIC,
        figures=found,
        tables=[each for each in tables(profile) if each.title not in {f.title for f in found}],
        origin=origin(profile),
        unknown=unknown(profile),
        drawn=_for_script(drawn),
        plotly=get_plotlyjs(),
    )


def _for_script(content: object) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")
