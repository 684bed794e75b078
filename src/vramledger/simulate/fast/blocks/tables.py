"""The blocks that requests hold, found, taken, named and given back."""

from vramledger.simulate.fast.blocks.pool import find, give_back, publish, take, touch
from vramledger.simulate.fast.blocks.world import NOBODY, NULL, World
from vramledger.simulate.fast.compiled import compiled


@compiled
def _owner(world: World, rank: int, index: int) -> int:
    asked = world.asked[rank]
    shared = index < asked.prefix_length * world.pieces
    return int(asked.salt) if shared else -1 - rank


@compiled
def _name(world: World, rank: int, index: int) -> int:
    asked = world.asked[rank]
    if index >= asked.prefix_length * world.pieces:
        return index
    if world.pieces == 1:
        return int(world.prefix[asked.prefix_start + index])
    recorded = index // world.pieces
    identity = world.prefix[asked.prefix_start + recorded]
    return int(identity * world.pieces + index - recorded * world.pieces)


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
    return found - 1 if engine.drops_last and found > 0 else found


@compiled
def _search(world: World, rank: int) -> None:
    engine, request = world.engine[0], world.requests[rank]
    size = engine.block_size
    tokens = int(request.prompt) + request.generated
    limit = (tokens - 1) // size
    if engine.drops_last and engine.groups > 1:
        limit = tokens // size
    engine.sought = rank
    engine.found = limit
    engine.missing_owner, engine.missing_name = NOBODY, NOBODY
    for index in range(limit):
        owner, name = _owner(world, rank, index), _name(world, rank, index)
        for group in range(engine.groups):
            block = find(world, owner, name, group)
            if block == NULL:
                engine.found = index
                engine.missing_owner, engine.missing_name = owner, name
                return
            world.hit[group, index] = block


@compiled
def evictable(world: World, found: int) -> int:
    """Blocks of a hit that are free and would leave the queue."""
    count = 0
    for group in range(world.engine[0].groups):
        for index in range(found):
            count += world.blocks[world.hit[group, index]].references == 0
    return count


@compiled
def fits(world: World, slots: int, found: int, spare: int) -> bool:
    """Whether a request that holds nothing can have places for `slots` tokens."""
    engine = world.engine[0]
    required = -(-slots // engine.block_size)
    room = engine.free - spare - max(required - found, 0) * engine.groups
    if room < 0 or room >= found * engine.groups:
        return bool(room >= 0)  # whether or not the blocks found are held by others
    return bool(room >= evictable(world, found))


@compiled
def adopt(world: World, rank: int, found: int) -> None:
    """A table for a request that is admitted, with the blocks found."""
    engine, request = world.engine[0], world.requests[rank]
    engine.sought = NOBODY
    engine.unused -= 1
    request.table = world.unused[engine.unused]
    request.held = request.published = found
    for group in range(engine.groups):
        for index in range(found):
            block = world.hit[group, index]
            touch(world, block)
            world.tables[request.table, group, index] = block
    world.records[rank].block_ns -= found * engine.groups * engine.busy


@compiled
def grow(world: World, rank: int, slots: int) -> bool:
    """Take blocks until `slots` tokens have a place; False, and nothing taken, when they are short."""
    engine, request = world.engine[0], world.requests[rank]
    held = int(request.held)
    if slots <= held * engine.block_size:
        return True
    missing = -(-slots // engine.block_size) - held
    if missing * engine.groups > engine.free:
        return False
    for group in range(engine.groups):
        for index in range(held, held + missing):
            world.tables[request.table, group, index] = take(world)
    request.held += missing
    world.records[rank].block_ns -= missing * engine.groups * engine.busy
    return True


@compiled
def name_complete(world: World, rank: int, tokens: int) -> None:
    """Name the blocks that `tokens` tokens fill."""
    engine, request = world.engine[0], world.requests[rank]
    start = int(request.published)
    if not engine.caching or tokens < (start + 1) * engine.block_size:
        return
    end = tokens // engine.block_size
    for group in range(engine.groups):
        for index in range(start, end):
            block = world.tables[request.table, group, index]
            publish(world, block, _owner(world, rank, index), _name(world, rank, index), group)
    request.published = end


@compiled
def release(world: World, rank: int) -> None:
    """Give all blocks of a request back, the last one first."""
    engine, request = world.engine[0], world.requests[rank]
    if request.table == NOBODY:
        return
    for group in range(engine.groups):
        first = NULL
        for index in range(request.held - 1, -1, -1):
            first = give_back(world, world.tables[request.table, group, index], first)
    world.records[rank].block_ns += request.held * engine.groups * engine.busy
    world.unused[engine.unused] = request.table
    engine.unused += 1
    request.table = NOBODY
    request.held = request.published = 0
