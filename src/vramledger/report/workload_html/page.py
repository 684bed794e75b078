"""The page: figures, tables and provenance put into the template."""

from collections.abc import Callable
from typing import Final

from vramledger.report.html.figure import Figure
from vramledger.report.html.page import rendered
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
    found = [figure for figure in (make(profile) for make in FIGURES) if figure is not None]
    titles = {each.title for each in found}
    return rendered(
        "vramledger.report.workload_html",
        found,
        opening=opening(profile),
        headline=headline(profile),
        synthetic=profile.synthetic,
        SYNTHETIC=SYNTHETIC,
        tables=[each for each in tables(profile) if each.title not in titles],
        origin=origin(profile),
        unknown=unknown(profile),
    )
