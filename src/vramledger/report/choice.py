"""A choice between sides, for a terminal and as JSON."""

from collections.abc import Iterator
from math import isfinite
from typing import Any

from vramledger.accept.verdict_json import number
from vramledger.compare.choice import Choice, Kept
from vramledger.compare.margin import left
from vramledger.printable import flat


def choice_text(found: Choice) -> str:
    """The answer first, then each side."""
    return "\n".join(flat(line) for line in _lines(found))


def _lines(found: Choice) -> Iterator[str]:
    yield f"CHOICE: {found.why}"
    for each in found.sides:
        yield f"  {each.side}: {each.said}{_nearest(each)}"
        yield from (f"     breaks {line}" for line in each.broken)
        yield from (f"     open   {line}" for line in each.undecided)


def _nearest(kept: Kept) -> str:
    if kept.nearest is None:
        return "; no line has a margin"
    one = kept.nearest
    return f"; {left(one.value)} at {one.line} ({_end(one.low)} to {_end(one.high)})"


def _end(value: float) -> str:
    return f"{value:+.1%}" if isfinite(value) else "open"


def choice_json(found: Choice) -> dict[str, Any]:
    """The key `choice` of a comparison."""
    return {
        "plan": found.plan,
        "chosen": found.chosen,
        "sure": found.sure,
        "reason": found.why,
        "sides": [_kept(each) for each in found.sides],
    }


def _kept(kept: Kept) -> dict[str, Any]:
    one = kept.nearest
    return {
        "side": kept.side,
        "verdict": str(kept.said),
        "line": None if one is None else one.line,
        "margin": None if one is None else number(one.value),
        "margin_low": None if one is None else number(one.low),
        "margin_high": None if one is None else number(one.high),
        "broken": list(kept.broken),
        "open": list(kept.undecided),
    }
