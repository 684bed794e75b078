"""The blocks that requests hold, found, taken, named and given back."""

from vramledger.simulate.fast.blocks.agreement import agree
from vramledger.simulate.fast.blocks.names import name_of, owner_of, shared_blocks
from vramledger.simulate.fast.blocks.pool import (
    find,
    give_back,
    make_space,
    publish,
    put_first,
    take_row,
    touch,
)
from vramledger.simulate.fast.blocks.rows import NOBODY, NULL, OWN, STATEFUL
from vramledger.simulate.fast.blocks.states import clear_state, grow_state, name_states, state_need
from vramledger.simulate.fast.blocks.windows import is_kept, skipped_blocks
from vramledger.simulate.fast.blocks.world import World
from vramledger.simulate.fast.compiled import compiled, compiled_apart


@compiled
def look_up(world: World, rank: int) -> int:
    """Leading blocks of a request that need not be computed, left in `world.hit`.

    A request that looks again, with no name evicted and the one it missed not given, finds the same.
    """
    engine = world.engine[0]
    if not engine.caching:
        return 0
    if engine.sought != rank:
        _search(world, rank)
    found = int(engine.found)
    if engine.hybrid:
        return found
    return found - 1 if engine.drops_last and found > 0 else found


@compiled_apart
def _search(world: World, rank: int) -> None:
    engine, request = world.engine[0], world.requests[rank]
    size = engine.block_size
    tokens = int(request.prompt) + request.generated
    if engine.hybrid:
        engine.found = agree(world, rank, tokens) // size
        engine.sought = rank
        return
    limit = (tokens - 1) // size
    if engine.drops_last and engine.groups > 1:
        limit = tokens // size
    engine.sought = rank
    engine.found = limit
    engine.missing_owner, engine.missing_name = NOBODY, NOBODY
    for index in range(limit):
        owner, name = owner_of(world, rank, index), name_of(world, rank, index)
        for group in range(engine.groups):
            block = find(world, owner, name, group)
            if block == NULL:
                engine.found = index
                engine.missing_owner, engine.missing_name = owner, name
                return
            world.hit[group, index] = block


@compiled
def _evictable(world: World, group: int, start: int, found: int) -> int:
    """Blocks of a hit that are free and would leave the queue."""
    count = 0
    for index in range(start, found):
        block = world.hit[group, index]
        count += block != NULL and world.holds[block].references == 0
    return count


