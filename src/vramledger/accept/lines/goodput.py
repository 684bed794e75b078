"""Requests an hour that met every limit, with the interval of their counts over time."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from vramledger.accept.lines.about import REQUESTS, About
from vramledger.accept.settling import longer
from vramledger.accept.verdict import Line, Said, held
from vramledger.frozen import frozen
from vramledger.simulate.judged import good_requests
from vramledger.statistics.estimate import Estimate, rate_of
from vramledger.units import plain

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

_HOUR_S: Final = 3600.0
_MOST_BINS: Final = 100_000
_FEWEST_BINS: Final = 200


@frozen
class Hourly:
    """What ended within an hour."""

    requests: Estimate
    tokens: Estimate


def hourly(about: About, counted: "np.ndarray[Any, Any]") -> Hourly | None:
    """Of the requests marked: how many, and how many output tokens; None where no time passed or none ended."""
    import numpy as np

    offered = about.offered
    span = offered.span_s
    if not span:
        return None
    columns = offered.found.columns
    bins = int(min(max(span, _FEWEST_BINS), _MOST_BINS))
    marked = counted & ~np.isnan(columns["done_s"])
    at = (columns["done_s"][marked] - np.min(columns["due_s"])) / span * bins
    place = np.minimum(at.astype(np.int64), bins - 1)
    hours = np.full(bins, span / bins / _HOUR_S)
    tokens = np.nan_to_num(columns["output_tokens_got"][marked])
    ones = np.ones(len(place))
    ended: Floats = np.bincount(place, ones, bins).astype(np.float64)
    written: Floats = np.bincount(place, tokens, bins).astype(np.float64)
    requests = rate_of(ended, hours, about.level)
    amount = rate_of(written, hours, about.level)
    return None if requests is None or amount is None else Hourly(requests, amount)


def goodput_line(about: About) -> Iterator[Line]:
    """The line, where the contract has one."""
    least = about.scenario.contract.requests_per_hour
    if least is None:
        return
    asked, unit = f"{plain(least)} requests an hour", "requests/h"
    reasons = {each.line: each.why for each in about.offered.told.unjudgeable}
    found = hourly(about, good_requests(about.scenario.contract, about.offered.served))
    if found is None:
        yield Line(asked, Said.INCONCLUSIVE, unit, threshold=least, reason="no time passed in which requests ended", records=(REQUESTS,))  # fmt: skip
        return
    rate = found.requests
    said, why, settles = held(rate.low, rate.high, least, at_least=True), "", ""
    if "requests_per_hour" in reasons:
        said, why = Said.INCONCLUSIVE, reasons["requests_per_hour"]
    elif said is Said.INCONCLUSIVE:
        why = "the limit lies within the interval"
        settles = longer(about.offered.span_s, (rate.high - rate.low) / 2, abs(rate.value - least))
    yield Line(
        asked, said, unit, rate.value, max(rate.low, 0.0), rate.high, least, why, (REQUESTS,), round(rate.counted),
        rate.independent, settles,
    )  # fmt: skip
