"""A load on equal engines behind a router that goes round: each is simulated on its own.

The router sends request i, in the order they are due, to engine i modulo their number, whatever they are doing, so
that no engine depends on another.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.simulate.fast.load import ASKED, Load
from vramledger.simulate.fast.records import (
    ENDINGS,
    FEATURES,
    PAUSE,
    RECORD,
    STEP,
    UNSET,
    FastOutcome,
)
from vramledger.simulate.fast.simulate import simulate_fast
from vramledger.simulate.loop import simulate
from vramledger.simulate.outcome import Outcome
from vramledger.simulate.prefixes import Prefixes
from vramledger.simulate.request import Arrival
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_cost import StepCost

if TYPE_CHECKING:
    from vramledger.simulate.request import Request
    from vramledger.simulate.scheduler import Scheduler
    from vramledger.simulate.step import Step

    Integers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

Progress: TypeAlias = Callable[[int, int], None]  # requests that have ended, and all


@frozen
class Arriving:
    """Requests in the order they are sent: int64 arrays of one length.

    `arrival_ns` is when each reaches its engine, which need not be in that order.
    """

    arrival_ns: "Integers"
    input_tokens: "Integers"
    output_tokens: "Integers"
    cancel_after_ns: "Integers"  # -1 for a client that waits
    prefixes: Prefixes

    def __len__(self) -> int:
        return len(self.arrival_ns)


@frozen
class Engine:
    """What one engine did: `RECORD` rows of the requests in `places`, `STEP` rows numbered from 0."""

    places: "Integers"  # of its requests among all
    found: FastOutcome
    compiled: bool


def run_engines(
    settings: Settings,
    arriving: Arriving,
    cost: StepCost,
    engines: int,
    *,
    seed: int,
    progress: Progress,
) -> tuple[Engine, ...]:
    """Every engine's part of the load, simulated: compiled where that is possible, else step by step.

    Raises:
        BadInput: requests or costs that no simulator takes.
    """
    done: list[Engine] = []
    for number in range(min(engines, len(arriving))):
        places = np.arange(number, len(arriving), engines)
        places = places[np.argsort(arriving.arrival_ns[places], kind="stable")]
        before = sum(len(engine.places) for engine in done)
        load = _load(arriving, places)
        advance = _shifted(progress, before, len(arriving))
        done.append(_run(settings, load, cost, places, seed, advance))
        progress(before + len(places), len(arriving))
    return tuple(done)


def _shifted(progress: Progress, before: int, of_all: int) -> Callable[[int], None]:
    return lambda ended: progress(before + ended, of_all)


def _run(
    settings: Settings,
    load: Load,
    cost: StepCost,
    places: "Integers",
    seed: int,
    advance: Callable[[int], None],
) -> Engine:
    try:
        found, compiled = simulate_fast(settings, load, cost, seed=seed), True
    except CannotKnow:  # what the compiled simulator does not have, the plain loop has
        cost.refuse_overflow(settings)
        found, compiled = _plain(settings, load, cost, seed, advance), False
    return Engine(places, _numbered(found), compiled)


def _numbered(found: FastOutcome) -> FastOutcome:
    """The same with steps numbered by their place: a scheduler also counts steps that run nothing."""
    numbers = found.steps["number"].copy()
    for name in ("scheduled_step", "first_token_step", "last_token_step"):
        told = found.requests[name] != UNSET
        found.requests[name][told] = np.searchsorted(numbers, found.requests[name][told])
    if found.pauses is not None:
        for name in ("last_step", "next_step"):
            found.pauses[name] = np.searchsorted(numbers, found.pauses[name])
    found.steps["number"] = np.arange(len(numbers))
    return found


def _load(arriving: Arriving, places: "Integers") -> Load:
    prefixes = arriving.prefixes
    asked = np.zeros(len(places), ASKED)
    for name in ("arrival_ns", "input_tokens", "output_tokens", "cancel_after_ns"):
        asked[name] = getattr(arriving, name)[places]
    lengths = prefixes.lengths[places]
    ends = np.cumsum(prefixes.lengths)
    asked["prefix_length"] = lengths
    asked["prefix_start"] = np.cumsum(lengths) - lengths
    inside = np.arange(lengths.sum()) - np.repeat(asked["prefix_start"], lengths)
    taken = prefixes.identities[np.repeat((ends - prefixes.lengths)[places], lengths) + inside]
    return Load(asked, taken, prefixes.pieces)


def _plain(
    settings: Settings,
    load: Load,
    cost: StepCost,
    seed: int,
    advance: Callable[[int], None],
) -> FastOutcome:
    """The plain loop's run in the compiled one's form."""
    ended = 0

    def observe(_step: "Step", over: "list[Request]", _scheduler: "Scheduler") -> None:
        nonlocal ended
        if over:
            ended += len(over)
            advance(ended)

    return columns_of(simulate(settings, _arrivals(load), cost, seed=seed, observe=observe))


def _arrivals(load: Load) -> list[Arrival]:
    pieces = np.arange(load.pieces)
    found = []
    for asked in load.asked:
        start = asked["prefix_start"]
        own = load.prefix[start : start + asked["prefix_length"]]
        cancel = int(asked["cancel_after_ns"])
        found.append(
            Arrival(
                int(asked["arrival_ns"]),
                int(asked["input_tokens"]),
                int(asked["output_tokens"]),
                tuple((own[:, None] * load.pieces + pieces).ravel().tolist()),
                cancel_after_ns=None if cancel == UNSET else cancel,
            )
        )
    return found


def columns_of(outcome: Outcome) -> FastOutcome:
    """A run of the plain loop as rows of numbers."""
    requests = np.zeros(len(outcome.requests), RECORD)
    for name in RECORD.names or ():
        if name == "ending":
            values = [ENDINGS.index(one.ending) for one in outcome.requests]
        else:
            values = [_number(getattr(one, name)) for one in outcome.requests]
        requests[name] = values
    steps = np.zeros(len(outcome.steps), STEP)
    for name in STEP.names or ():
        steps[name] = [getattr(s.features if name in FEATURES else s, name) for s in outcome.steps]
    pauses = np.zeros(len(outcome.pauses), PAUSE)
    for name in PAUSE.names or ():
        pauses[name] = [getattr(pause, name) for pause in outcome.pauses]
    return FastOutcome(requests, steps, len(steps), outcome.end_ns, outcome.stuck, pauses)


def _number(value: int | None) -> int:
    return UNSET if value is None else value
