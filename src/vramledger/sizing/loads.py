"""Loads as they are stated, as requests in flight at the peak."""

from collections.abc import Callable, Iterable, Mapping
from math import ceil
from typing import Final

from vramledger.errors import BadInput
from vramledger.evidence import Basis, Figure, weakest
from vramledger.plan.factors import FACTORS, Factor
from vramledger.plan.requirement import Kind, Load, LoadUnit, Scenario
from vramledger.sizing.need import Need
from vramledger.sizing.peaks import one_request
from vramledger.sizing.people import PEAK_SHARE, poisson_quantile, traffic
from vramledger.units import plain

_MOST_IN_FLIGHT: Final = 100_000_000  # of a scenario; a billion people with access are below it
_ELSEWHERE: Final = " on the server that wrote the log"
_OF_DURATION: Final = ("first-token-seconds", "tokens-per-second")


def need_of(scenario: Scenario) -> Need:
    """The scenario's lengths with the requests it has in flight at its peak.

    A stated rate is kept up whatever the kind, by Little's law. Only what people hand in to be done
    by a time of day may pile up: memory must hold one request of it, the least.

    Raises:
        BadInput: more in flight than anything is sized for.
    """
    load, output = scenario.load, scenario.lengths.mean_output
    waits = _waits(scenario)
    concurrent = one_request(load.basis) if waits else in_flight_peak(load, output)
    _refuse_beyond_any_plan(scenario.name, concurrent.value)
    return Need(
        name=scenario.name,
        kind=scenario.kind,
        lengths=scenario.lengths,
        concurrent=concurrent,
        mean=None if waits else in_flight_mean(load, output),
        headroom=scenario.headroom,
        hours=scenario.hours,
        traffic=load.source,
    )


def _refuse_beyond_any_plan(name: str, concurrent: float) -> None:
    if concurrent > _MOST_IN_FLIGHT:
        raise BadInput(
            f"{name}: the load keeps {concurrent:,.0f} requests in flight at the peak, more than the "
            f"{_MOST_IN_FLIGHT:,} that are sized; check its unit (--rate counts requests a second, --concurrent "
            "requests in flight, --users people) and the factors on it."
        )


def _waits(scenario: Scenario) -> bool:
    return (
        scenario.kind is Kind.THROUGHPUT
        and scenario.load.unit is LoadUnit.USERS
        and scenario.contract.done_by is not None
    )


def in_flight_peak(load: Load, mean_output: float) -> Figure:
    """Requests in flight at the peak: as stated, by Little's law from a rate, or from people."""
    return _PEAKS[load.unit](load, mean_output)


def in_flight_mean(load: Load, mean_output: float) -> float | None:
    """Requests in flight on average in the busiest minutes; None where only the peak is known."""
    if load.unit is LoadUnit.CONCURRENT:
        return load.mean
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
        source = "Poisson quantile of rate x duration"
        return Figure.sharp(
            _peak(mean), load.basis, f"{source}{_ELSEWHERE if load.recorded else ''}"
        )
    low, value, high = (_peak(load.amount * each) for each in _durations(mean_output))
    source = "Poisson quantile of rate x assumed duration"
    return Figure(value, low, high, weakest((load.basis, Basis.ASSUMED)), source)


def _durations(mean_output: float) -> tuple[float, float, float]:
    """Seconds a request stays, from the least load to the most."""
    factors = {factor.name: factor for factor in FACTORS}
    first, pace = (factors[name] for name in _OF_DURATION)
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
    chain = () if _waits(scenario) else _CHAINS[scenario.load.unit](scenario)
    queued = (_throughput_note(scenario),) if scenario.kind is Kind.THROUGHPUT else ()
    return (said, *chain, *queued)


def _stated(scenario: Scenario) -> tuple[str, ...]:
    load = scenario.load
    if not load.recorded or load.mean is None:
        return ()
    said = (
        f"{scenario.name}: {plain(load.amount, 3)} is the p99 of the requests in flight, "
        f"{plain(load.mean, 3)} their mean ({load.source}, {load.basis}{_ELSEWHERE}: a faster one has "
        "fewer in flight)."
    )
    return (said,)


def _rate_chain(scenario: Scenario) -> tuple[str, ...]:
    """How a rate became requests in flight."""
    load = scenario.load
    if load.recorded:
        return (_recorded_rate(scenario),)
    if load.seconds_per_request is not None:
        return (
            f"{plain(load.amount)} requests/s of {plain(load.seconds_per_request)} s each, as stated.",
        )
    duration = _assumed_duration(scenario)
    return (f"{plain(load.amount)} requests/s of {duration}.",)


def _recorded_rate(scenario: Scenario) -> str:
    load = scenario.load
    rate = f"{scenario.name}: {plain(load.amount, 3)} requests/s ({load.source}, {load.basis}) of"
    if load.seconds_per_request is None:
        return f"{rate} {_assumed_duration(scenario)}."
    return (
        f"{rate} {plain(load.seconds_per_request, 3)} s each{_ELSEWHERE}; a faster one has fewer in "
        "flight."
    )


def _assumed_duration(scenario: Scenario) -> str:
    """How long requests are taken to stay, and the factors that say so."""
    seconds = _durations(scenario.lengths.mean_output)[1]
    factors = _factors_text(f for f in FACTORS if f.name in _OF_DURATION)
    return f"{seconds:.0f} s each are kept up (assumed: {factors})"


def _people_chain(scenario: Scenario) -> tuple[str, ...]:
    """How people became requests in flight."""
    load = scenario.load
    result = traffic(ceil(load.amount), scenario.lengths.mean_output, load.factors)
    people = "person makes" if result.people == 1 else "people make"
    said = (
        f"{result.people:,} {people} {plain(result.requests_per_s.value, 3)} requests/s of "
        f"{result.seconds_per_request.value:.0f} s in the busiest minutes (assumed: "
        f"{_factors_text(result.factors)})."
    )
    return (said,)


_CHAINS: Final[Mapping[LoadUnit, Callable[[Scenario], tuple[str, ...]]]] = {
    LoadUnit.CONCURRENT: _stated,
    LoadUnit.REQUESTS_PER_S: _rate_chain,
    LoadUnit.USERS: _people_chain,
}


def _throughput_note(scenario: Scenario) -> str:
    if _waits(scenario):
        return (
            f"{scenario.name}: its {plain(scenario.load.amount)} users were ignored, because work that is "
            f"to be done by {scenario.contract.done_by} may wait: memory holds one request at a time, "
            "the least; state concurrent or requests_per_s to hold more."
        )
    return (
        f"{scenario.name} is work that queues until it is done: memory decides how much of it runs "
        "at once, and how long it takes is a question of speed, which was not checked."
    )


def _count(peak: Figure) -> str:
    noun = "request" if peak.value == 1 and peak.is_sharp else "requests"
    band = "" if peak.is_sharp else f" ({peak.low:,.0f}..{peak.high:,.0f})"
    return f"{peak.value:,.0f}{band} {noun}"


def _factors_text(factors: Iterable[Factor]) -> str:
    return ", ".join(_factor_text(f.name, f.low, f.expected, f.high) for f in factors)


def _factor_text(name: str, low: float, expected: float, high: float) -> str:
    if low == expected == high:
        return f"{name} {expected:g}"
    return f"{name} {expected:g} ({low:g}..{high:g})"
