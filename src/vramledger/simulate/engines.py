"""A load on equal engines behind a router.

By default the router goes round: it sends request i, in the order they are due, to engine i modulo their number,
whatever they are doing, so that each engine is simulated on its own. Other routers look at the engines, and in a closed
loop the clients do: then all engines are simulated in one order of time (`routing`).
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from vramledger.errors import BadInput, CannotKnow
from vramledger.frozen import frozen
from vramledger.simulate.columns import columns_of
from vramledger.simulate.engine_load import EngineLoad, Serve
from vramledger.simulate.fast.engine import FastEngine
from vramledger.simulate.fast.load import ASKED, Load, refuse_nonsense
from vramledger.simulate.fast.records import UNSET, FastOutcome
from vramledger.simulate.fast.simulate import simulate_fast
from vramledger.simulate.loop import simulate
from vramledger.simulate.prefixes import Prefixes
from vramledger.simulate.routing.closed_loop import ClosedLoop
from vramledger.simulate.routing.dispatch import Dispatch
from vramledger.simulate.routing.engine import arrivals_of, engines_for
from vramledger.simulate.routing.open_loop import send_all
from vramledger.simulate.routing.registry import ROUND_ROBIN, router_for
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
    front_ns: "Integers | None" = None  # from each one's client to its engine; None for no time

    def __len__(self) -> int:
        return len(self.arrival_ns)


@frozen
class Engine:
    """What one engine did: `RECORD` rows of the requests in `places`, `STEP` rows numbered from 0.

    `due_ns` is when each was sent where only the simulation tells, as in a closed loop.
    """

    places: "Integers"  # of its requests among all
    found: FastOutcome
    compiled: bool
    due_ns: "Integers | None" = None


def run_engines(
    settings: Settings,
    arriving: Arriving,
    cost: StepCost,
    engines: int,
    *,
    seed: int,
    progress: Progress,
    router: str = ROUND_ROBIN,
    closed: int | None = None,
    serve: Serve | None = None,
) -> tuple[Engine, ...]:
    """Every engine's part of the load, simulated: compiled where that is possible, else step by step.

    Args:
        settings: the scheduler's arguments, the same for all.
        arriving: the requests.
        cost: what a step costs.
        engines: how many.
        seed: decides which drafts are accepted, and where a router begins among equals.
        progress: is told how many requests have ended.
        router: a name of `routing.registry.ROUTERS`.
        closed: requests in flight of a closed loop, which ignores the times of arrival; None for the workload's own.
        serve: how each engine serves its part, one after another behind a router that goes round; None for vLLM's
            scheduler.

    Raises:
        BadInput: requests, costs or names that no simulator takes.
    """
    if closed is None and (router == ROUND_ROBIN or engines == 1):
        return _each_alone(settings, arriving, cost, engines, seed, progress, serve)
    if serve is not None:
        raise BadInput(
            "Policies other than vllm, and traces of steps, take engines one by one; leave out the router and "
            "the closed loop."
        )
    load = _load(arriving, np.arange(len(arriving)))
    refuse_nonsense(load)
    many = engines_for(settings, load, cost, engines, seed=seed, stops=closed is not None)
    dispatch = Dispatch(many, router_for(router, engines, seed), load, settings.block_size)
    told = _shifted(progress, 0, len(arriving))
    sent = None
    if closed is None:
        send_all(dispatch, arriving.arrival_ns, told)
    else:
        none = np.zeros(len(arriving), np.int64)
        front = none if arriving.front_ns is None else arriving.front_ns
        loop = ClosedLoop(dispatch, front, closed)
        loop.run(told)
        sent = loop.sent_ns
    found = _routed(dispatch, sent, compiled=isinstance(many[0], FastEngine))
    progress(len(arriving), len(arriving))
    return found


def _routed(
    dispatch: Dispatch, sent_ns: "Integers | None", *, compiled: bool
) -> tuple[Engine, ...]:
    """What became of the requests, by engine; one that got none has idled."""
    found = []
    for engine, places in zip(dispatch.engines, dispatch.places, strict=True):
        at = np.array(places, np.int64)
        due = None if sent_ns is None else sent_ns[at]
        found.append(Engine(at, _numbered(engine.finish()), compiled, due))
    return tuple(found)


def _each_alone(
    settings: Settings,
    arriving: Arriving,
    cost: StepCost,
    engines: int,
    seed: int,
    progress: Progress,
    serve: Serve | None,
) -> tuple[Engine, ...]:
    """Engines that do not depend on each other, one after another."""
    done: list[Engine] = []
    for number in range(min(engines, len(arriving))):
        places = np.arange(number, len(arriving), engines)
        places = places[np.argsort(arriving.arrival_ns[places], kind="stable")]
        before = sum(len(engine.places) for engine in done)
        load = _load(arriving, places)
        advance = _shifted(progress, before, len(arriving))
        part = EngineLoad(number, settings, load, places, cost, seed, advance)
        if serve is None:
            done.append(_run(part))
        else:
            done.append(Engine(places, _numbered(serve(part)), compiled=False))
        progress(before + len(places), len(arriving))
    return tuple(done)


def _shifted(progress: Progress, before: int, of_all: int) -> Callable[[int], None]:
    return lambda ended: progress(before + ended, of_all)


def _run(part: EngineLoad) -> Engine:
    settings, load, cost, seed = part.settings, part.load, part.cost, part.seed
    try:
        found, compiled = simulate_fast(settings, load, cost, seed=seed), True
    except CannotKnow:  # what the compiled simulator does not have, the plain loop has
        cost.refuse_overflow(settings)
        found, compiled = _plain(settings, load, cost, seed, part.advance), False
    return Engine(part.places, _numbered(found), compiled)


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

    return columns_of(simulate(settings, arrivals_of(load), cost, seed=seed, observe=observe))
