"""What a search looks for, as an order of rows in which near equals are equal."""

from collections.abc import Callable, Iterable
from math import inf
from typing import Final

from vramledger.errors import UnknownName
from vramledger.frozen import frozen
from vramledger.methods.sweep.prices import UNPRICED, Prices
from vramledger.methods.sweep.row import Row, Verdict

TOLERANCE: Final = (
    0.01  # of a goodput: closer ones are equal, which is finer than a simulation is right
)
KNEE_TOLERANCE: Final = 0.04  # of a highest load, which is searched to 0.02 on either side

_VERDICTS: Final = {Verdict.PASS: 0, Verdict.INCONCLUSIVE: 1, Verdict.FAIL: 2}
_NOT_SIMULATED: Final = 3


@frozen
class Worth:
    """What a row is worth: `first` is compared to the last digit, then `value` (more is better) to `tolerance`."""

    first: tuple[float, ...]
    value: float
    tolerance: float = TOLERANCE


@frozen
class Objective:
    """A name, what it says in words, and what it makes of a row whose price is known, or infinite.

    With `fewest`, more GPUs than keep the contract are worth nothing.
    """

    name: str
    words: str
    worth: Callable[[Row, float], Worth]
    fewest: bool


def _fewest_gpus(row: Row, cost: float) -> Worth:
    standing = _standing(row)
    if standing >= _VERDICTS[Verdict.FAIL]:  # what it costs says nothing of what does not hold
        return Worth((standing,), _figure(row, "goodput_per_hour"))
    first = (standing, cost, _gpus(row))
    most = row.columns.get("knee_per_s") or row.columns.get("knee_level")
    if most is not None:  # rows without come behind: a load and a goodput are not compared
        return Worth((*first, 0.0), most, KNEE_TOLERANCE)
    return Worth((*first, 1.0), _figure(row, "goodput_per_hour"))


def _most_per_gpu(row: Row, _cost: float) -> Worth:
    return Worth((0.0 if row.simulated else 1.0,), _figure(row, "goodput_per_gpu_hour"))


OBJECTIVES: Final = {
    each.name: each
    for each in (
        Objective(
            "gpus",
            "the fewest GPUs that keep the contract, the cheapest where prices are known; of equal ones the highest "
            "load where that was searched, else the most goodput",
            _fewest_gpus,
            fewest=True,
        ),
        Objective(
            "goodput-per-gpu",
            "the most goodput per GPU, whether or not the contract's percentiles hold",
            _most_per_gpu,
            fewest=False,
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


def ranked(
    rows: Iterable[Row], objective: Objective, prices: Prices = UNPRICED
) -> tuple[tuple[Row, ...], ...]:
    """The rows in classes of equals, best first; in a class by price, GPUs, then the fewest changes.

    A class is what lies within the tolerance of its best.
    """
    judged = [(objective.worth(row, _cost(row, prices)), row) for row in rows]
    judged.sort(key=lambda one: (one[0].first, -one[0].value, one[1].point.text))
    classes: list[list[Row]] = []
    leader: Worth | None = None
    for worth, row in judged:
        if leader is not None and _equal(worth, leader):
            classes[-1].append(row)
        else:
            classes.append([row])
            leader = worth
    return tuple(tuple(sorted(one, key=lambda row: _plainness(row, prices))) for one in classes)


def better(row: Row, other: Row, objective: Objective, prices: Prices = UNPRICED) -> bool:
    """Whether a row is more than equal to another."""
    one, two = (objective.worth(each, _cost(each, prices)) for each in (row, other))
    if one.first != two.first:
        return one.first < two.first
    return one.value > two.value * (1 + two.tolerance)


def _equal(worth: Worth, leader: Worth) -> bool:
    return worth.first == leader.first and worth.value >= leader.value * (1 - leader.tolerance)


def _plainness(row: Row, prices: Prices) -> tuple[float | str, ...]:
    return (_cost(row, prices), _gpus(row), len(row.point.changes), row.point.text)


def _cost(row: Row, prices: Prices) -> float:
    found = prices.of(row)
    return inf if found is None else found


def _standing(row: Row) -> int:
    if not row.simulated or row.verdict is None:
        return _NOT_SIMULATED
    return _VERDICTS[row.verdict]


def _gpus(row: Row) -> float:
    return float(row.columns.get("gpus") or inf)


def _figure(row: Row, name: str) -> float:
    return float(row.figure(name) or 0.0)
