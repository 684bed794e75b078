"""Many steps at once: while everybody rests and nobody comes, leaves or waits.

What `run` does for such a step, in a loop of a few instructions; see `counting.cruise`.
"""

from vramledger.simulate.fast.advancing import FOREVER
from vramledger.simulate.fast.blocks.world import World
from vramledger.simulate.fast.compiled import compiled
from vramledger.simulate.fast.cost import decodes_ns
from vramledger.simulate.fast.step_row import write_decodes


@compiled
def cruise(world: World) -> bool:
    """Go through steps of resting decodes until one must be looked at; whether there were any.

    A turn begins; arrivals up to now are taken in, and clients gone by now are gone.
    """
    engine = world.engine[0]
    if not _is_calm(world):
        return False
    resting, used = engine.resting, engine.usable_blocks - engine.free
    due = _next_due(world)
    leaves = world.leaving[0].key if engine.leaving > 0 else FOREVER
    arrives = world.asked[engine.coming].arrival_ns if engine.coming < engine.total else FOREVER
    first, sent, now = engine.sent, engine.sent, engine.now
    context, busy, device_free = engine.resting_context, engine.busy, engine.device_free
    rows, step, last = engine.rows, engine.next_step, len(world.rows)
    flies = world.flights[(sent - 1) & 1].end_ns  # the end of the step in flight
    while rows < last and arrives > now and due > sent:
        start = max(now, device_free)
        end = start + decodes_ns(world.coefficients, world.by_tokens, resting, context)
        following = max(now, flies if engine.steps_in_flight > 1 else end)
        if following >= leaves:
            break  # the client goes before the step's tokens come
        device_free = flies = end
        write_decodes(world.rows[rows], step, start, device_free, resting, context, used)
        busy += device_free - start
        context += resting
        sent, step, rows = sent + 1, step + 1, rows + 1
        now = following
    steps = sent - first
    if steps == 0:
        return False
    if engine.steps_in_flight > 1:
        engine.events += world.flights[(first - 1) & 1].resting + (steps - 1) * resting
    else:
        engine.events += steps * resting
    engine.sent, engine.now, engine.busy, engine.device_free = sent, now, busy, device_free
    engine.resting_context, engine.rows, engine.next_step = context, rows, step
    engine.settled += steps
    engine.returned = 1
    _note_flights(world, steps)
    return True


@compiled
def _is_calm(world: World) -> bool:
    engine = world.engine[0]
    if engine.waiting > 0 or engine.running == 0 or engine.resting != engine.running:
        return False
    if engine.until != FOREVER or engine.lockstep:
        return False
    if engine.sent - engine.settled != engine.steps_in_flight - 1:
        return False
    return bool(engine.sent == engine.settled or world.flights[(engine.sent - 1) & 1].parts == 0)


@compiled
def _next_due(world: World) -> int:
    """The first step at which one of them must be looked at."""
    first = FOREVER
    for place in range(world.engine[0].running):
        first = min(first, world.due[place])
    return first


@compiled
def _note_flights(world: World, steps: int) -> None:
    """The last two steps as flights, and which of them has come back."""
    engine = world.engine[0]
    flight, before = world.flights[(engine.sent - 1) & 1], world.flights[engine.sent & 1]
    if steps > 1:
        before.step, before.resting = engine.next_step - 2, engine.resting
    flight.end_ns, flight.step = engine.device_free, engine.next_step - 1
    flight.parts, flight.resting = 0, engine.resting
    engine.settled_ns = engine.now
    engine.settled_step = world.flights[(engine.settled - 1) & 1].step
