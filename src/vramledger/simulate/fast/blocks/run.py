"""The engine loop around the steps, as `simulate.loop` has it."""

from vramledger.simulate.fast.advancing import SITTING, TURN, WAITING
from vramledger.simulate.fast.blocks.admission import admit_waiting
from vramledger.simulate.fast.blocks.calm import rest
from vramledger.simulate.fast.blocks.cruise import cruise
from vramledger.simulate.fast.blocks.pipeline import pass_stages
from vramledger.simulate.fast.blocks.queues import (
    add_waiting,
    drop_least,
    push,
    remove_waiting,
)
from vramledger.simulate.fast.blocks.rows import ABORTED, FINISHED, RUNNING
from vramledger.simulate.fast.blocks.running import abandon, known, serve_running
from vramledger.simulate.fast.blocks.settle import settle
from vramledger.simulate.fast.blocks.tables import release
from vramledger.simulate.fast.blocks.world import World
from vramledger.simulate.fast.compiled import compiled, compiled_entry
from vramledger.simulate.fast.cost import cost_ns
from vramledger.simulate.fast.load import NEVER
from vramledger.simulate.fast.pausing import has_room
from vramledger.simulate.fast.records import CANCELLED, REJECTED, TIMED_OUT, UNSET
from vramledger.simulate.fast.step_row import write_row


@compiled_entry
def advance(world: World) -> bool:
    """Go on until the rows of steps are full; True when it halts before: time is up, or all is done."""
    engine = world.engine[0]
    ended = engine.ended
    while (engine.rows < len(world.rows) and has_room(world.pauses, engine)) or (
        engine.lockstep and engine.phase == WAITING
    ):
        if not _go_on(world) or (engine.stops and engine.ended > ended):
            return True
        if engine.broken:
            return True
    return False


@compiled
def _go_on(world: World) -> bool:
    """One turn, or one step awaited; False when nothing may happen yet, or ever."""
    engine = world.engine[0]
    if engine.phase == TURN:
        return _turn(world)
    if engine.sent > engine.settled:
        ends = world.flights[engine.settled & engine.ring].end_ns
        if ends > engine.until:
            return False
        engine.now = max(engine.now, ends)
        _let_go(world)
        settle(world)
        if engine.phase == WAITING:
            engine.phase = TURN
        return True
    if engine.phase == SITTING and engine.events > engine.events_then:
        engine.phase = TURN
        return True
    return _wait_for_others(world)


@compiled
def _turn(world: World) -> bool:
    """Take in what has arrived, and schedule a step; an idle engine waits for an arrival."""
    engine = world.engine[0]
    when = engine.now
    if engine.lockstep:
        when = engine.next_step
    elif _is_idle(world) and engine.sent == engine.settled:
        if engine.coming == engine.total:
            return False
        when = max(when, world.asked[engine.coming].arrival_ns)
    if when >= engine.until:
        return False
    engine.now, over = when, engine.ended
    _take_in(world)
    halts = engine.stops and engine.ended > over  # after the step that it schedules now
    if engine.rests and not halts and cruise(world):
        return True
    if engine.thrashes and not engine.lockstep:
        engine.thrashes = False
        engine.events_then = engine.events
        engine.phase = SITTING
    elif not _submit(world):
        engine.phase = WAITING
    return True


@compiled
def _is_idle(world: World) -> bool:
    return bool(world.engine[0].waiting == 0 and world.engine[0].running == 0)


@compiled
def _take_in(world: World) -> None:
    """Arrivals up to now, and clients that are gone."""
    engine = world.engine[0]
    while engine.coming < engine.total and world.asked[engine.coming].arrival_ns <= engine.now:
        _queue(world, int(engine.coming))
        engine.coming += 1
    _let_go(world)


@compiled
def _queue(world: World, rank: int) -> None:
    engine, asked = world.engine[0], world.asked[rank]
    if asked.input_tokens >= engine.max_model_len and not engine.lockstep:
        world.requests[rank].status = ABORTED
        world.records[rank].ending = REJECTED
        engine.ended += 1
        return
    engine.events += 1
    engine.prompts += asked.input_tokens
    world.records[rank].queued_ns = engine.now
    add_waiting(world, rank)
    if asked.cancel_after_ns != NEVER:
        push(world.leaving, engine.leaving, asked.arrival_ns + asked.cancel_after_ns, rank)
        engine.leaving += 1


