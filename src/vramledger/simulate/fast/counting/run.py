"""The engine loop around the steps, as `simulate.loop` has it."""

from vramledger.simulate.fast.advancing import SITTING, TURN, WAITING
from vramledger.simulate.fast.compiled import compiled, compiled_entry
from vramledger.simulate.fast.cost import cost_ns
from vramledger.simulate.fast.counting.cruise import cruise
from vramledger.simulate.fast.counting.holding import begin_decoding, stop_decoding
from vramledger.simulate.fast.counting.schedule import schedule
from vramledger.simulate.fast.counting.settle import settle
from vramledger.simulate.fast.counting.world import NOBODY, World
from vramledger.simulate.fast.pausing import has_room
from vramledger.simulate.fast.records import REJECTED, UNSET
from vramledger.simulate.fast.step_row import write_row


@compiled_entry
def advance(world: World) -> bool:
    """Go on until the rows of steps are full; True when it halts before: time is up, or all is done."""
    state = world.engine[0]
    ended = state.ended
    while state.rows < len(world.rows) and has_room(world.pauses, state):
        if not _go_on(world) or (state.stops and state.ended > ended):
            return True
    return False


@compiled
def _go_on(world: World) -> bool:
    """One turn, or one step awaited; False when nothing may happen yet, or ever."""
    state = world.engine[0]
    if state.phase == TURN:
        return _turn(world)
    if state.sent > state.settled:
        if world.flights[state.settled & 1].end_ns > state.until:
            return False
        settle(world)
        if state.phase == WAITING:
            state.phase = TURN
        return True
    if state.phase == SITTING and state.events > state.events_then:
        state.phase = TURN
        return True
    return _wait_for_others(world)


@compiled
def _turn(world: World) -> bool:
    """Take in what has arrived, and schedule a step; an idle engine waits for an arrival."""
    state = world.engine[0]
    when = state.now
    if state.waiting == 0 and state.running == 0 and state.sent == state.settled:
        if state.coming == state.total:
            return False
        when = max(when, world.asked[state.coming].arrival_ns)
    if when >= state.until:
        return False
    state.now, over = when, state.ended
    _take_in(world)
    halts = state.stops and state.ended > over  # after the step that it schedules now
    if not halts and cruise(world):
        return True
    if state.thrashes:
        state.thrashes = False
        state.events_then = state.events
        state.phase = SITTING
    elif not _submit(world):
        state.phase = WAITING
    return True


@compiled
def _take_in(world: World) -> None:
    """Arrivals up to now."""
    state = world.engine[0]
    while state.coming < state.total and world.asked[state.coming].arrival_ns <= state.now:
        asked = world.asked[state.coming]
        if asked.input_tokens >= state.max_model_len:
            world.records[state.coming].ending = REJECTED
            state.ended += 1
        else:
            world.records[state.coming].queued_ns = state.now
            state.waiting += 1
            state.events += 1
            state.prompts += asked.input_tokens
        state.coming += 1


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
def _wait_for_others(world: World) -> bool:
    """Nobody can be scheduled and nothing runs: only an arrival changes that."""
    state = world.engine[0]
    if state.coming == state.total:
        state.stuck = not state.more
        return False
    when = world.asked[state.coming].arrival_ns
    if when > state.until:
        return False
    state.now = max(state.now, when)
    state.phase = TURN
    return True
