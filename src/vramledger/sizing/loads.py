"""Loads as they are stated, as requests in flight at the peak."""

from collections.abc import Callable, Mapping
from math import ceil
from typing import Final

from vramledger.evidence import Figure
from vramledger.plan.requirement import Kind, Load, LoadUnit, Scenario
from vramledger.sizing.need import Need
from vramledger.sizing.peaks import one_request
from vramledger.sizing.people import FACTORS, PEAK_SHARE, poisson_quantile, traffic


def need_of(scenario: Scenario) -> Need:
    """The scenario's lengths with the requests it has in flight at its peak.

    Work of kind throughput waits in a queue, so that memory must hold what runs at once only where
    that is stated; how long the work takes is a question of speed.
    """
    load, output = scenario.load, scenario.lengths.mean_output
    waits = scenario.kind is Kind.THROUGHPUT and load.unit is not LoadUnit.CONCURRENT
    return Need(
        name=scenario.name,
        kind=scenario.kind,
        lengths=scenario.lengths,
        concurrent=one_request(load.basis) if waits else in_flight_peak(load, output),
        mean=None if waits else in_flight_mean(load, output),
        headroom=scenario.headroom,
        hours=scenario.hours,
        traffic=load.source,
    )


def in_flight_peak(load: Load, mean_output: float) -> Figure:
    """Requests in flight at the peak: as stated, by Little's law from a rate, or from people."""
    return _PEAKS[load.unit](load, mean_output)


def in_flight_mean(load: Load, mean_output: float) -> float | None:
    """Requests in flight on average in the busiest minutes; None where the peak itself is stated."""
    if load.unit is LoadUnit.CONCURRENT:
        return None
    if load.unit is LoadUnit.USERS:
        return traffic(ceil(load.amount), mean_output, load.factors).in_flight_mean.value
    if load.seconds_per_request is not None:
        return load.amount * load.seconds_per_request
    return load.amount * _durations(mean_output)[1]


def _concurrent(load: Load, _: float) -> Figure:
    return Figure.sharp(load.amount, load.basis, load.source or "stated")


def _rate(load: Load, mean_output: float) -> Figure:
    """Rate x duration, then the Poisson quantile; without a duration the factors give its band."""
    if load.seconds_per_request is not None:
        mean = load.amount * load.seconds_per_request
        return Figure.sharp(_peak(mean), load.basis, "Poisson quantile of rate x duration")
    low, value, high = (_peak(load.amount * each) for each in _durations(mean_output))
    return Figure(value, low, high, load.basis, "Poisson quantile of rate x assumed duration")


def _durations(mean_output: float) -> tuple[float, float, float]:
    """Seconds a request stays, from the least load to the most."""
    factors = {factor.name: factor for factor in FACTORS}
    first, pace = factors["first-token-seconds"], factors["tokens-per-second"]
    return (
        first.low + mean_output / pace.low,
        first.expected + mean_output / pace.expected,
        first.high + mean_output / pace.high,
    )


def _peak(mean: float) -> float:
    return float(max(1, poisson_quantile(mean, PEAK_SHARE)))


def _users(load: Load, mean_output: float) -> Figure:
    return traffic(ceil(load.amount), mean_output, load.factors).in_flight_peak


_PEAKS: Final[Mapping[LoadUnit, Callable[[Load, float], Figure]]] = {
    LoadUnit.CONCURRENT: _concurrent,
    LoadUnit.REQUESTS_PER_S: _rate,
    LoadUnit.USERS: _users,
}


def load_notes(scenario: Scenario) -> tuple[str, ...]:
    """How the load became requests in flight, in words."""
    need, lengths = need_of(scenario), scenario.lengths
    said = (
        f"{scenario.name}: {_count(need.concurrent)} in flight at the peak; input "
        f"{lengths.input_at(0.5):,} tokens at the median and {lengths.input_at(0.95):,} at p95, "
        f"output {lengths.output_at(0.5):,} and {lengths.output_at(0.95):,} ({lengths.basis})."
    )
    if scenario.kind is Kind.THROUGHPUT:
        return (said, _throughput_note(scenario))
    if scenario.load.unit is not LoadUnit.USERS:
        return (said,)
    result = traffic(ceil(scenario.load.amount), lengths.mean_output, scenario.load.factors)
    factors = ", ".join(_factor_text(f.name, f.low, f.expected, f.high) for f in result.factors)
    people = "person makes" if result.people == 1 else "people make"
    chain = (
        f"{result.people:,} {people} {result.requests_per_s.value:.3g} requests/s of "
        f"{result.seconds_per_request.value:.0f} s in the busiest minutes (assumed: {factors})."
    )
    return (said, chain)


def _throughput_note(scenario: Scenario) -> str:
    return (
        f"{scenario.name} is work that queues until it is done: memory decides how much of it runs "
        "at once, and how long it takes is a question of speed, which was not checked."
    )


def _count(peak: Figure) -> str:
    noun = "request" if peak.value == 1 and peak.is_sharp else "requests"
    band = "" if peak.is_sharp else f" ({peak.low:,.0f}..{peak.high:,.0f})"
    return f"{peak.value:,.0f}{band} {noun}"


def _factor_text(name: str, low: float, expected: float, high: float) -> str:
    if low == expected == high:
        return f"{name} {expected:g}"
    return f"{name} {expected:g} ({low:g}..{high:g})"
