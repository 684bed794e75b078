"""The finding of a search: the highest load that holds, what breaks above it, the load to decide by."""

from collections.abc import Iterator
from typing import Final

from vramledger.methods.knee.search import Ending, Limit
from vramledger.methods.knee.sequential import LEAD, MOST, SELDOM, wrong_at_most
from vramledger.methods.simulated.knee import Finding, Side, SimulatedKnee
from vramledger.methods.subject import Axis, Goal
from vramledger.report.knee_words import broken, level
from vramledger.report.number import share

_STOPPED: Final = "The search was stopped before its end."
LIMITS_HEAD: Final = ("goal", "step times", "holds up to", "fails from", "what breaks there")


def finding(found: SimulatedKnee, side: Side) -> str:
    """In a few sentences."""
    return " ".join(_SAID[side.finding](found, side))


def _holds(found: SimulatedKnee, side: Side) -> Iterator[str]:
    assert side.knee is not None  # noqa: S101 - it is finished
    contract, axis = side.knee.contract, found.axis
    if side.slow is None or side.slow.limits is None:
        yield f"{_contract(found)} holds {_up_to(contract, axis)}{_above(contract)}."
    else:
        slow = side.slow.limits.contract
        yield (
            f"{_contract(found)} holds {_up_to(slow, axis)} if steps are as slow as their band allows "
            f"({factor_said(found, side)}), and {_up_to(contract, axis)} at the expected step times"
            f"{_above(slow)}."
        )
    yield _decision(side, axis)


def _at_less_load(found: SimulatedKnee, side: Side) -> Iterator[str]:
    yield f"The load that was asked for, {asked(found, side)}, does not keep {_contract(found).lower()}."
    yield from _holds(found, side)


def _uncertain_there(found: SimulatedKnee, side: Side) -> Iterator[str]:
    yield (
        f"Whether the load that was asked for, {asked(found, side)}, keeps {_contract(found).lower()} is not known "
        "for certain."
    )
    yield from _holds(found, side)


def asked(found: SimulatedKnee, side: Side) -> str:
    """``x1``, or ``24 in flight``."""
    return f"x{side.asked:g}" if found.axis is Axis.RATE else f"{side.asked:,.0f} in flight"


def _not_at_the_slow_end(found: SimulatedKnee, side: Side) -> Iterator[str]:
    assert side.knee is not None  # noqa: S101 - it is finished
    yield (
        f"{_contract(found)} holds {_up_to(side.knee.contract, found.axis)} at the expected step times, and "
        f"at no load if steps are as slow as their band allows ({factor_said(found, side)}): whether it can be "
        "kept is not known."
    )


def _does_not_hold(found: SimulatedKnee, side: Side) -> Iterator[str]:
    assert side.knee is not None  # noqa: S101 - it is finished
    yield f"No load keeps {_contract(found).lower()}{_above(side.knee.contract)}."


def _uncertain(found: SimulatedKnee, _side: Side) -> Iterator[str]:
    yield (
        f"No load keeps {_contract(found).lower()} for certain, and not every load breaks it: the draws differ "
        "too much to tell."
    )


def _stopped(_found: SimulatedKnee, _side: Side) -> Iterator[str]:
    yield _STOPPED


_SAID: Final = {
    Finding.HOLDS: _holds,
    Finding.AT_LESS_LOAD: _at_less_load,
    Finding.UNCERTAIN_THERE: _uncertain_there,
    Finding.NOT_AT_THE_SLOW_END: _not_at_the_slow_end,
    Finding.DOES_NOT_HOLD: _does_not_hold,
    Finding.UNCERTAIN: _uncertain,
    Finding.STOPPED: _stopped,
}


def _contract(found: SimulatedKnee) -> str:
    return "The contract" if found.stated else "What stands for a contract"


def _up_to(limit: Limit, axis: Axis) -> str:
    if limit.held is None:
        return "at no load"
    end = ", the highest that was tried" if limit.ending is Ending.NEVER_REACHED else ""
    return f"up to {level(limit.held, axis)}{end}"


def _above(limit: Limit) -> str:
    """What breaks at the lowest load that fails."""
    lines = broken(limit)
    if not lines:
        return ""
    where = "even at the lowest that was tried" if limit.held is None else "above that"
    return f"; what breaks {where}: {', '.join(lines)}"


def _decision(side: Side, axis: Axis) -> str:
    limit = side.decision
    if limit is None or limit.held is None:
        return (
            "No load is safe to decide by: none keeps the contract with the headroom at that end."
        )
    return f"The safe load to decide by, headroom kept at that end: {level(limit.held, axis)}."


def factor_said(found: SimulatedKnee, side: Side) -> str:
    """``every step x1.32, assumed``."""
    factor = 1.0 if side.slow is None else side.slow.factor
    return f"every step x{factor:.2f}, {found.basis}"


def limit_rows(found: SimulatedKnee, side: Side) -> list[tuple[str, ...]]:
    """A row for each goal at each end of the step times; columns as `LIMITS_HEAD`."""
    searches = [] if side.knee is None else [("expected", side.knee.contract, side.knee.safe)]
    if side.slow is not None and side.slow.limits is not None:
        limits = side.slow.limits
        searches.append((f"slow end ({factor_said(found, side)})", limits.contract, limits.safe))
    return [_row(limit, times, found.axis) for times, *limits in searches for limit in limits]


def _row(limit: Limit, times: str, axis: Axis) -> tuple[str, ...]:
    goal = {Goal.CONTRACT: "contract", Goal.SAFE: "safe load"}[limit.goal]
    ends = ("-" if point is None else level(point, axis) for point in (limit.held, limit.failed))
    return (goal, times, *ends, ", ".join(broken(limit)) or "-")


def method(found: SimulatedKnee) -> str:
    """How sure a verdict is."""
    side = found.main
    if not side.drawn:
        return (
            "Nothing in these loads is random: the requests come as they are recorded, so that a load is played "
            f"once. {_steps(side)}"
        )
    return (
        f"The seed draws {', '.join(side.drawn)}. A load holds clearly when {LEAD} more of its draws held than "
        "failed, fails clearly in the reverse case, and is uncertain when that cannot come about within "
        f"{MOST} draws. One at which {share(SELDOM)} of all draws hold, or fewer, is said to hold "
        f"with a probability of {share(wrong_at_most(SELDOM))} at most; likewise for failing. {_steps(side)} "
        "A row of the table has the figures of its first draw."
    )


def _steps(side: Side) -> str:
    """What of the error of the step times is in the answer."""
    if side.slow is None:
        return "This does not cover the error of the step times."
    return "The error of the step times is not in this: the slow end of their band is."
