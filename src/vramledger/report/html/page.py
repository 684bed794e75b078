"""A self-contained page: a template in the frame, with its figures drawn by the script inside."""

import json
from collections.abc import Sequence
from typing import Any

from vramledger.report.html.figure import Figure

_FRAME = "vramledger.report.html"


def rendered(package: str, figures: Sequence[Figure], **content: Any) -> str:
    """The page of `package`'s page.html.j2; what it shows is escaped, and nothing is loaded.

    The template gets `figures` and `content`; `figures` are drawn in the places of their ids.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    from plotly.offline import get_plotlyjs

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package, "."), PackageLoader(_FRAME, ".")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    drawn = {each.id: {"data": each.data, "layout": each.layout} for each in figures}
    return environment.get_template("page.html.j2").render(
        figures=figures, drawn=_for_script(drawn), plotly=get_plotlyjs(), **content
    )


def _for_script(content: object) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")