@compiled
def fits(
    world: World,
    rank: int,
    slots: int,
    scheduled: int,
    found: int,
    spare: int,
    capped: bool,  # noqa: FBT001 - compiled
) -> bool:
    """Whether a request that holds nothing can have places for `slots` tokens, of which some are scheduled.

    `capped` is the admission test, which counts no more of a window than it ever holds.
    """
    engine = world.engine[0]
    size = int(engine.block_size)
    required = -(-slots // size)
    room = int(engine.free) - spare
    for group in range(engine.groups):
        if world.groups[group].way == STATEFUL:
            room -= state_need(world, rank, group, found * size, scheduled, found, capped)
            continue
        skipped = skipped_blocks(world, group, found * size)
        within = capped or engine.always_capped
        most = min(required, int(world.groups[group].cap)) if within else required
        room -= max(most - max(skipped, found), 0)
    if room < 0 or room >= found * engine.groups:
        return bool(room >= 0)  # whether or not the blocks found are held by others
    for group in range(engine.groups):
        if world.groups[group].way == STATEFUL:
            continue
        room -= _evictable(world, group, skipped_blocks(world, group, found * size), found)
    return bool(room >= 0)


@compiled
def adopt(world: World, rank: int, found: int) -> None:
    """A table for a request that is admitted, with the blocks found that it will read."""
    engine, request = world.engine[0], world.requests[rank]
    engine.sought = NOBODY
    engine.unused -= 1
    request.table = world.unused[engine.unused]
    request.held = request.published = found
    held = 0
    for group in range(engine.groups):
        skipped = skipped_blocks(world, group, found * engine.block_size)
        for index in range(found):
            block = world.hit[group, index] if index >= skipped else NULL
            world.tables[request.table, group, index] = block
            if block != NULL:
                touch(world, block)
                held += 1
        if engine.stateful:
            clear_state(world, request.table, group, found)
    world.records[rank].block_ns -= held * engine.busy


@compiled
def grow(world: World, rank: int, slots: int, computed: int, scheduled: int) -> bool:
    """Take blocks until `slots` tokens have a place; False, and nothing taken, when they are short.

    `computed` are the tokens before this step: blocks before their windows are not asked for, though
    taken with the others. `scheduled` are those after it.
    """
    engine, request = world.engine[0], world.requests[rank]
    held = int(request.held)
    if slots <= held * engine.block_size and not engine.stateful:
        return True
    required = -(-slots // engine.block_size)
    need = 0
    for group in range(engine.groups):
        if world.groups[group].way == STATEFUL:
            need += state_need(world, rank, group, computed, scheduled, 0, False)
            continue
        most = min(required, int(world.groups[group].cap)) if engine.always_capped else required
        need += max(most - max(held, skipped_blocks(world, group, computed)), 0)
    if need > engine.free:
        return False
    take_places(world, rank, slots, scheduled)
    return True


@compiled
def take_places(world: World, rank: int, slots: int, scheduled: int) -> None:
    """Take the blocks that a request needs for `slots` tokens; there must be enough."""
    engine, request = world.engine[0], world.requests[rank]
    held, required = int(request.held), -(-slots // int(engine.block_size))
    taken = 0
    for group in range(engine.groups):
        if world.groups[group].way == STATEFUL:
            taken += grow_state(world, rank, group, scheduled)
        elif required > held:
            take_row(world, request.table, group, held, required)
            taken += required - held
    request.held = max(held, required)
    world.records[rank].block_ns -= taken * engine.busy


@compiled
def name_complete(world: World, rank: int, tokens: int) -> None:
    """Name the blocks that `tokens` tokens fill."""
    engine, request = world.engine[0], world.requests[rank]
    start = int(request.published)
    if engine.aligned:
        _name_with_states(world, rank, tokens)
    if not engine.caching or tokens < (start + 1) * engine.block_size:
        return
    end = tokens // engine.block_size
    if not engine.late or start < shared_blocks(world, rank):
        _name_blocks(world, rank, start, end)
        return
    for group in range(engine.groups):
        for index in range(start, end):
            world.marks[world.tables[request.table, group, index]] = OWN
    request.published = end


@compiled_apart
def _name_blocks(world: World, rank: int, start: int, end: int) -> None:
    engine, request = world.engine[0], world.requests[rank]
    shared = min(max(shared_blocks(world, rank), start), end)
    for group in range(engine.groups):
        if world.groups[group].way != STATEFUL:
            _name_shared(world, rank, group, start, shared)
            _name_own(world, rank, group, shared, end)
    request.published = end


@compiled_apart
def _name_with_states(world: World, rank: int, tokens: int) -> None:
    for group in range(world.engine[0].groups):
        if world.groups[group].way == STATEFUL:
            name_states(world, rank, group, int(world.requests[rank].published), tokens)


@compiled
def _name_own(world: World, rank: int, group: int, start: int, end: int) -> None:
    """Name blocks that only their own request can ask for."""
    table = world.requests[rank].table
    if world.engine[0].late:
        for index in range(start, end):
            world.marks[world.tables[table, group, index]] = OWN
        return
    for index in range(start, end):
        block = world.tables[table, group, index]
        if block != NULL and is_kept(world, rank, group, index):
            publish(world, block, -1 - rank, index, group)


@compiled_apart
def list_own(world: World, rank: int) -> None:
    """A request is about to be preempted: it may ask for its blocks again."""
    engine, request = world.engine[0], world.requests[rank]
    if not engine.late:
        return
    for group in range(engine.groups):
        for index in range(request.published):
            block = world.tables[request.table, group, index]
            if world.marks[block] == OWN:
                publish(world, block, -1 - rank, index, group)


@compiled
def _name_shared(world: World, rank: int, group: int, start: int, end: int) -> None:
    """Name blocks of a shared prefix, one recorded identity after another."""
    asked, table = world.asked[rank], world.requests[rank].table
    pieces, salt, index = world.pieces, asked.salt, start
    while index < end:
        recorded = index // pieces
        first = recorded * pieces
        base = world.prefix[asked.prefix_start + recorded] * pieces - first
        stop = min(end, first + pieces)
        while index < stop:
            block = world.tables[table, group, index]
            if block != NULL and is_kept(world, rank, group, index):
                publish(world, block, salt, base + index, group)
            index += 1


@compiled_apart
def release(world: World, rank: int) -> None:
    """Give all blocks of a request back, the last one first."""
    engine, request = world.engine[0], world.requests[rank]
    if request.table == NOBODY:
        return
    held = 0
    for group in range(engine.groups):
        stateful = world.groups[group].way == STATEFUL
        columns = int(world.states[request.table, group].held if stateful else request.held)
        make_space(world, columns)
        first = 0
        for index in range(columns - 1, -1, -1):
            block = world.tables[request.table, group, index]
            if block != NULL:
                first = give_back(world, block, first)
                held += 1
        put_first(world, first)
    world.records[rank].block_ns += held * engine.busy
    world.unused[engine.unused] = request.table
    engine.unused += 1
    request.table = NOBODY
    request.held = request.published = 0
