"""The compiled simulator's way in."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from vramledger.frozen import frozen
from vramledger.simulate.fast.compiled import note_compiled, say_if_compiling
from vramledger.simulate.fast.kernels import Kernel, kernel_for
from vramledger.simulate.fast.load import Load, refuse_nonsense
from vramledger.simulate.fast.records import INCOMPLETE, OPEN, FastOutcome, new_records
from vramledger.simulate.fast.refusals import refuse_not_followed
from vramledger.simulate.joined_rows import joined
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_cost import StepCost

if TYPE_CHECKING:
    from vramledger.simulate.fast.load import Rows

_ROWS = 1 << 14  # steps kept before they are handed out
Sink = Callable[["Rows"], None]
Told = Callable[[int, int], None]  # requests that are over, and the simulated time in nanoseconds


def simulate_fast(
    settings: Settings,
    load: Load,
    cost: StepCost,
    *,
    seed: int = 0,
    sink: Sink | None = None,
    every_block: bool = False,
    told: Told | None = None,
) -> FastOutcome:
    """Run requests through one engine, with the same results as `loop.simulate` and vLLM's policy.

    Args:
        settings: the scheduler's arguments.
        load: the requests.
        cost: what a step costs.
        seed: decides which drafts are accepted.
        sink: is given the rows of steps as they come, in a buffer that is used again; without one
            they are all kept.
        every_block: follow every block also where counting them is enough; slower, the same results.
        told: is told now and then how far it is.

    Raises:
        BadInput: for requests that mean nothing, or costs that 64 bits do not hold.
        CannotKnow: for what `refusals` names.
    """
    refuse_nonsense(load)
    cost.refuse_overflow(settings)
    refuse_not_followed(settings)
    records = new_records(len(load.asked))
    kernel = kernel_for(settings, load, every_block=every_block)
    world = kernel.new_world(settings, load, cost, records, _ROWS, seed)
    kept = _run(kernel, world, sink, told)
    kernel.close(world)
    return _outcome(world, kept, kernel.why_stuck(world))


@frozen
class _Kept:
    """Rows of steps and of pauses."""

    steps: "Rows"
    pauses: "Rows"


def _run(kernel: Kernel, world: Any, sink: Sink | None, told: Told | None) -> _Kept:
    """Advance until it is over; the rows of all steps, or none where a sink takes them.

    The kernel comes back after `_ROWS` steps at most, so that Ctrl-C is heard.
    """
    say_if_compiling(kernel.name)
    kept: list[Rows] = []
    pauses: list[Rows] = []
    take = sink or (lambda rows: kept.append(rows.copy()))
    over = False
    while not over:
        over = kernel.advance(world)
        take(world.rows[: world.engine["rows"][0]])
        pauses.append(world.pauses[: world.engine["pauses"][0]].copy())
        world.engine["rows"] = world.engine["pauses"] = 0
        if told is not None:
            told(int(world.engine["ended"][0]), int(world.engine["now"][0]))
    note_compiled(kernel.name)
    return _Kept(joined(kept, world.rows), joined(pauses, world.pauses))


def _outcome(world: Any, kept: _Kept, stuck: str) -> FastOutcome:
    engine, records = world.engine[0], world.records
    records["ending"][records["ending"] == OPEN] = INCOMPLETE
    sent, now = int(engine["sent"]), int(engine["now"])
    return FastOutcome(records, kept.steps, sent, now, stuck, kept.pauses)
