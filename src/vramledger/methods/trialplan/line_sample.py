"""The requests behind each line of a contract, of a simulated run or a measured one: which of them keep its limit."""

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vramledger.frozen import frozen
from vramledger.plan.requirement import Contract, LatencyLimit
from vramledger.simulate.judged import Served, counted_for_success, line_words, seen_of
from vramledger.statistics.correlation import design_effect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vramledger.simulate.output_gaps import Gaps

    Floats = np.ndarray[Any, np.dtype[np.float64]]

_ITL: Final = "itl_s"
_FEW: Final = 10  # on either side of a limit; fewer tell no correlation, and the run's own percentile stands in


@frozen
class LineSample:
    """A line with the figure it turns on.

    `share` is the part that must keep the limit, `counted` the requests (of ITL: the gaps) it is about and `kept` those that keep it, `effect`
    the design effect of their correlation (`correlation`).
    """

    asked: str
    share: float
    counted: float
    kept: float
    effect: float

    @property
    def truth(self) -> float:
        """The part that keeps it; NaN where there is nothing to count."""
        return self.kept / self.counted if self.counted else float("nan")

    @property
    def independent(self) -> float:
        """The independent requests that say as much."""
        return self.counted / self.effect


def lengths_of_gaps(contract: Contract) -> tuple[int, ...]:
    """The most input tokens of the requests that lines of ITL are about, where they are not about all."""
    limits = contract.latency.get(_ITL, ())
    return tuple(limit.input_max for limit in limits if limit.input_max is not None)


def samples_of(
    contract: Contract, served: Served, gaps_up_to: "Mapping[int, Gaps] | None" = None
) -> tuple[LineSample, ...]:
    """Every line that asks for a share of requests, in the contract's order; `served` is in the order of arrival.

    `gaps_up_to` are the gaps of requests with at most so many input tokens. Lines of a latency that the run does not
    have are left out.
    """
    gaps: dict[int | None, Gaps] = {None: served.gaps}
    gaps.update((gaps_up_to or {}).items())
    found = [
        sample
        for name, limits in contract.latency.items()
        for limit in limits
        for share in limit.percentiles
        if (sample := _latency(name, limit, share, served, gaps)) is not None
    ]
    if contract.success is not None:
        ok = served.ok[counted_for_success(contract, served)].astype(np.float64)
        asked = f"success >= {contract.success:.2%}"
        found.append(
            LineSample(asked, contract.success, len(ok), float(ok.sum()), design_effect(ok))
        )
    return tuple(found)


def _latency(
    name: str,
    limit: LatencyLimit,
    share: float,
    served: Served,
    gaps: "Mapping[int | None, Gaps]",
) -> LineSample | None:
    most, asked = limit.percentiles[share], line_words(name, limit, share)
    if name == _ITL:
        told = gaps.get(limit.input_max) if limit.is_by_input else None
        return None if told is None else _sample(asked, share, most, told.seconds, told.events)
    if name not in served.latency:
        return None
    seen = seen_of(name, limit, share, served)
    values = seen[~np.isnan(seen)]
    return _sample(asked, share, most, values, np.ones(len(values)))


def _sample(
    asked: str, share: float, most: float, values: "Floats", events: "Floats"
) -> LineSample:
    kept = (values <= most).astype(np.float64)
    counted, within = float(events.sum()), float((kept * events).sum())
    seen = kept
    if min(within, counted - within) < _FEW and len(values):
        seen = (values <= np.quantile(values, min(share, 1.0), method="inverted_cdf")).astype(
            np.float64
        )
    return LineSample(asked, share, counted, within, design_effect(seen, events))
