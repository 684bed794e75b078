"""People become requests in flight, by named factors that anyone can change.

People with access, people active in the busy hour, requests an hour and requests in flight are
different figures. The chain from one to the next is Little's law: in flight = rate x duration.
Arrivals of many independent people are close to Poisson, and then the number in flight is Poisson
whatever the durations (the M/G/infinity queue), which gives the peak.
"""

from collections.abc import Mapping
from math import exp
from typing import Final

from vramledger.errors import BadInput
from vramledger.evidence import Basis, Figure
from vramledger.frozen import frozen
from vramledger.plan.factors import Factor, with_changes

_SECONDS_AN_HOUR: Final = 3600.0
PEAK_SHARE: Final = 0.99  # of the busy hour's moments that the peak covers


@frozen
class Traffic:
    """What a number of people makes in the busy hour."""

    people: int
    requests_per_s: Figure  # in the busiest minutes
    seconds_per_request: Figure
    in_flight_mean: Figure
    in_flight_peak: Figure  # whole requests at `PEAK_SHARE` of the moments, at least one
    factors: tuple[Factor, ...]


def traffic(
    people: int, mean_output_tokens: float, changed: Mapping[str, float] | None = None
) -> Traffic:
    """Requests in flight that `people` make. A changed factor has no band: the user said so.

    Raises:
        UnknownName: a factor that is none of ours.
        BadInput: a factor or the number of people out of range.
    """
    if people < 1:
        raise BadInput(f"The number of people is {people}; it must be at least 1.")
    factors = with_changes(changed or {})
    ends = [_chain(people, mean_output_tokens, factors, end) for end in ("low", "expected", "high")]
    return Traffic(
        people=people,
        requests_per_s=_figure([end.rate for end in ends], "people x factors"),
        seconds_per_request=_figure([end.seconds for end in ends], "first token + output / speed"),
        in_flight_mean=_figure([end.mean for end in ends], "Little's law: rate x duration"),
        in_flight_peak=_figure(
            [float(max(1, poisson_quantile(end.mean, PEAK_SHARE))) for end in ends],
            f"Poisson quantile at {PEAK_SHARE:.0%} (M/G/infinity)",
        ),
        factors=factors,
    )


@frozen
class _Chain:
    rate: float
    seconds: float

    @property
    def mean(self) -> float:
        return self.rate * self.seconds


def _chain(people: int, output: float, factors: tuple[Factor, ...], end: str) -> _Chain:
    value = {factor.name: _end(factor, end) for factor in factors}
    rate = people * value["active-share"] * value["requests-per-hour"] * value["peak-factor"]
    seconds = value["first-token-seconds"] + output / value["tokens-per-second"]
    return _Chain(rate / _SECONDS_AN_HOUR, seconds)


def _end(factor: Factor, end: str) -> float:
    return {"low": factor.low, "expected": factor.expected, "high": factor.high}[end]


def _figure(ends: list[float], source: str) -> Figure:
    low, value, high = ends
    return Figure(value, low, high, Basis.ASSUMED, source)


def poisson_quantile(mean: float, share: float) -> int:
    """The smallest count that a Poisson variable of this mean stays within with that probability.

    Above a mean of 500 the normal approximation with continuity correction is used, whose error is
    below one count at the shares used here.
    """
    if mean <= 0:
        return 0
    if mean > 500:  # exp(-mean) would lose its digits
        from statistics import NormalDist

        return int(mean + NormalDist().inv_cdf(share) * mean**0.5 + 0.5)
    term = exp(-mean)
    cumulative = term
    count = 0
    while cumulative < share:
        count += 1
        term *= mean / count
        cumulative += term
    return count
