"""The first half of a step: tokens and blocks for the requests that run."""

from vramledger.simulate.fast.blocks.calm import wake
from vramledger.simulate.fast.blocks.chunks import align_chunk
from vramledger.simulate.fast.blocks.queues import put_in_front
from vramledger.simulate.fast.blocks.rows import PREEMPTED
from vramledger.simulate.fast.blocks.tables import grow, list_own, name_complete, release
from vramledger.simulate.fast.blocks.windows import forget_skipped
from vramledger.simulate.fast.blocks.world import World
from vramledger.simulate.fast.compiled import compiled, compiled_apart
from vramledger.simulate.sentences import TIMES_ENOUGH


@compiled
def serve_running(world: World) -> None:
    """Schedule running requests in the order of admission; those without blocks preempt others."""
    engine = world.engine[0]
    engine.index = 0
    engine.tokens_left -= engine.resting
    engine.inputs_left -= engine.resting
    while _next_awake(world):
        wake(world, engine.index)
        if not is_open(world):
            return
        rank = int(world.running[engine.index])
        tokens = _tokens_wanted(world, rank)
        if tokens <= 0:
            engine.index += 1
            continue
        if not _make_room(world, rank, tokens):
            if engine.own_ends_running or not engine.by_priority:
                return
            continue
        request = world.requests[rank]
        drafts = request.computed + tokens - known(world, rank) - request.placeholders
        drafts = max(0, min(drafts, request.drafts))
        request.drafts = 0
        if request.prefilling:
            engine.prefill = True
        engine.served_running = True
        add_part(world, rank, engine.index, tokens, drafts)
        engine.index += 1


@compiled
def _next_awake(world: World) -> bool:
    """Go on to the next request that must be looked at, if there is one."""
    engine, due = world.engine[0], world.due
    index, end, step = engine.index, engine.running, engine.sent
    while index < end and due[index] > step:
        index += 1
    engine.index = index
    return bool(index < end)


@compiled
def is_open(world: World) -> bool:
    """Whether another request can get a token."""
    engine = world.engine[0]
    return bool(engine.tokens_left > 0 and engine.inputs_left > engine.draft_rows)


@compiled
def most(world: World) -> int:
    """Tokens that the next request can get."""
    engine = world.engine[0]
    return int(min(engine.tokens_left, engine.inputs_left - engine.draft_rows))


@compiled
def known(world: World, rank: int) -> int:
    """Tokens of the prompt and of the answer so far."""
    request = world.requests[rank]
    return int(request.prompt) + int(request.generated)


@compiled
def places(world: World, rank: int, computed: int) -> int:
    """Tokens that shall have a place once `computed` are scheduled."""
    engine = world.engine[0]
    fresh = world.requests[rank].computed == 0 and not engine.lookahead_at_admission
    return int(min(computed + (0 if fresh else engine.lookahead), engine.max_model_len))


@compiled
def add_part(world: World, rank: int, place: int, tokens: int, drafts: int) -> None:
    """A request gets tokens of the step; `place` is its own in the running list."""
    engine = world.engine[0]
    part = world.parts[engine.sent & engine.ring, engine.scheduled]
    part.rank, part.place, part.tokens, part.drafts = rank, place, tokens, drafts
    engine.scheduled += 1
    engine.tokens_left -= tokens
    engine.inputs_left -= tokens + engine.draft_rows


@compiled
def _tokens_wanted(world: World, rank: int) -> int:
    """Tokens that a running request gets, before blocks are looked for; 0 to pass it over."""
    engine, request = world.engine[0], world.requests[rank]
    computed, placeholders = int(request.computed), int(request.placeholders)
    whole = int(request.prompt) + int(request.asked)
    if placeholders > 0 and computed + 2 - placeholders >= whole:
        return 0
    tokens = known(world, rank) + int(request.drafts) + placeholders - computed
    if 0 < engine.cap < tokens:
        tokens = int(engine.cap)
    tokens = min(tokens, most(world), int(engine.max_model_len) - computed - 1)
    return align_chunk(world, rank, computed, tokens) if engine.aligned else tokens


@compiled
def _make_room(world: World, rank: int, tokens: int) -> bool:
    """Blocks for a running request, taken from others if none are free; False when it lost its own."""
    engine, request = world.engine[0], world.requests[rank]
    scheduled = int(request.computed) + tokens
    slots = places(world, rank, scheduled)
    forget_skipped(world, rank)
    computed = int(request.computed)
    while not grow(world, rank, slots, computed, scheduled):
        place = _victim(world)
        victim = int(world.running[place])
        preempt(world, place)
        if victim == rank:
            if engine.running == 0:
                _note_outgrown(world, rank)
            return False
    name_complete(world, rank, min(scheduled, known(world, rank)))
    return True


@compiled
def _victim(world: World) -> int:
    """The last admitted; by priority the least urgent, of equal ones the latest arrival."""
    engine = world.engine[0]
    worst = int(engine.running) - 1
    if not engine.by_priority:
        return worst
    for place in range(engine.running):
        rank, other = world.running[place], world.running[worst]
        mine, theirs = world.asked[rank].priority, world.asked[other].priority
        if mine > theirs or (mine == theirs and rank > other):
            worst = place
    return worst


@compiled
def remove_running(world: World, place: int) -> None:
    """Take a request out of the running list."""
    engine, running, due = world.engine[0], world.running, world.due
    for index in range(place, engine.running - 1):
        running[index], due[index] = running[index + 1], due[index + 1]
    engine.running -= 1


@compiled
def place_of(world: World, rank: int) -> int:
    """Where a request stands in the running list."""
    place = 0
    while world.running[place] != rank:
        place += 1
    return place


@compiled_apart
def preempt(world: World, place: int) -> None:
    """Take a request's blocks; it computes everything again when its turn comes."""
    engine, rank = world.engine[0], int(world.running[place])
    wake(world, place)
    list_own(world, rank)
    if place < engine.index:
        engine.index -= 1
        _take_part_back(world, rank)
    remove_running(world, place)
    release(world, rank)
    request = world.requests[rank]
    request.status = PREEMPTED
    request.lost, request.computed = request.computed, 0
    request.drafts = 0
    request.stale = request.in_flight
    request.placeholders = 0
    world.records[rank].preemptions += 1
    put_in_front(world, rank)
    world.preempted[engine.preempted] = rank
    engine.preempted += 1


@compiled
def _take_part_back(world: World, rank: int) -> None:
    """A request that had got tokens in this step has them no longer."""
    engine = world.engine[0]
    parts = world.parts[engine.sent & engine.ring]
    place = 0
    while place < engine.scheduled and parts[place].rank != rank:
        place += 1
    if place == engine.scheduled:
        return
    engine.tokens_left += parts[place].tokens
    engine.inputs_left += parts[place].tokens + engine.draft_rows
    for index in range(place, engine.scheduled - 1):
        following = parts[index + 1]
        parts[index].rank, parts[index].tokens = following.rank, following.tokens
        parts[index].drafts = following.drafts
    engine.scheduled -= 1


@compiled
def _note_outgrown(world: World, rank: int) -> None:
    """Again and again with no event in between means for ever."""
    engine, request = world.engine[0], world.requests[rank]
    if request.outgrown_events != engine.events:
        request.outgrown_events, request.outgrown_times = engine.events, 0
    request.outgrown_times += 1
    engine.outgrown = rank
    engine.thrashes = request.outgrown_times >= TIMES_ENOUGH


@compiled_apart
def abandon(world: World, rank: int) -> None:
    """A request that is over while it runs leaves the list."""
    place = place_of(world, rank)
    wake(world, place)
    remove_running(world, place)
