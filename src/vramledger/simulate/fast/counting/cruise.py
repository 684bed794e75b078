"""Many steps at once: while nobody comes, ends, prefills or waits, every step is the one before with more context.

What `run` and `schedule` do for such a step, in a loop of a few instructions. At a tenth of the rate of a public chat
trace a step takes 8.5 ns instead of 26, at its own rate 16 instead of 33, where it has the pool to itself.
"""

from vramledger.simulate.fast.advancing import FOREVER
from vramledger.simulate.fast.compiled import compiled
from vramledger.simulate.fast.cost import decodes_ns
from vramledger.simulate.fast.counting.world import NOBODY, World
from vramledger.simulate.fast.step_row import write_decodes


@compiled
def cruise(world: World) -> bool:
    """Go through steps of the same decodes until one differs; whether there were any.

    A turn begins, and arrivals up to now are taken in.
    """
    state = world.engine[0]
    if not _is_calm(world):
        return False
    decoding, block_size = state.decoding, state.block_size
    days = len(world.calendar) - 1
    arrives = world.asked[state.coming].arrival_ns if state.coming < state.total else FOREVER
    first, sent, now, free = state.sent, state.sent, state.now, state.free
    context, busy, device_free = state.context, state.busy, state.device_free
    rows, step, last = state.rows, state.next_step, len(world.rows)
    flies = world.flights[(sent - 1) & 1].end_ns  # the end of the step in flight
    while rows < last and arrives > now and world.calendar[sent & days] == NOBODY:
        phase = world.phases[-sent % block_size]
        if phase.decodes * state.groups > free:
            break
        free -= phase.decodes * state.groups
        phase.taken_ns += busy
        start = max(now, device_free)
        device_free = start + decodes_ns(world.coefficients, world.by_tokens, decoding, context)
        used = state.usable_blocks - free
        write_decodes(world.rows[rows], step, start, device_free, decoding, context, used)
        busy += device_free - start
        context += decoding
        sent, step, rows = sent + 1, step + 1, rows + 1
        now = max(now, flies if state.steps_in_flight > 1 else device_free)
        flies = device_free
    steps = sent - first
    if steps == 0:
        return False
    state.sent, state.now, state.free, state.busy = sent, now, free, busy
    state.context, state.device_free, state.rows, state.next_step = context, device_free, rows, step
    state.settled += steps
    state.events += _given(world, steps)
    _note_flights(world, steps)
    return True


@compiled
def _is_calm(world: World) -> bool:
    """Whether nothing but decodes runs, with the device as busy as it can be and no end in view."""
    state = world.engine[0]
    if state.waiting > 0 or state.running == 0 or state.decoding != state.running:
        return False
    if state.stale > 0 or state.until != FOREVER:
        return False
    if state.sent - state.settled != state.steps_in_flight - 1:
        return False
    return bool(state.sent == state.settled or world.flights[(state.sent - 1) & 1].sampled == 0)


@compiled
def _given(world: World, steps: int) -> int:
    """Tokens of the steps that came back: of the first, those of the step that was in flight."""
    state = world.engine[0]
    if state.steps_in_flight == 1:
        return int(steps * state.decoding)
    before = world.flights[(state.sent - steps - 1) & 1].tokens
    return int(before + (steps - 1) * state.decoding)


@compiled
def _note_flights(world: World, steps: int) -> None:
    """The last two steps as flights, and which of them has come back."""
    state = world.engine[0]
    flight = world.flights[(state.sent - 1) & 1]
    if steps > 1:
        world.flights[state.sent & 1].step = state.next_step - 2
    flight.end_ns, flight.step = state.device_free, state.next_step - 1
    flight.sampled, flight.tokens = 0, state.decoding
    state.settled_ns = state.now
    state.settled_step = world.flights[(state.settled - 1) & 1].step
