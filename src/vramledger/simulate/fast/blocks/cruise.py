"""Many steps at once: while everybody rests and nobody comes, leaves or waits.

What `run` does for such a step, in a loop of a few instructions; see `counting.cruise`.
"""

from vramledger.simulate.fast.advancing import FOREVER, WAITING
from vramledger.simulate.fast.blocks.pipeline import pass_stages
from vramledger.simulate.fast.blocks.world import World
from vramledger.simulate.fast.compiled import compiled
from vramledger.simulate.fast.cost import decodes_ns
from vramledger.simulate.fast.step_row import write_decodes


@compiled
def cruise(world: World) -> bool:
    """Go through steps of resting decodes until one must be looked at; whether there were any.

    A turn begins; arrivals up to now are taken in, and clients gone by now are gone. Where a client goes
    before a step's tokens come, that step is left in flight.
    """
    engine = world.engine[0]
    if not _is_calm(world):
        return False
    resting, used = engine.resting, engine.usable_blocks - engine.free
    due = _next_due(world)
    leaves = world.leaving[0].key if engine.leaving > 0 else FOREVER
    arrives = world.asked[engine.coming].arrival_ns if engine.coming < engine.total else FOREVER
    first, sent, now, back = engine.sent, engine.sent, engine.now, engine.settled
    context, busy, device_free = engine.resting_context, engine.busy, engine.device_free
    rows, step, last = engine.rows, engine.next_step, len(world.rows)
    tokens, came = 0, engine.settled_step
    while rows < last and arrives > now and due > sent:
        lasts = decodes_ns(world.coefficients, world.by_tokens, resting, context)
        passage = pass_stages(world.stages, now, lasts)
        busy += passage.end_ns - max(passage.start_ns, device_free)
        device_free = passage.end_ns
        write_decodes(world.rows[rows], step, passage.last_ns, device_free, resting, context, used)
        flight = world.flights[sent & engine.ring]
        flight.end_ns, flight.step = device_free, step
        flight.parts, flight.resting = 0, resting
        context += resting
        sent, step, rows = sent + 1, step + 1, rows + 1
        oldest = world.flights[back & engine.ring]
        if max(now, oldest.end_ns) >= leaves:
            break
        now = max(now, oldest.end_ns)
        tokens, came, back = tokens + oldest.resting, oldest.step, back + 1
    if sent == first:
        return False
    engine.sent, engine.now, engine.busy, engine.device_free = sent, now, busy, device_free
    engine.resting_context, engine.rows, engine.next_step = context, rows, step
    engine.events += tokens
    _note_back(world, back, came)
    return True


@compiled
def _is_calm(world: World) -> bool:
    """Whether all that run rest, in every step in flight too, and nobody waits or looks on."""
    engine = world.engine[0]
    if engine.waiting > 0 or engine.running == 0 or engine.resting != engine.running:
        return False
    if engine.until != FOREVER or engine.lockstep:
        return False
    if engine.sent - engine.settled != engine.steps_in_flight - 1:
        return False
    parts = 0
    for step in range(engine.settled, engine.sent):
        parts += world.flights[step & engine.ring].parts
    return bool(parts == 0)


@compiled
def _next_due(world: World) -> int:
    """The first step at which one of them must be looked at."""
    first = FOREVER
    for place in range(world.engine[0].running):
        first = min(first, world.due[place])
    return first


@compiled
def _note_back(world: World, back: int, came: int) -> None:
    """Steps before `back` have come back, at last that of number `came`; whether the next is awaited."""
    engine = world.engine[0]
    engine.returned = 1
    if engine.sent - back == engine.steps_in_flight:
        engine.returned, engine.phase = 0, WAITING
    if back > engine.settled:
        engine.settled_ns, engine.settled_step = engine.now, came
    engine.settled = back
