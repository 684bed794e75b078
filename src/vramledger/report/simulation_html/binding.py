"""What limits the engine, by share of time."""

from collections.abc import Iterator
from typing import Any, Final

from vramledger.report.html.figure import Figure
from vramledger.report.html.titled_table import Table
from vramledger.report.number import share
from vramledger.report.simulation import LIMITS
from vramledger.report.simulation_html.shown import Shown, Side
from vramledger.simulate.binding import IDLE, KV, SEQUENCES, TOKENS
from vramledger.simulate.step_limits import BANDWIDTH, COMPUTE

_ROLES: Final = {  # what has none takes the page's own sequence of colours
    KV: "limit",
    SEQUENCES: "output",
    TOKENS: "input + output",
    BANDWIDTH: "input",
    COMPUTE: "compute",
    IDLE: "quiet",
}


def binding(shown: Shown) -> Iterator[Figure]:
    """One bar a side, its parts adding up to all of the engines' time."""
    names = list(shown.main.answers.levels.binding)
    rows = tuple(
        (LIMITS[name], *(share(side.answers.levels.binding.get(name, 0.0)) for side in shown.sides))
        for name in names
    )
    yield Figure(
        "binding",
        "What binds, by share of time",
        "Every step of every engine counts for as long as it took, idle time included.",
        tuple(_part(name, shown.sides) for name in names),
        {
            "barmode": "stack",
            "height": 384,
            "bargap": 0.4,
            "xaxis": {"tickformat": ".0%", "range": [0, 1], "title": {"text": "share of time"}},
            "yaxis": {"autorange": "reversed", "automargin": True},
        },
        Table(
            "Shares of time", ("", *(side.title for side in shown.sides)), rows, frozenset({1, 2})
        ),
    )


def _part(name: str, sides: tuple[Side, ...]) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "name": LIMITS[name],
        "meta": _ROLES.get(name),
        "y": [side.title for side in sides],
        "x": [side.answers.levels.binding.get(name, 0.0) for side in sides],
        "hovertemplate": f"{LIMITS[name]}: %{{x:.1%}}<extra></extra>",
    }
