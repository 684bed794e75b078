"""Groups of sliding windows: which blocks lie before the window, and which are kept for others.

After `cache.window` and `cache.boundaries`. A window of 0 stands for full attention.
"""

from vramledger.simulate.fast.blocks.pool import give_back, make_space, put_first
from vramledger.simulate.fast.blocks.rows import EVERY_BLOCK, FULL, NULL, STATEFUL, WINDOW
from vramledger.simulate.fast.blocks.states import forget_states
from vramledger.simulate.fast.blocks.world import World
from vramledger.simulate.fast.compiled import compiled


@compiled
def skipped_blocks(world: World, group: int, computed: int) -> int:
    """Leading blocks of a group that nobody reads once `computed` tokens are there."""
    way, size = world.groups[group].way, int(world.engine[0].block_size)
    if way == FULL:
        return 0
    if way == STATEFUL:
        return max(0, computed - 1) // size
    return max(0, computed - int(world.groups[group].window) + 1) // size


@compiled
def width(world: World, group: int, dropped: int) -> int:
    """Blocks in a row that stand for a whole prefix."""
    return -(-(int(world.groups[group].window) - 1) // int(world.engine[0].block_size)) + dropped


@compiled
def forget_skipped(world: World, rank: int) -> None:
    """Give back blocks before the windows of the tokens that the device has processed."""
    engine, request = world.engine[0], world.requests[rank]
    if not engine.hybrid:
        return
    in_flight = int(request.in_flight) if engine.processed_only else 0
    processed = max(0, int(request.computed) - in_flight)
    freed = 0
    for group in range(engine.groups):
        if world.groups[group].way == STATEFUL:
            freed += forget_states(world, rank, group, processed)
        if world.groups[group].way != WINDOW:
            continue
        first = 0
        end = min(skipped_blocks(world, group, processed), int(request.held))
        make_space(world, end)
        for index in range(end - 1, -1, -1):
            block = world.tables[request.table, group, index]
            if block == NULL:
                break
            first = give_back(world, block, first)
            world.tables[request.table, group, index] = NULL
            freed += 1
        put_first(world, first)
    world.records[rank].block_ns += freed * engine.busy


@compiled
def is_kept(world: World, rank: int, group: int, index: int) -> bool:
    """Whether a later request could ask for a complete block."""
    engine = world.engine[0]
    if world.groups[group].way == FULL:
        return True
    shift = 1 if engine.drops_last else 0
    wide = width(world, group, shift)
    if engine.interval == EVERY_BLOCK:
        return wide >= 1
    if engine.interval > 0:
        every = engine.interval // engine.block_size
        if wide >= every or (index >= shift and (index - shift) % every >= every - wide):
            return True
    return _ends_at_boundary(world, rank, index - shift, wide)


@compiled
def _ends_at_boundary(world: World, rank: int, index: int, wide: int) -> bool:
    engine, request = world.engine[0], world.requests[rank]
    size, prompt, branch = engine.block_size, int(request.prompt), int(request.branch)
    first = second = prompt - 1
    if engine.drops_last:
        first = max((prompt - 1) // size * size - size, 0)
        second = max(prompt // size * size - size, 0)
    tail = first // size - wide <= index < first // size
    tail |= second // size - wide <= index < second // size
    return bool(tail or (branch > 0 and branch // size - wide <= index < branch // size))
