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
from vramledger.simulate.fast.load import ASKED, Load, refuse_nonsense
from vramledger.simulate.fast.records import UNSET, FastOutcome
from vramledger.simulate.fast.simulate import simulate_fast
from vramledger.simulate.loop import simulate
from vramledger.simulate.numbering import numbered
from vramledger.simulate.prefixes import Prefixes
from vramledger.simulate.progress import Ended, with_clock
from vramledger.simulate.progress import Progress as Progress  # noqa: PLC0414 - also found here
from vramledger.simulate.routing.clocks import Clocks
from vramledger.simulate.routing.engine import arrivals_of
from vramledger.simulate.routing.run import RoutedRun, run_routed
from vramledger.simulate.serving import PLAIN, Serving
from vramledger.simulate.settings import Settings
from vramledger.simulate.split.run import SplitRun, run_split
from vramledger.simulate.step_cost import StepCost

if TYPE_CHECKING:
    from vramledger.simulate.request import Request
    from vramledger.simulate.scheduler import Scheduler
    from vramledger.simulate.step import Step

    Booleans: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
    Integers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]


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
    times_out: "Booleans | None" = None  # whether who leaves then has timed out; None: nobody

    def __len__(self) -> int:
        return len(self.arrival_ns)

    @property
    def front(self) -> "Integers":
        """`front_ns`, or zeros."""
        return np.zeros(len(self), np.int64) if self.front_ns is None else self.front_ns


@frozen
class Engine:
    """What one engine did: `RECORD` rows of the requests in `places`, `STEP` rows numbered from 0.

    `due_ns` is when each was sent where only the simulation tells, as in a closed loop. `pool` is empty, or "prefill" or
    "decode" where prompts are computed on servers of their own; then `fetch_ns` is how long each one's cache
    took to come, `UNSET` where none came.
    """

    places: "Integers"  # of its requests among all
    found: FastOutcome
    compiled: bool
    due_ns: "Integers | None" = None
    pool: str = ""
    fetch_ns: "Integers | None" = None


def run_engines(
    settings: Settings,
    arriving: Arriving,
    cost: StepCost,
    engines: int,
    *,
    seed: int,
    progress: Progress,
    serve: Serve | None = None,
    serving: Serving = PLAIN,
) -> tuple[Engine, ...]:
    """Every engine's part of the load, simulated: compiled where that is possible, else step by step.

    Args:
        settings: the scheduler's arguments, the same for all.
        arriving: the requests.
        cost: what a step costs.
        engines: how many; of the decode pool, where prompts are computed on servers of their own.
        seed: decides which drafts are accepted, and where a router begins among equals.
        progress: is told how many requests have ended.
        serving: how they are given to the engines.
        serve: how each engine serves its part, one after another behind a router that goes round; None for vLLM's
            scheduler.

    Returns:
        The engines by number, those of a prefill pool first.

    Raises:
        BadInput: requests, costs or names that no simulator takes.
        CannotKnow: what a prefill and a decode pool cannot exchange.
    """
    alone = engines == 1 and serving.closed is None and serving.split is None
    if alone or serving.is_plain:
        return _each_alone(settings, arriving, cost, engines, seed, progress, serve)
    if serve is not None:
        raise BadInput(
            "Policies other than vllm, and traces of steps, take engines one by one; leave out the router, the closed "
            "loop and the prefill servers."
        )
    return _in_one_order(settings, arriving, cost, engines, serving, seed, progress)


def _in_one_order(
    settings: Settings,
    arriving: Arriving,
    cost: StepCost,
    engines: int,
    serving: Serving,
    seed: int,
    progress: Progress,
) -> tuple[Engine, ...]:
    """Engines that depend on each other, together."""
    load = _load(arriving, np.arange(len(arriving)))
    refuse_nonsense(Load(load.asked[np.argsort(arriving.arrival_ns)], load.prefix))
    clocks = Clocks(arriving.arrival_ns, arriving.front, serving.closed)
    told = _shifted(progress, 0, len(arriving))
    if serving.split is None:
        run = run_routed(
            settings, load, cost, engines, clocks, router=serving.router, seed=seed, told=told
        )
        found = _together(run)
    else:
        run_in_pools = run_split(
            settings, load, cost, serving.split, engines, clocks,
            router=serving.router, seed=seed, told=told,
        )  # fmt: skip
        found = _in_pools(run_in_pools)
    progress(len(arriving), len(arriving))
    return found


def _together(run: RoutedRun) -> tuple[Engine, ...]:
    """By engine; one that got no request has idled."""
    found = []
    for places, outcome in zip(run.places, run.found, strict=True):
        at = np.array(places, np.int64)
        due = None if run.sent_ns is None else run.sent_ns[at]
        found.append(Engine(at, numbered(outcome), run.compiled, due))
    return tuple(found)


def _in_pools(run: SplitRun) -> tuple[Engine, ...]:
    """By server, each request with the one that answered it, or where it ended before."""
    took = {one.place: one.came_ns - one.begun_ns for one in run.transfers}
    found = []
    for share in run.shares:
        due = None if run.sent_ns is None else run.sent_ns[share.places]
        fetch = np.array([took.get(place, UNSET) for place in share.places.tolist()], np.int64)
        found.append(Engine(share.places, share.found, False, due, share.pool.value, fetch))
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
            done.append(_run(part, with_clock(progress, advance)))
        else:
            done.append(Engine(places, numbered(serve(part)), compiled=False))
        progress(before + len(places), len(arriving))
    return tuple(done)


def _shifted(progress: Progress, before: int, of_all: int) -> Callable[[int], None]:
    return lambda ended: progress(before + ended, of_all)


def _run(part: EngineLoad, told: Ended) -> Engine:
    settings, load, cost, seed = part.settings, part.load, part.cost, part.seed
    try:
        found, compiled = simulate_fast(settings, load, cost, seed=seed, told=told), True
    except CannotKnow:  # what the compiled simulator does not have, the plain loop has
        cost.refuse_overflow(settings)
        found, compiled = _plain(settings, load, cost, seed, part.advance), False
    return Engine(part.places, numbered(found), compiled)


def _load(arriving: Arriving, places: "Integers") -> Load:
    prefixes = arriving.prefixes
    asked = np.zeros(len(places), ASKED)
    for name in ("arrival_ns", "input_tokens", "output_tokens", "cancel_after_ns"):
        asked[name] = getattr(arriving, name)[places]
    if arriving.times_out is not None:
        asked["times_out"] = arriving.times_out[places]
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