@compiled
def _let_go(world: World) -> None:
    """Abort requests whose clients went away."""
    engine = world.engine[0]
    while engine.leaving > 0 and world.leaving[0].key <= engine.now:
        rank = int(world.leaving[0].rank)
        drop_least(world.leaving, engine.leaving)
        engine.leaving -= 1
        request, record = world.requests[rank], world.records[rank]
        if request.status in (FINISHED, ABORTED):
            continue
        engine.events += 1
        engine.ended += 1
        engine.prompts -= request.prompt
        waited = request.status != RUNNING
        request.status = ABORTED
        if waited:
            remove_waiting(world, rank)
        else:
            abandon(world, rank)
        release(world, rank)
        record.ending = TIMED_OUT if world.asked[rank].times_out else CANCELLED
        record.output_tokens = request.generated


@compiled
def _submit(world: World) -> bool:
    """Schedule a step if one can be in flight; whether the loop shall go round before it waits."""
    engine = world.engine[0]
    if _is_idle(world) and not engine.lockstep:
        return bool(engine.sent == engine.settled)
    _schedule(world)
    if engine.prefill_tokens + engine.decode_tokens == 0 and not engine.lockstep:
        return bool(engine.preempted > 0 and engine.sent == engine.settled)
    _send(world)
    return bool(engine.sent - engine.settled < engine.steps_in_flight)


@compiled
def _schedule(world: World) -> None:
    engine = world.engine[0]
    engine.step = engine.next_step
    engine.next_step += 1
    engine.scheduled = engine.admitted = engine.preempted = 0
    engine.prefill = engine.served_running = False
    engine.tokens_left, engine.inputs_left = engine.tokens_budget, engine.inputs_budget
    alone = engine.running + engine.waiting <= 1
    engine.cap = 0 if alone and engine.lone_uncapped else engine.threshold
    serve_running(world)
    if engine.preempted == 0:
        admit_waiting(world)
    _count_features(world)
    engine.returned = 0


@compiled
def _count_features(world: World) -> None:
    """Sum up the step, and count its tokens as computed."""
    engine = world.engine[0]
    engine.prefill_tokens = engine.prefill_requests = engine.prefill_pairs = 0
    engine.decode_tokens = engine.decode_requests = engine.resting
    engine.decode_context = engine.resting_context
    engine.resting_context += engine.resting
    place = engine.sent & engine.ring
    world.flights[place].resting = engine.resting
    for index in range(engine.scheduled):
        part = world.parts[place, index]
        request = world.requests[part.rank]
        start, tokens = int(request.computed), int(part.tokens)
        request.computed += tokens
        request.in_flight += tokens
        request.prefilling = request.computed < known(world, part.rank) + request.placeholders
        part.sampled = 0 if request.prefilling else 1
        if part.sampled and engine.asynchronous:
            request.placeholders += 1 + part.drafts
            request.drafts = engine.drafts
        if part.sampled and start > 0 and tokens - part.drafts == 1:
            engine.decode_tokens += tokens
            engine.decode_requests += 1
            engine.decode_context += start
            if engine.rests:
                rest(world, part.rank, part.place)
        else:
            engine.prefill_tokens += tokens
            engine.prefill_requests += 1
            engine.prefill_pairs += tokens * start + tokens * (tokens + 1) // 2


@compiled
def _send(world: World) -> None:
    """Give the step to the device."""
    engine = world.engine[0]
    flight = world.flights[engine.sent & engine.ring]
    lasts = cost_ns(world.coefficients, world.by_tokens, engine)
    passage = pass_stages(world.stages, engine.now, lasts)
    start = passage.start_ns
    engine.busy += passage.end_ns - max(start, engine.device_free)
    engine.device_free = flight.end_ns = passage.end_ns
    flight.step, flight.parts = engine.step, engine.scheduled
    for index in range(engine.admitted):
        _note_admitted(world, world.admitted[index].rank, world.admitted[index].tokens, start)
    write_row(world.rows, engine, passage.last_ns)
    engine.sent += 1


@compiled
def _note_admitted(world: World, rank: int, hit: int, start: int) -> None:
    record, request = world.records[rank], world.requests[rank]
    if record.scheduled_ns == UNSET:
        record.scheduled_ns, record.scheduled_step = start, world.engine[0].step
        record.hit_tokens = hit
    record.recomputed_tokens += max(0, request.lost - hit)
    request.lost = 0


@compiled
def _wait_for_others(world: World) -> bool:
    """Nobody can be scheduled and nothing runs: only an arrival or a client that leaves changes that."""
    engine = world.engine[0]
    if engine.leaving == 0 and engine.coming == engine.total:
        engine.stuck = not engine.more
        return False
    if engine.leaving == 0:
        following = world.asked[engine.coming].arrival_ns
    elif engine.coming == engine.total:
        following = world.leaving[0].key
    else:
        following = min(world.leaving[0].key, world.asked[engine.coming].arrival_ns)
    if following > engine.until:
        return False
    engine.now = max(engine.now, following)
    engine.phase = TURN
    return True
