"""The loads of a ramp, as ramp.json keeps them, read back as what the search had."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from math import inf
from typing import Any

from vramledger.methods.knee.probes import Point
from vramledger.methods.measured.observed import NO_PREEMPTION
from vramledger.methods.subject import Axis, Check, Figures, Goal, Observation, Verdict
from vramledger.simulate.judged import Amount


def points_of(told: Mapping[str, Any], axis: Axis) -> tuple[Point, ...]:
    """Every level that was played, rising; `told` is a ramp's result.

    Raises:
        KeyError, TypeError, ValueError: it is not as it was written.
    """
    contract = frozenset(map(str, told["contract"]))
    found = (_point(each, axis, contract) for each in told["points"])
    return tuple(sorted(found, key=lambda point: point.level))


def _point(told: Mapping[str, Any], axis: Axis, contract: frozenset[str]) -> Point:
    level = float(told[axis])
    seen = Figures(**{each.name: _number(told[each.name]) for each in fields(Figures)})
    checks = tuple(map(_check, told["checks"]))
    first, *others = told["draws"]
    plays = [_first(level, first, checks, contract, seen)]
    plays += [_other(level, each, checks, contract, seen) for each in others]
    return Point(level, tuple(plays), repeats=len(plays) > 1)


def _first(
    level: float, draw: Mapping[str, Any], checks: Sequence[Check], contract: frozenset[str], seen: Figures
) -> Observation:  # fmt: skip
    little = draw[Goal.CONTRACT] == Verdict.TOO_LITTLE
    return _observed(level, draw, [_as(check, holds=check.holds, little=little) for check in checks], contract, seen)  # fmt: skip


def _other(
    level: float, draw: Mapping[str, Any], checks: Sequence[Check], contract: frozenset[str], seen: Figures
) -> Observation:  # fmt: skip
    """Of a draw that is not the first only what broke is kept."""
    little, broke = draw[Goal.CONTRACT] == Verdict.TOO_LITTLE, frozenset(draw["broke"])
    kept = [_as(check, holds=check.asked not in broke, little=little) for check in checks]
    return _observed(level, draw, kept, contract, seen)


def _observed(
    level: float, draw: Mapping[str, Any], checks: Sequence[Check], contract: frozenset[str], seen: Figures
) -> Observation:  # fmt: skip
    return Observation(
        level,
        int(draw["seed"]),
        tuple(check for check in checks if check.asked in contract),
        tuple(check for check in checks if check.asked not in contract),
        seen,
        0.0,
    )


def _as(check: Check, *, holds: bool | None, little: bool) -> Check:
    return Check(check.asked, check.found, holds, little and holds is False, check.amount)


def _check(told: Mapping[str, Any]) -> Check:
    asked, value, threshold = str(told["asked"]), _number(told["value"]), _number(told["threshold"])
    amount = None
    if value is not None and threshold is not None:
        amount = Amount(_name(asked), value, threshold)
    return Check(asked, str(told["found"]), told["holds"], amount=amount)


def _name(asked: str) -> str:
    """What a line's number is of, by its words."""
    if asked == NO_PREEMPTION:
        return "preemptions"
    return "kv_p99" if asked.startswith("KV use") else asked.split(" ", 1)[0]


def _number(value: Any) -> Any:
    """A number, infinite where "inf" is told; None where it is not known."""
    if value is None:
        return None
    return inf if value == "inf" else float(value)
