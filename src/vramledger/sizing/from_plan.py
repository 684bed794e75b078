"""A plan's requirement, or people and a profile, as a sizing question."""

from collections.abc import Mapping
from math import ceil
from typing import Final

from vramledger.engine.launch import Flag
from vramledger.errors import BadInput, CannotKnow
from vramledger.evidence import Figure
from vramledger.hardware.catalogue import accelerators
from vramledger.model.load import load_model
from vramledger.model.model import Model
from vramledger.plan.requirement import Load, LoadUnit, Requirement, Scenario
from vramledger.sizing.candidate import Precision
from vramledger.sizing.need import Need
from vramledger.sizing.people import FACTORS, poisson_quantile, traffic
from vramledger.sizing.question import Question
from vramledger.units import round_up

_LENGTH_STEP: Final = 1024  # limits are rounded up to whole KiB of tokens
_PEAK_SHARE: Final = 0.99


def question_of(requirement: Requirement) -> Question:
    """The question a plan asks.

    Raises:
        CannotKnow: an engine that is not supported yet.
        BadInput: a request longer than the model allows, or a load that cannot be read.
    """
    engine = requirement.engine
    if engine.name != "vllm":
        raise CannotKnow(
            f"{requirement.source}: candidates are made for vllm so far, not for {engine.name}; its "
            "memory rules are not known here."
        )
    model = load_model(requirement.model)
    extra = tuple(Flag(name, value, f"--{name}") for name, value in engine.args.items())
    return Question(
        model_name=requirement.model,
        model=model,
        needs=tuple(need_of(scenario) for scenario in requirement.scenarios),
        accelerators=requirement.accelerators or accelerators(),
        max_model_len=limit_for(requirement.longest, model, requirement.source),
        precisions=tuple(
            Precision(weights, kv)
            for weights in requirement.weights
            for kv in requirement.kv_dtypes
        ),
        engine_version=engine.version,
        extra_flags=extra,
        prices=requirement.prices,
        notes=(*requirement.notes, *(n for s in requirement.scenarios for n in load_notes(s))),
    )


def need_of(scenario: Scenario) -> Need:
    """The scenario's lengths with the requests it has in flight at its peak."""
    return Need(
        name=scenario.name,
        kind=scenario.kind,
        lengths=scenario.lengths,
        concurrent=in_flight_peak(scenario.load, scenario.lengths.mean_output),
        headroom=scenario.headroom,
    )


def in_flight_peak(load: Load, mean_output: float) -> Figure:
    """Requests in flight at the peak: as stated, by Little's law from a rate, or from people."""
    return _PEAKS[load.unit](load, mean_output)


def _concurrent(load: Load, _: float) -> Figure:
    return Figure.sharp(load.amount, load.basis, load.source or "stated")


def _rate(load: Load, mean_output: float) -> Figure:
    """Rate x duration, then the Poisson quantile; without a duration the factors give its band."""
    if load.seconds_per_request is not None:
        mean = load.amount * load.seconds_per_request
        peak = float(poisson_quantile(mean, _PEAK_SHARE))
        return Figure.sharp(peak, load.basis, "Poisson quantile of rate x duration")
    factors = {factor.name: factor for factor in FACTORS}
    first, speed = factors["first-token-seconds"], factors["tokens-per-second"]
    ends = [
        float(poisson_quantile(load.amount * (wait + mean_output / pace), _PEAK_SHARE))
        for wait, pace in (
            (first.low, speed.low),
            (first.expected, speed.expected),
            (first.high, speed.high),
        )
    ]
    low, value, high = ends
    return Figure(value, low, high, load.basis, "Poisson quantile of rate x assumed duration")


def _users(load: Load, mean_output: float) -> Figure:
    return traffic(ceil(load.amount), mean_output, load.factors).in_flight_peak


_PEAKS: Final = {
    LoadUnit.CONCURRENT: _concurrent,
    LoadUnit.REQUESTS_PER_S: _rate,
    LoadUnit.USERS: _users,
}


def load_notes(scenario: Scenario) -> tuple[str, ...]:
    """How the load became requests in flight, in words."""
    peak = in_flight_peak(scenario.load, scenario.lengths.mean_output)
    count = f"{peak.value:,.0f}"
    if not peak.is_sharp:
        count += f" ({peak.low:,.0f}..{peak.high:,.0f})"
    lengths = scenario.lengths
    said = (
        f"{scenario.name}: {count} requests in flight at the peak; input "
        f"{lengths.input_at(0.5):,} tokens at the median and {lengths.input_at(0.95):,} at p95, "
        f"output {lengths.output_at(0.5):,} and {lengths.output_at(0.95):,} ({lengths.basis})."
    )
    if scenario.load.unit is not LoadUnit.USERS:
        return (said,)
    result = traffic(ceil(scenario.load.amount), lengths.mean_output, scenario.load.factors)
    factors = ", ".join(_factor_text(f.name, f.low, f.expected, f.high) for f in result.factors)
    chain = (
        f"{result.people:,} people make {result.requests_per_s.value:.2f} requests/s of "
        f"{result.seconds_per_request.value:.0f} s in the busiest minutes (assumed: {factors})."
    )
    return (said, chain)


def _factor_text(name: str, low: float, expected: float, high: float) -> str:
    if low == expected == high:
        return f"{name} {expected:g}"
    return f"{name} {expected:g} ({low:g}..{high:g})"


def limit_for(longest: int, model: Model, where: str) -> int:
    """The max_model_len for a longest request, rounded up to 1,024 within the model's own limit.

    Raises:
        BadInput: the model does not allow so many tokens.
    """
    most = model.text.max_positions
    if longest > most:
        raise BadInput(
            f"{where or 'The lengths'}: the longest request has {longest:,} tokens, but {model.id} "
            f"allows {most:,}; shorten the requests or choose another model."
        )
    return min(round_up(longest, _LENGTH_STEP), most)


def parse_factors(texts: tuple[str, ...]) -> Mapping[str, float]:
    """Read ``name=value`` pairs.

    Raises:
        BadInput: one is not such a pair.
    """
    found = {}
    for text in texts:
        name, separator, value = text.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            separator = ""
        if not separator:
            raise BadInput(f"--factor {text!r} is not NAME=NUMBER; write active-share=0.6.")
    return found
