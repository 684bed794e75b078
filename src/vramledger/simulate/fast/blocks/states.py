"""Groups of recurrent states: what a request holds of them, after `cache.state` and `cache.checkpoint`.

Without prefix caching a request holds `ENGINE`-wide constant many. With it a table has a column for each block of
tokens, most of them empty: `STATE` has what else is known of a table's columns in such a group.
"""

from vramledger.simulate.fast.blocks.boundaries import keeps_anyway, keeps_state, last_state
from vramledger.simulate.fast.blocks.chunks import can_write
from vramledger.simulate.fast.blocks.names import name_of, owner_of
from vramledger.simulate.fast.blocks.pool import (
    forget,
    give_back,
    holds_name,
    make_space,
    publish,
    put_first,
    stamp,
    take_row,
)
from vramledger.simulate.fast.blocks.rows import LISTED, NOBODY, NULL
from vramledger.simulate.fast.blocks.world import World
from vramledger.simulate.fast.compiled import compiled, compiled_apart


@compiled_apart
def state_need(
    world: World,
    rank: int,
    group: int,
    computed: int,
    scheduled: int,
    found: int,
    capped: bool,  # noqa: FBT001 - compiled
) -> int:
    """Blocks of a group that must leave the free queue; more than the pool has where it must wait.

    `found` blocks come from a look-up, of a request that holds nothing. `capped` is the admission test;
    without it a state to be written inside the chunk is noted in `World.wanted`.
    """
    engine, table = world.engine[0], world.requests[rank].table
    speculative = int(world.groups[group].speculative)
    held, began = 0, False
    if table != NOBODY:
        held, began = int(world.states[table, group].held), bool(world.states[table, group].began)
    if not engine.caching:
        return max(1 + speculative - held, 0)
    evictable = 0
    if found > 0:
        last = world.hit[group, found - 1]
        if world.blocks[last].stamp == engine.next_step:
            return int(engine.usable_blocks) + 2
        evictable = 1 if world.holds[last].references == 0 else 0
    most = 1 + (0 if began else speculative)
    if world.groups[group].alignment > 0:
        most += _inside(world, rank, group, computed, scheduled, capped)
    fresh = -(-scheduled // engine.block_size) + speculative - found - held
    return int(min(fresh, most)) + evictable


@compiled
def _inside(
    world: World,
    rank: int,
    group: int,
    computed: int,
    scheduled: int,
    capped: bool,  # noqa: FBT001 - compiled
) -> int:
    """One block for a state inside the chunk, or none."""
    position = _wanted(world, rank, group, computed, scheduled)
    if not capped:
        world.groups[group].wanted = position
    return 1 if position > 0 else 0


@compiled
def _wanted(world: World, rank: int, group: int, start: int, end: int) -> int:
    """The position of the state that shall be written inside a chunk, or NOBODY."""
    engine, request = world.engine[0], world.requests[rank]
    position = last_state(world, end)
    known = int(request.prompt) + int(request.generated)
    if engine.interval == 0 and end < max(int(request.prompt), known - 1):
        return NOBODY
    if not can_write(world, start, end, position, int(world.groups[group].alignment)):
        return NOBODY
    column = -(-end // int(engine.block_size)) - 2
    if column < 0:
        return NOBODY
    if request.table != NOBODY:
        state = world.states[request.table, group]
        scratch = state.began and column >= state.held - world.groups[group].speculative
        taken = column < state.held and world.tables[request.table, group, column] != NULL
        if taken and not scratch:
            return NOBODY
    return position


@compiled_apart
def grow_state(world: World, rank: int, group: int, scheduled: int) -> int:
    """Take the blocks of the running state and of the drafts; returns how many were taken."""
    engine, table = world.engine[0], world.requests[rank].table
    state, speculative = world.states[table, group], int(world.groups[group].speculative)
    before = int(state.held)
    if not engine.caching:
        if before == 0:
            take_row(world, table, group, 0, 1 + speculative)
            state.held = 1 + speculative
        return int(state.held) - before
    state.position = world.groups[group].wanted if world.groups[group].alignment > 0 else NOBODY
    state.column = -(-scheduled // engine.block_size) - 2
    spared = 1 if state.position > 0 else 0
    required = -(-scheduled // engine.block_size) + speculative
    began, state.began = bool(state.began), True
    if required <= before and spared == 0:
        return 0
    if began:
        state.previous = before - 1 - speculative
    elif before > 0:
        state.previous = before - 1
    end = _move_scratch(world, table, group, before, required - speculative - 1 - spared, began)
    if required > end:
        take_row(world, table, group, end, required)
    state.held = max(end, required)
    return int(max(required - end, 0))


@compiled
def _move_scratch(
    world: World,
    table: int,
    group: int,
    before: int,
    empty: int,
    began: bool,  # noqa: FBT001 - compiled
) -> int:
    """Empty columns up to `empty`, and behind them the drafts' blocks from before; returns their end."""
    end = before
    while end < empty:
        world.tables[table, group, end] = NULL
        end += 1
    if began:
        for column in range(before - world.groups[group].speculative, min(before, empty)):
            world.tables[table, group, end] = world.tables[table, group, column]
            world.tables[table, group, column] = NULL
            end += 1
    return end


@compiled_apart
def name_states(world: World, rank: int, group: int, start: int, tokens: int) -> None:
    """Name the states at block boundaries from block `start` on; nobody can use them in the same step."""
    table, end = world.requests[rank].table, tokens // int(world.engine[0].block_size)
    for index in range(start, end):
        block = world.tables[table, group, index]
        if block != NULL and keeps_state(world, rank, index):
            _publish(world, rank, group, index, block)
    if world.states[table, group].position > 0:
        _name_inside(world, rank, group)
    else:
        _stamp_tail(world, rank, group, tokens)


@compiled
def _publish(world: World, rank: int, group: int, index: int, block: int) -> None:
    owner, name = owner_of(world, rank, index), name_of(world, rank, index)
    publish(world, block, owner, name, group)
    stamp(world, owner, name, group)


@compiled
def _stamp_tail(world: World, rank: int, group: int, tokens: int) -> None:
    """The prompt's last state counts as named in every step in which its request stays within the next block."""
    engine, request = world.engine[0], world.requests[rank]
    size = int(engine.block_size)
    if (engine.groups == 1 and tokens % size > 0) or tokens < size:
        return
    index = tokens // size - 1
    if (
        (index + 1) * size == last_state(world, int(request.prompt))
        and index < world.states[request.table, group].held
        and world.tables[request.table, group, index] != NULL
    ):
        stamp(world, owner_of(world, rank, index), name_of(world, rank, index), group)


@compiled
def _name_inside(world: World, rank: int, group: int) -> None:
    """Name the state inside the chunk; one that serves nobody has no name."""
    engine, request = world.engine[0], world.requests[rank]
    state = world.states[request.table, group]
    block, index = (
        world.tables[request.table, group, state.column],
        state.position // engine.block_size - 1,
    )
    if block == NULL:
        return
    serves = keeps_anyway(world, index) or state.position == request.branch
    serves = serves or state.position == last_state(world, int(request.prompt))
    owner, name = owner_of(world, rank, index), name_of(world, rank, index)
    if serves and holds_name(world, block, owner, name, group):
        return
    if world.marks[block] == LISTED:
        forget(world, block)
    if serves:
        _publish(world, rank, group, index, block)


@compiled_apart
def forget_states(world: World, rank: int, group: int, processed: int) -> int:
    """Give back states before the running one, and the one that it was copied from; returns how many."""
    engine, table = world.engine[0], world.requests[rank].table
    if not engine.caching:
        return 0
    state, size, freed = world.states[table, group], int(engine.block_size), 0
    make_space(world, int(state.held))
    if processed > 1:
        end = min((processed - 1) // size, int(state.held))
        first = 0
        for column in range(end - 1, state.retired - 1, -1):
            block = world.tables[table, group, column]
            if block != NULL:
                first = give_back(world, block, first)
                world.tables[table, group, column] = NULL
                freed += 1
        put_first(world, first)
        state.retired = max(end, int(state.retired))
    column = int(state.previous)
    if column < 0 or column >= -(-processed // size) - 1:
        return freed
    block = world.tables[table, group, column]
    if block != NULL:
        put_first(world, give_back(world, block, 0))
        world.tables[table, group, column] = NULL
        freed += 1
    return freed


@compiled_apart
def clear_state(world: World, table: int, group: int, held: int) -> None:
    """A table goes to another request, which holds `held` columns of it."""
    state = world.states[table, group]
    state.held, state.began, state.retired = held, False, 0
    state.previous = state.position = state.column = NOBODY
