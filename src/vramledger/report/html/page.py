"""A self-contained page: a template in the frame, with its figures drawn by the script inside."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from vramledger.report.html.figure import Figure
from vramledger.report.html.palette import DARK, LIGHT, variables

if TYPE_CHECKING:
    from jinja2 import Template

_FRAME: Final = "vramledger.report.html"
_COLORS: Final = {"light": variables(LIGHT), "dark": variables(DARK)}


def rendered(package: str, figures: Sequence[Figure], **content: Any) -> str:
    """The page of `package`'s page.html.j2; what it shows is escaped, and nothing is loaded.

    The template gets `figures` and `content`; `figures` are drawn in the places of their ids.
    """
    from plotly.offline import get_plotlyjs

    drawn = {each.id: {"data": each.data, "layout": each.layout} for each in figures}
    return _template(package).render(
        figures=figures,
        drawn=_for_script(drawn),
        palette=_for_script({"light": LIGHT, "dark": DARK}),
        plotly=get_plotlyjs(),
        **_COLORS,
        **content,
    )


def rendered_still(package: str, **content: Any) -> str:
    """The same without a script: for pages whose plots are drawn already."""
    return _template(package).render(**_COLORS, **content)


def _template(package: str) -> "Template":
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package, "."), PackageLoader(_FRAME, ".")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2")


def _for_script(content: object) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")
