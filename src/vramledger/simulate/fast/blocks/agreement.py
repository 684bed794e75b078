"""The longest prefix that groups of several kinds still have, after `cache.lookup`."""

from vramledger.simulate.fast.blocks.names import name_of, owner_of
from vramledger.simulate.fast.blocks.pool import find
from vramledger.simulate.fast.blocks.rows import FULL, NOBODY, NULL, STATEFUL, WINDOW
from vramledger.simulate.fast.blocks.windows import width
from vramledger.simulate.fast.blocks.world import World
from vramledger.simulate.fast.compiled import compiled, compiled_apart


@compiled_apart
def agree(world: World, rank: int, tokens: int) -> int:
    """Tokens of the prefix that every kind has, of the first `tokens`; blocks are left in `world.hit`."""
    engine, kinds = world.engine[0], world.kinds
    for kind in range(len(kinds)):
        kinds[kind].found, kinds[kind].dropped = NOBODY, 0
    once = len(kinds) == 1 and engine.groups == 1
    once |= len(kinds) == 2 and world.groups[world.groups[0].member].way == FULL
    longest, limit = 0, tokens - 1
    while True:
        length = limit
        for kind in range(len(kinds)):
            length = _shorten(world, rank, kind, length, tokens)
            longest = max(longest, int(kinds[kind].found))
        settled = length >= limit
        limit = min(limit, length)
        if settled or once:
            break
    engine.branch = longest if longest > limit else 0
    return limit


@compiled
def _shorten(world: World, rank: int, kind: int, length: int, tokens: int) -> int:
    engine, one = world.engine[0], world.kinds[kind]
    way = world.groups[world.groups[one.first].member].way
    if way == FULL and one.found != NOBODY:
        return min(length, int(one.found))
    size = int(engine.block_size)
    drop = 1 if engine.drops_last and not one.dropped else 0
    reach = length
    if drop and way != STATEFUL and not (len(world.kinds) == 1 and engine.groups == 1):
        reach = min(length + size, tokens // size * size)
    blocks = reach // size
    if way == FULL:
        blocks = _run(world, rank, kind, blocks, drop)
    elif way == WINDOW:
        blocks = _tail(world, rank, kind, blocks, drop)
    else:
        blocks = _last_state(world, rank, kind, blocks)
    one.found = blocks * size
    if drop:
        one.dropped = 1
    elif one.found < length:
        for other in range(len(world.kinds)):
            world.kinds[other].dropped = 0
    return int(one.found)


@compiled
def _is_there(world: World, rank: int, kind: int, index: int) -> bool:
    """Whether every group of a kind has a block."""
    one = world.kinds[kind]
    owner, name = owner_of(world, rank, index), name_of(world, rank, index)
    for member in range(one.first, one.first + one.count):
        group = world.groups[member].member
        block = find(world, owner, name, group)
        if block == NULL:
            return False
        world.hit[group, index] = block
    return True


@compiled
def _run(world: World, rank: int, kind: int, count: int, drop: int) -> int:
    """Blocks from the start that full attention has."""
    index = 0
    while index < count and _is_there(world, rank, kind, index):
        index += 1
    return index - drop if index > 0 else 0


@compiled
def _tail(world: World, rank: int, kind: int, count: int, drop: int) -> int:
    """Blocks up to the end of the last tail of the window's width; before it stand null blocks."""
    one = world.kinds[kind]
    wanted = width(world, int(world.groups[one.first].member), drop)
    run = end = 0
    for index in range(count - 1, -1, -1):
        if not _is_there(world, rank, kind, index):
            run = 0
            continue
        run += 1
        if run >= wanted:
            end = index + run
            break
    kept = end if end > 0 else run
    for member in range(one.first, one.first + one.count):
        for index in range(kept - run):
            world.hit[world.groups[member].member, index] = NULL
    return kept - drop if kept > 0 else 0


@compiled
def _last_state(world: World, rank: int, kind: int, count: int) -> int:
    """Blocks up to the last state that is there; before it stand null blocks."""
    one, index = world.kinds[kind], count - 1
    while index >= 0 and not _is_there(world, rank, kind, index):
        index -= 1
    for member in range(one.first, one.first + one.count):
        for before in range(index):
            world.hit[world.groups[member].member, before] = NULL
    return index + 1
