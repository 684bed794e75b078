"""Where the goals of a search end, in sentences."""

from typing import Final

from vramledger.methods.knee.curve import CurveKnee
from vramledger.methods.knee.probes import Point
from vramledger.methods.knee.search import Ending, Limit
from vramledger.methods.subject import Axis, Goal
from vramledger.report.number import rate

_GOALS: Final = {Goal.CONTRACT: "The contract", Goal.SAFE: "The safe load"}
_SAFE_TOO: Final = {
    Ending.FOUND: "The safe load ends there, too: the contract breaks before the headroom is used.",
    Ending.NEVER_REACHED: "The end of the safe load was not reached either.",
    Ending.NOTHING_HOLDS: "So no load is safe.",
}
_KEPT: Final = {Goal.CONTRACT: "No load keeps the contract", Goal.SAFE: "No load is safe"}


def level(point: Point, axis: Axis) -> str:
    """``15.6/s (x2.826)``, or ``24 in flight``."""
    if axis is Axis.CONCURRENCY:
        return f"{point.level:,.0f} in flight"
    per_s = point.first.figures.offered_per_s
    return f"x{point.level:g}" if per_s is None else f"{rate(per_s)} (x{point.level:g})"


def both(contract: Limit, safe: Limit, axis: Axis) -> list[str]:
    """Where contract and safe load end; in a word where that is the same for the same reason."""
    said = sentences(contract, axis)
    if _ends(contract) == _ends(safe):
        return [*said, _SAFE_TOO[safe.ending]]
    return [*said, *sentences(safe, axis)]


def _ends(limit: Limit) -> tuple[Ending, tuple[float | None, ...], tuple[str, ...]]:
    """How and where it ends, and what breaks."""
    levels = tuple(None if point is None else point.level for point in (limit.held, limit.failed))
    return limit.ending, levels, broken(limit)


def broken(limit: Limit) -> tuple[str, ...]:
    """The lines that fail in a draw of the lowest load that fails."""
    if limit.failed is None:
        return ()
    return tuple(check.asked for check in limit.failed.example(limit.goal).failed(limit.goal))


def sentences(limit: Limit, axis: Axis) -> list[str]:
    """Where a goal ends, and what is odd about it."""
    said = [_ENDINGS[limit.ending](limit, axis)]
    if limit.uncertain:
        levels = ", ".join(level(point, axis) for point in limit.uncertain)
        said.append(f"{_where(limit)} it holds about as often as it fails: {levels}.")
    if limit.little is not None and limit.held is not None:
        lines = ", ".join(
            check.asked for check in limit.little.example(limit.goal).failed(limit.goal)
        )
        said.append(f"At {level(limit.little, axis)} and below too little is offered for {lines}.")
    if limit.again:
        higher = ", ".join(level(point, axis) for point in limit.again)
        said.append(
            f"It holds again at {higher}: it does not simply end at one load, and what is said here is the "
            "lowest end."
        )
    return said


def _where(limit: Limit) -> str:
    """Where the uncertain loads lie."""
    if limit.held is not None and limit.failed is not None:
        return "Between them"
    if limit.held is not None:
        return "Above that"
    return "At these loads" if limit.failed is None else "Below that"


def knee_sentence(knee: CurveKnee | None, axis: Axis) -> str:
    """Where the curve bends."""
    if knee is None:
        return "Nothing is answered at any load, so the curve has no knee."
    at = level(knee.point, axis)
    if knee.below is None or knee.above is None:
        edge = "lowest" if knee.below is None else "highest"
        return f"The curve has no knee within the loads that were tried: {at}, the {edge}, has the most power."
    return (
        f"The knee of the curve is at {at}, between {level(knee.below, axis)} and {level(knee.above, axis)}: "
        "beyond it time grows by a larger share than the load."
    )


def _found(limit: Limit, axis: Axis) -> str:
    return (
        f"{_GOALS[limit.goal]} holds up to {_there(limit.held, axis)}, and no more from "
        f"{_level_of(limit.failed, axis)} on, where {_failing(limit.failed, limit.goal)}."
    )


def _never_reached(limit: Limit, axis: Axis) -> str:
    return (
        f"{_GOALS[limit.goal]} holds at the highest load that was tried, {_there(limit.held, axis)}; its "
        f"end was not reached, because {limit.edge}."
    )


def _nothing_holds(limit: Limit, axis: Axis) -> str:
    said = _KEPT[limit.goal]
    if limit.little is None and limit.failed is not None and not limit.uncertain:
        at = level(limit.failed, axis)
        return (
            f"{said}: even at {at}, the lowest that was tried, {_failing(limit.failed, limit.goal)} "
            f"({limit.edge})."
        )
    tried = [
        f"at {level(point, axis)} {_failing(point, limit.goal)}"
        for point in (limit.little, limit.failed)
        if point is not None
    ]
    certain = " for certain" if limit.uncertain else ""
    return f"{said}{certain}: {', and '.join(tried)}." if tried else f"{said} for certain."


def _there(point: Point | None, axis: Axis) -> str:
    """The level with what is in the system there."""
    if point is None:
        return "-"
    seen = point.first.figures
    if axis is Axis.CONCURRENCY:
        return f"{level(point, axis)}, which answers {rate(seen.answered_per_s)}"
    if seen.in_system_mean is None or seen.in_system_p99 is None:
        return level(point, axis)
    return (
        f"{level(point, axis)}, with {seen.in_system_mean:,.0f} requests in the system (p99 "
        f"{seen.in_system_p99:,.0f})"
    )


def _level_of(point: Point | None, axis: Axis) -> str:
    return "-" if point is None else level(point, axis)


def _failing(point: Point | None, goal: Goal) -> str:
    """The lines that fail in one of the draws, which is named where the table shows another."""
    if point is None:
        return "-"
    example = point.example(goal)
    said = ", ".join(f"{check.asked} finds {check.found}" for check in example.failed(goal))
    return said if example.seed == point.first.seed else f"{said} (seed {example.seed})"


_ENDINGS: Final = {
    Ending.FOUND: _found,
    Ending.NEVER_REACHED: _never_reached,
    Ending.NOTHING_HOLDS: _nothing_holds,
}
