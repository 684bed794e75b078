"""The engine loop around the steps, as `simulate.loop` has it."""

from vramledger.simulate.fast.compiled import compiled, compiled_entry
from vramledger.simulate.fast.cost import cost_ns
from vramledger.simulate.fast.counting.holding import begin_decoding, stop_decoding
from vramledger.simulate.fast.counting.schedule import schedule
from vramledger.simulate.fast.counting.settle import settle
from vramledger.simulate.fast.counting.world import NOBODY, World
from vramledger.simulate.fast.records import REJECTED, UNSET
from vramledger.simulate.fast.step_row import write_row


@compiled_entry
def advance(world: World) -> bool:
    """Run until the rows of steps are full or nothing can happen any more; True when it is over."""
    state = world.engine[0]
    while state.rows < len(world.rows):
        if not _take_in(world):
            return True
        if state.thrashes:
            if not _sit_out(world):
                return True
        elif not _submit(world) and not _wait(world):
            return True
    return False


@compiled
def _take_in(world: World) -> bool:
    """Arrivals up to now; an idle engine waits. False when all is done."""
    state = world.engine[0]
    if state.waiting == 0 and state.running == 0 and state.sent == state.settled:
        if state.coming == state.total:
            return False
        state.now = max(state.now, world.asked[state.coming].arrival_ns)
    while state.coming < state.total and world.asked[state.coming].arrival_ns <= state.now:
        if world.asked[state.coming].input_tokens >= state.max_model_len:
            world.records[state.coming].ending = REJECTED
        else:
            world.records[state.coming].queued_ns = state.now
            state.waiting += 1
            state.events += 1
        state.coming += 1
    return True


@compiled
def _submit(world: World) -> bool:
    """Schedule a step if one can be in flight; whether the loop shall go round before it waits."""
    state = world.engine[0]
    if state.waiting == 0 and state.running == 0:
        return bool(state.sent == state.settled)
    schedule(world)
    if state.prefill_tokens + state.decode_tokens == 0:
        return bool(state.preempted > 0 and state.sent == state.settled)
    _send(world)
    return bool(state.sent - state.settled < state.steps_in_flight)


@compiled
def _send(world: World) -> None:
    """Give the step to the device and count its tokens as computed."""
    state, flight = world.engine[0], world.flights[world.engine[0].sent & 1]
    start = max(state.now, state.device_free)
    lasts = cost_ns(world.coefficients, world.by_tokens, state)
    state.device_free = flight.end_ns = start + lasts
    flight.step = state.step
    flight.tokens = state.decoding + flight.sampled
    for index in range(state.admitted):
        _note_admitted(world, world.admitted[index], start)
    write_row(world.rows, state, start)
    state.busy += lasts
    state.context += state.decoding
    slot = world.calendar[state.sent & (len(world.calendar) - 1)]
    while slot != NOBODY:
        one = world.slots[slot]
        stop_decoding(world, slot, one.computed + one.final - one.sampled_from)
        slot = one.day_after
    for index in range(flight.sampled):
        begin_decoding(world, world.sampled[state.sent & 1, index])
    state.sent += 1


@compiled
def _note_admitted(world: World, slot: int, start: int) -> None:
    one = world.slots[slot]
    record = world.records[one.rank]
    if record.scheduled_ns == UNSET:
        record.scheduled_ns, record.scheduled_step = start, world.engine[0].step
    record.recomputed_tokens += one.lost
    one.lost = 0


@compiled
def _sit_out(world: World) -> bool:
    """Skip endless recomputation up to what may end it; False when nothing can."""
    state = world.engine[0]
    state.thrashes = False
    before = state.events
    while state.sent > state.settled:
        settle(world)
    return bool(state.events > before) or _wait(world)


@compiled
def _wait(world: World) -> bool:
    """Wait for the oldest step, or for the next arrival; False when nothing can come."""
    state = world.engine[0]
    if state.sent > state.settled:
        settle(world)
        return True
    if state.coming < state.total:
        state.now = max(state.now, world.asked[state.coming].arrival_ns)
        return True
    state.stuck = True
    return False
