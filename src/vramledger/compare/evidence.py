"""Whether sides are evidence of one kind: what a simulation says is a prediction, and no measurement is held against it."""

from collections.abc import Sequence
from typing import Final

from vramledger.compare.side import Side
from vramledger.record.document import Origin

_MADE_UP: Final = (Origin.SIMULATED, Origin.REHEARSED)


def mixed(sides: Sequence[Side]) -> str:
    """Why sides of measured and of simulated figures decide nothing, one sentence; empty where they are of one kind."""
    by_kind: dict[bool, str] = {}
    for side in sides:
        for one in side.runs:
            by_kind.setdefault(one.run.description.origin in _MADE_UP, f"{side.name} is {one.run.description.origin}")  # fmt: skip
    if len(by_kind) < 2:
        return ""
    return (
        f"{by_kind[False]} and {by_kind[True]}: a simulation is a prediction and no evidence, so nothing is decided between them; "
        "the figures are shown."
    )


def title_of(sides: Sequence[Side]) -> str:
    """The word that figures carry that nobody measured, such as SIMULATED; empty where all were measured."""
    origins = dict.fromkeys(one.run.description.origin for side in sides for one in side.runs)
    return ", ".join(str(each).upper() for each in origins if each in _MADE_UP)
