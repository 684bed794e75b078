"""An effect: B less A of one figure, with its interval, over all runs of two sides.

One run a side has the error of its own requests. With several, each run (or each pair of runs) gives one value, and what the values
scatter by holds the scatter within runs and that between them (`methods.repeated.between`): Student's t over pairs, W. S. Gosset's
over both sides where runs are not in pairs; of a side with one run the scatter is taken to be that of the other.
"""

from collections.abc import Sequence
from enum import StrEnum
from math import expm1, inf, isfinite, sqrt
from typing import Final

from vramledger.compare.figures import Figure, paired, unpaired
from vramledger.compare.matching import Pairs
from vramledger.compare.records import Records
from vramledger.compare.side import Side
from vramledger.compare.statistic import Contrast
from vramledger.frozen import frozen

LEVEL: Final = 0.95


class Way(StrEnum):
    """How an effect was found."""

    PAIRED = "paired"
    UNPAIRED = "unpaired"


@frozen
class Effect:
    """`a` and `b` in the figure's unit; `value`, `error` and `freedom` on the scale of the error.

    `relative` is B over A less 1, None for a share, for which `difference` is compared; `low` to `high` is about the one that is
    compared, at `LEVEL`. `runs` counts the values that the error is found of, 1 where it is that of one run's requests; `within` is
    the error of a run by itself and `between` what runs differ by beyond it. `p` is two-sided, None where nothing can be said.
    """

    way: Way
    a: float
    b: float
    difference: float
    relative: float | None
    low: float
    high: float
    value: float
    error: float | None
    freedom: float
    p: float | None
    counted: int
    runs: int
    within: float | None = None
    between: float | None = None
    reason: str = ""


@frozen
class _Scatter:
    error: float | None
    freedom: float
    within: float | None = None
    between: float | None = None


def paired_effect(
    figure: Figure, pairs: Sequence[Pairs], among: Sequence[object] | None = None
) -> Effect | None:
    """Over the pairs of each pair of runs; None where any has none. `among` picks pairs of each."""
    chosen = [None] * len(pairs) if among is None else list(among)
    found = [paired(figure, one, kept) for one, kept in zip(pairs, chosen, strict=True)]  # type: ignore[arg-type]
    return _of_pairs(figure, found, Way.PAIRED)


def unpaired_effect(figure: Figure, a: Side, b: Side) -> Effect | None:
    """Over the runs of both sides."""
    return unpaired_effect_of(figure, *([one.records for one in side.runs] for side in (a, b)))


def unpaired_effect_of(figure: Figure, a: Sequence[Records], b: Sequence[Records]) -> Effect | None:
    """Over the records of runs; None where any does not have the figure."""
    if len(a) == len(b) == 1:
        return _of_pairs(figure, [unpaired(figure, a[0], b[0])], Way.UNPAIRED)
    ours = [unpaired(figure, each, b[0]) for each in a]
    others = [unpaired(figure, a[0], each) for each in b]
    told_a = [each for each in ours if each is not None]
    told_b = [each for each in others if each is not None]
    if len(told_a) < len(a) or len(told_b) < len(b):
        return None
    return _of_runs(figure, told_a, told_b)


def _of_pairs(figure: Figure, found: Sequence[Contrast | None], way: Way) -> Effect | None:
    told = [each for each in found if each is not None]
    if len(told) < len(found) or not told:
        return None
    a, b = (sum(values) / len(told) for values in ([t.a for t in told], [t.b for t in told]))
    value = sum(each.value for each in told) / len(told)
    reason = next((each.reason for each in told if each.error is None), "")
    if len(told) == 1:
        scatter = _Scatter(told[0].error, told[0].freedom)
    else:
        scatter, reason = _between(told), ""
    return _effect(figure, way, a, b, value, scatter, sum(t.counted for t in told), len(told), reason)  # fmt: skip


def _between(told: Sequence[Contrast]) -> _Scatter:
    from vramledger.methods.repeated.between import of_runs

    errors = [each.error for each in told]
    known = [each for each in errors if each is not None]
    found = of_runs([each.value for each in told], known if len(known) == len(errors) else None)
    spread = found.spread or 0.0
    return _Scatter(spread / sqrt(len(told)), len(told) - 1, found.within, found.between)


def _of_runs(figure: Figure, a: Sequence[Contrast], b: Sequence[Contrast]) -> Effect:
    """`a` has each run of A with the first of B, `b` the first of A with each run of B."""
    from math import log

    ours = [each.a if figure.is_share else log(each.a) for each in a]
    others = [each.b if figure.is_share else log(each.b) for each in b]
    value = sum(others) / len(others) - sum(ours) / len(ours)
    scatter = _two_sided(ours, others)
    mean_a, mean_b = sum(each.a for each in a) / len(a), sum(each.b for each in b) / len(b)
    counted = min(sum(each.counted for each in side) for side in (a, b))
    return _effect(figure, Way.UNPAIRED, mean_a, mean_b, value, scatter, counted, min(len(a), len(b)), "")  # fmt: skip


def _two_sided(ours: list[float], others: list[float]) -> _Scatter:
    squares = [_squares(each) for each in (ours, others)]
    if min(len(ours), len(others)) == 1:
        freedom = len(ours) + len(others) - 2
        variance = sum(squares) / freedom
        return _Scatter(sqrt(variance * (1 / len(ours) + 1 / len(others))), freedom)
    parts = [
        square / (len(each) - 1) / len(each)
        for square, each in zip(squares, (ours, others), strict=True)
    ]
    whole = sum(parts)
    under = sum(part**2 / (len(each) - 1) for part, each in zip(parts, (ours, others), strict=True))
    return _Scatter(sqrt(whole), whole**2 / under if under > 0 else inf)


def _squares(values: list[float]) -> float:
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values)


def _effect(
    figure: Figure,
    way: Way,
    a: float,
    b: float,
    value: float,
    scatter: _Scatter,
    counted: int,
    runs: int,
    reason: str,
) -> Effect:
    error = scatter.error
    reach = inf if error is None else _t(scatter.freedom) * error
    low, high = value - reach, value + reach
    relative = None if figure.is_share else _grown(value)
    if not figure.is_share:
        low, high = _grown(low), _grown(high)
    return Effect(
        way, a, b, b - a, relative, low, high, value, error, scatter.freedom, _p(value, scatter), counted, runs,
        scatter.within, scatter.between, reason,
    )  # fmt: skip


def _grown(value: float) -> float:
    return expm1(value) if value < 700 else inf


def _p(value: float, scatter: _Scatter) -> float | None:
    from scipy.special import stdtr

    if scatter.error is None:
        return None
    if scatter.error == 0:
        return 1.0 if value == 0 else 0.0
    return float(2 * stdtr(scatter.freedom if isfinite(scatter.freedom) else 1e9, -abs(value) / scatter.error))  # fmt: skip


def _t(freedom: float) -> float:
    from scipy.special import stdtrit

    if freedom < 1:
        return inf
    return float(stdtrit(freedom if isfinite(freedom) else 1e9, (1 + LEVEL) / 2))
