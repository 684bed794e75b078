"""The highest level that keeps a goal: bracketed, bisected, then repeated until its ends are clear.

1. One play a level. From the start (or from where theory sees the end) the level doubles or halves, or changes by
   the range's own ratio, until one is too much and one is not; then the bracket is halved, as a ratio, down to the tolerance.
2. Both ends are repeated until their verdicts are clear (`sequential`). An end that is not clear moves
   outward, by the tolerance first and twice as far each time.
3. What that left open is bisected again, with clear verdicts only, until it is within the tolerance or a
   level between is uncertain: closer than that the draws do not tell.

Levels whose plays contradict the order (too much below one that holds) are repeated as well. Where a
clear contradiction stays, the goal is not monotone in the load: then the answer lies below the lowest
level that is clearly too much, and the higher ones that hold are told.
"""

from collections.abc import Callable
from enum import StrEnum
from math import sqrt
from typing import Final

from vramledger.frozen import frozen
from vramledger.methods.knee.probes import Point, Probes
from vramledger.methods.subject import Axis, Goal, Range, Verdict

_ENDED_BEFORE: Final = "the search was ended before it"


class Ending(StrEnum):
    """How a search ended."""

    FOUND = "found"  # one level holds, a higher one is too much
    NEVER_REACHED = "never reached"  # it holds at the highest level there is
    NOTHING_HOLDS = "nothing holds"


@frozen
class Limit:
    """The end of what a goal allows lies from `held` up to `failed`.

    `held` is the highest level that clearly holds, None where none does; `failed` the lowest that is
    clearly too much, None where none is; `uncertain` what lies between. `again` are levels above
    `failed` that clearly hold all the same. `edge` says why nothing beyond was tried, where one end is missing.
    """

    goal: Goal
    ending: Ending
    held: Point | None
    failed: Point | None
    uncertain: tuple[Point, ...]
    again: tuple[Point, ...]
    little: Point | None  # the highest that fails below `held` because it offers too little
    edge: str


def highest(probes: Probes, goal: Goal, tolerance: float) -> Limit:
    """The highest level that keeps the goal, to a relative tolerance above 0.

    Raises:
        VramError: a level cannot be played.
    """
    _settle_contradictions(probes, goal)
    ends = _approach(probes.range, _known(probes, goal), tolerance, _once(probes, goal))
    ends = _cleared(probes, goal, ends, tolerance)
    if not _uncertain_between(probes, goal, ends):
        _approach(probes.range, ends, tolerance, lambda level: probes.verdict(level, goal))
    return limit_of(probes, goal)


def rechecked(probes: Probes, limit: Limit, tolerance: float) -> Limit:
    """The limit after other levels were played: found again where one of them speaks against it.

    Raises:
        VramError: a level cannot be played.
    """
    _settle_contradictions(probes, limit.goal)
    now = limit_of(probes, limit.goal)
    same = _at(now.held) == _at(limit.held) and _at(now.failed) == _at(limit.failed)
    return now if same else highest(probes, limit.goal, tolerance)


@frozen
class _Ends:
    """The highest level that is not too much, and the lowest that is."""

    below: float | None
    above: float | None


def _once(probes: Probes, goal: Goal) -> Callable[[float], Verdict]:
    return lambda level: probes.first(level).verdict(goal)


def _known(probes: Probes, goal: Goal) -> _Ends:
    """What is clear already."""
    points = probes.points
    above = min((p.level for p in points if p.verdict(goal) is Verdict.TOO_MUCH), default=None)
    below = [
        p.level
        for p in points
        if p.verdict(goal) in (Verdict.HOLDS, Verdict.TOO_LITTLE)
        and (above is None or p.level < above)
    ]
    return _Ends(max(below, default=None), above)


def _approach(
    levels: Range, ends: _Ends, tolerance: float, judge: Callable[[float], Verdict]
) -> _Ends:
    """Ends within the tolerance, at the edge of the range, or around a level that is uncertain."""
    while (level := _next(levels, ends, tolerance)) is not None:
        verdict = judge(level)
        if verdict is Verdict.UNCERTAIN:
            return ends
        much = verdict is Verdict.TOO_MUCH
        ends = _Ends(ends.below, level) if much else _Ends(level, ends.above)
    return ends


