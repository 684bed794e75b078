"""What of a sound plan no listed card can meet, and what its sample or memory cannot decide."""

from collections.abc import Iterable, Iterator
from math import ceil
from typing import Final

from vramledger.plan.recorded import part_for
from vramledger.plan.requirement import (
    Contract,
    LatencyLimit,
    Load,
    LoadUnit,
    Requirement,
    Scenario,
)
from vramledger.sizing.evaluate import Evaluator
from vramledger.sizing.from_plan import question_of
from vramledger.sizing.people import traffic
from vramledger.sizing.question import Question
from vramledger.sizing.search import fits_on

_ENOUGH: Final = 10  # requests beyond a percentile from which its figure can be trusted
_DAY_HOURS: Final = 24.0


def unmet(requirement: Requirement) -> Iterator[str]:
    """Sentences about lines that no listed card can meet.

    Raises:
        BadInput: the plan's model or engine arguments cannot be used.
        CannotKnow: the model's cache is not known.
    """
    question = question_of(requirement)
    yield from question.unmet
    evaluator = Evaluator(question)
    if not any(fits_on(evaluator, card) for card in question.accelerators):
        yield f"{_cards(requirement, question)} {requirement.model} for {_names(requirement)}."


def undecided(requirement: Requirement) -> Iterator[str]:
    """Sentences about lines that memory says nothing about, or that rest on too few requests."""
    for scenario in requirement.scenarios:
        timed = _timed(scenario.contract).lines
        if timed:
            yield (
                f"{scenario.name}: {'; '.join(timed)}: speed and queueing are not checked by "
                "memory; a trial decides."
            )
        yield from _few_requests(scenario)


def _cards(requirement: Requirement, question: Question) -> str:
    listed = requirement.accelerators
    if not listed:
        return f"None of the {len(question.accelerators)} known cards holds"
    if len(listed) == 1:
        return f"{listed[0].name} does not hold"
    return f"None of {', '.join(card.name for card in listed)} holds"


def _names(requirement: Requirement) -> str:
    return ", ".join(scenario.name for scenario in requirement.scenarios)


def _timed(contract: Contract) -> Contract:
    """The lines of a contract that are about time."""
    return Contract(
        latency=contract.latency,
        queue_must_drain=contract.queue_must_drain,
        done_by=contract.done_by,
        requests_per_hour=contract.requests_per_hour,
    )


def _few_requests(scenario: Scenario) -> Iterator[str]:
    """Percentiles of which one period of the scenario sees too few requests, or none."""
    seen = _requests(scenario)
    for key, limits in scenario.contract.latency.items():
        for limit in limits:
            share = _share_within(scenario, limit)
            reach = limit.reach
            if share == 0:
                yield (
                    f"{scenario.name}: {key}{reach} judges nothing: no request of the stated "
                    "lengths is in that class."
                )
            elif seen is not None:
                yield from _rare(scenario.name, key, reach, limit.percentiles, seen * share)


def _rare(
    name: str, key: str, reach: str, percentiles: Iterable[float], seen: float
) -> Iterator[str]:
    for share in percentiles:
        needed = ceil(_ENOUGH / (1 - share)) if share < 1 else None
        if needed is not None and seen < needed:
            yield (
                f"{name}: {key}{reach} p{share * 100:g} rests on {seen:,.0f} requests in one period "
                f"and needs {needed:,} for {_ENOUGH} beyond it; a longer trial or a lower "
                "percentile decides."
            )


def _share_within(scenario: Scenario, limit: LatencyLimit) -> float:
    if limit.is_of_all:
        return 1.0
    return sum(
        c.weight for c in scenario.lengths.cells if limit.holds(c.input_tokens, c.output_tokens)
    )


def _requests(scenario: Scenario) -> float | None:
    """Requests of the log's slice, or that one period brings; None where the load gives no rate."""
    if scenario.recorded is not None and scenario.load.recorded:
        return part_for(scenario.recorded, scenario.name).requests
    rate = _rate(scenario.load, scenario.lengths.mean_output)
    return None if rate is None else rate * 3600 * _hours(scenario.hours)


def _rate(load: Load, mean_output: float) -> float | None:
    if load.unit is LoadUnit.REQUESTS_PER_S:
        return load.amount
    if load.per_s is not None:
        return load.per_s
    if load.unit is LoadUnit.USERS:
        return traffic(ceil(load.amount), mean_output, load.factors).requests_per_s.value
    return None


def _hours(hours: str | None) -> float:
    """Length of the period in hours: the busy hour where none are stated."""
    if hours is None:
        return 1.0
    first, last = (int(t[:2]) + int(t[3:]) / 60 for t in hours.split("-"))
    return (last - first) % _DAY_HOURS or _DAY_HOURS
