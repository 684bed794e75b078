"""Whether a line of a contract could well come out otherwise, by chance alone, in another play of the same load.

A percentile found of n requests is an order statistic: the share below it is binomial (H. A. David and H. N. Nagaraja,
Order Statistics, 3rd edition, 2003, section 7.1). The contract is held against the run once more with each share put to the ends of the interval
that nine of ten such counts lie in; a line whose verdict changes is not sure. Requests are taken as independent, which makes this interval
too narrow rather than too wide.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from vramledger.methods.measured.contract import counted_gaps, held_against, served_of
from vramledger.plan.requirement import Contract, LatencyLimit
from vramledger.trial.conduct.latencies import measured

if TYPE_CHECKING:
    from vramledger.record.run import Run
    from vramledger.simulate.judged import Served

_NINE_OF_TEN: Final = 0.9


def changed_by_chance(run: "Run", contract: Contract, count: int) -> bool:
    """Whether any latency line of the contract, or the share of successes, turns with the ends of its interval."""
    if count < 1 or contract.is_empty:
        return False
    found = served_of(measured(run), counted_gaps(run))
    strict = _verdicts(found, _moved(contract, count, (1 + _NINE_OF_TEN) / 2))
    mild = _verdicts(found, _moved(contract, count, (1 - _NINE_OF_TEN) / 2))
    return any(
        one != other and None not in (one, other) for one, other in zip(strict, mild, strict=True)
    )


def _verdicts(told: "Served", contract: Contract) -> list[bool | None]:
    """Of each line, told with too few requests too."""
    found = []
    for line in held_against(contract, told):
        amount = line.amount
        known = line.holds is not None or amount is None
        found.append(line.holds if known or amount is None else amount.value <= amount.threshold)
    return found


def _moved(contract: Contract, count: int, end: float) -> Contract:
    latency = {
        name: tuple(_limit(each, count, end) for each in limits)
        for name, limits in contract.latency.items()
    }
    least = contract.success
    success = None if least is None else min(_share(least, count, 1 - end), 1.0)
    return replace(contract, latency=latency, success=success, requests_per_hour=None)


def _limit(limit: LatencyLimit, count: int, end: float) -> LatencyLimit:
    shares = {_share(share, count, end): s for share, s in limit.percentiles.items()}
    return replace(limit, percentiles=shares)


def _share(share: float, count: int, end: float) -> float:
    """The share of so many values that lie below the true percentile, at that end of its interval."""
    from scipy import stats

    if not 0 < share < 1:
        return share
    return float(min(max(stats.binom.ppf(end, count, share) / count, 1 / count), 1.0))
