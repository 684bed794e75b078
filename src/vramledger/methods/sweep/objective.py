"""What a search looks for, as an order of rows."""

from collections.abc import Callable
from math import inf
from typing import Final

from vramledger.errors import UnknownName
from vramledger.frozen import frozen
from vramledger.methods.sweep.row import Row, Verdict

_VERDICTS: Final = {Verdict.PASS: 0, Verdict.INCONCLUSIVE: 1, Verdict.FAIL: 2}
_NOT_SIMULATED: Final = 3
_DIGITS: Final = 3  # of a goodput: closer ones are equal, and latency decides


@frozen
class Objective:
    """A name, what it says in words, and its order: the smaller, the better."""

    name: str
    words: str
    order: Callable[[Row], tuple[float, ...]]


def _fewest_gpus(row: Row) -> tuple[float, ...]:
    standing = _standing(row)
    if standing >= _VERDICTS[Verdict.FAIL]:  # the number of GPUs says nothing of what does not hold
        return (standing, -_rounded(row, "goodput_per_hour"), _gpus(row), _latency(row))
    return (standing, _gpus(row), -_rounded(row, "goodput_per_hour"), _latency(row))


def _most_per_gpu(row: Row) -> tuple[float, ...]:
    if not row.simulated:
        return (1.0,)
    return (0.0, -_rounded(row, "goodput_per_gpu_hour"), _latency(row))


OBJECTIVES: Final = {
    each.name: each
    for each in (
        Objective(
            "gpus",
            "the fewest GPUs that keep the contract, of equal ones the most goodput, then the lowest E2E p95",
            _fewest_gpus,
        ),
        Objective(
            "goodput-per-gpu",
            "the most goodput per GPU, whether or not the contract's percentiles hold, then the lowest "
            "E2E p95",
            _most_per_gpu,
        ),
    )
}


def objective_of(name: str) -> Objective:
    """The objective of that name.

    Raises:
        UnknownName: there is none.
    """
    if name not in OBJECTIVES:
        raise UnknownName("objective", name, OBJECTIVES, "--objective")
    return OBJECTIVES[name]


def _standing(row: Row) -> int:
    if not row.simulated or row.verdict is None:
        return _NOT_SIMULATED
    return _VERDICTS[row.verdict]


def _gpus(row: Row) -> float:
    return float(row.columns.get("gpus") or inf)


def _rounded(row: Row, name: str) -> float:
    value = row.figure(name)
    return float(f"{value:.{_DIGITS}g}") if value is not None else 0.0


def _latency(row: Row) -> float:
    value = row.figure("e2e_p95_s")
    return inf if value is None else value