def _next(levels: Range, ends: _Ends, tolerance: float) -> float | None:
    """The level to play; None where there is none left."""
    below, above = ends.below, ends.above
    if below is not None and above is not None:
        middle = levels.rounded(sqrt(below * above))
        close = above <= below * (1 + tolerance)
        return None if close or not below < middle < above else middle
    if below is not None:
        return _outward(levels, below, max(below * levels.step, levels.guess or 0.0))
    if above is not None:
        return _outward(levels, above, min(above / levels.step, levels.guess or above))
    return levels.rounded(levels.start)


def _outward(levels: Range, level: float, far: float) -> float | None:
    """The level that is far, inside the range, and another one; None at its edge."""
    step = levels.rounded(far)
    if step == level and levels.axis is Axis.CONCURRENCY:
        step = levels.rounded(level + (1 if far > level else -1))
    return None if step == level else step


def _cleared(probes: Probes, goal: Goal, ends: _Ends, tolerance: float) -> _Ends:
    """Ends whose verdicts are clear, farther out where these are not."""
    down = _clear(
        probes, goal, ends.below, 1 / (1 + tolerance), {Verdict.HOLDS, Verdict.TOO_LITTLE}
    )
    up = _clear(probes, goal, ends.above, 1 + tolerance, {Verdict.TOO_MUCH})
    return _Ends(down, up)


def _uncertain_between(probes: Probes, goal: Goal, ends: _Ends) -> bool:
    """Whether the ends already lie around a level that no verdict can be had of."""
    low, high = ends.below or 0.0, ends.above or float("inf")
    return any(
        low < point.level < high and point.verdict(goal) is Verdict.UNCERTAIN
        for point in probes.points
    )


def _clear(
    probes: Probes, goal: Goal, level: float | None, factor: float, wanted: set[Verdict]
) -> float | None:
    """The first level outward with such a verdict; None where the range ends before."""
    while level is not None:
        if probes.verdict(level, goal) in wanted:
            return level
        level = _outward(probes.range, level, level * factor)
        factor *= factor
    return None


def _settle_contradictions(probes: Probes, goal: Goal) -> None:
    """Repeat levels whose plays are too few and speak against others."""
    points = probes.points
    much = [p.level for p in points if p.first.verdict(goal) is Verdict.TOO_MUCH]
    holds = [p.level for p in points if p.first.verdict(goal) is Verdict.HOLDS]
    if not much or not holds:
        return
    lowest, highest_held = min(much), max(holds)
    for level in (*much, *holds):
        if lowest <= level <= highest_held:
            probes.verdict(level, goal)


def limit_of(probes: Probes, goal: Goal) -> Limit:
    """The limit as far as what was played tells; nothing more is."""
    by_verdict: dict[Verdict | None, list[Point]] = {}
    for point in probes.points:
        by_verdict.setdefault(point.verdict(goal), []).append(point)
    failed = next(iter(by_verdict.get(Verdict.TOO_MUCH, ())), None)
    ceiling = float("inf") if failed is None else failed.level
    holds = by_verdict.get(Verdict.HOLDS, [])
    held = max((p for p in holds if p.level < ceiling), key=_level, default=None)
    floor = 0.0 if held is None else held.level
    return Limit(
        goal=goal,
        ending=_ending(held, failed),
        held=held,
        failed=failed,
        uncertain=tuple(
            p for p in by_verdict.get(Verdict.UNCERTAIN, ()) if floor < p.level < ceiling
        ),
        again=tuple(p for p in holds if p.level > ceiling),
        little=max(
            (p for p in by_verdict.get(Verdict.TOO_LITTLE, ()) if p.level < (floor or ceiling)),
            key=_level,
            default=None,
        ),
        edge=_edge(probes, held, failed),
    )


def _edge(probes: Probes, held: Point | None, failed: Point | None) -> str:
    """Why there is nothing beyond the end, a part of a sentence; empty where the end was found."""
    levels = probes.range
    if held is None:
        return levels.why_lowest
    if failed is not None:
        return ""
    highest = max(point.level for point in probes.points)
    return levels.why_highest if highest >= levels.rounded(levels.highest) else _ENDED_BEFORE


def _ending(held: Point | None, failed: Point | None) -> Ending:
    if held is None:
        return Ending.NOTHING_HOLDS
    return Ending.NEVER_REACHED if failed is None else Ending.FOUND


def _at(point: Point | None) -> float | None:
    return None if point is None else point.level


def _level(point: Point) -> float:
    return point.level
