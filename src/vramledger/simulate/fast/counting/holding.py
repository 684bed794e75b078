"""Slots that begin and stop to decode, and that give their blocks back."""

from vramledger.simulate.fast.compiled import compiled
from vramledger.simulate.fast.counting.lists import (
    enter_calendar,
    leave_calendar,
    remove_running,
)
from vramledger.simulate.fast.counting.world import (
    DECODING,
    LAST_IN_FLIGHT,
    NOBODY,
    PREFILLING,
    WAITING,
    World,
)


@compiled
def begin_decoding(world: World, slot: int) -> None:
    """The step that is being sent completes a slot's prefill and brings its first token."""
    state, one = world.engine[0], world.slots[slot]
    one.final = one.sampled_from + one.limit - one.given - 1
    enter_calendar(world, slot)
    if one.final == one.sampled_from:
        one.stage = LAST_IN_FLIGHT
        return
    one.stage = DECODING
    one.phase = (one.computed - one.sampled_from - 1) % state.block_size
    phase = world.phases[one.phase]
    one.phase_before = phase.taken_ns
    phase.decodes += 1
    state.decoding += 1
    state.context += one.computed


@compiled
def stop_decoding(world: World, slot: int, computed: int) -> None:
    """A slot takes no more blocks after `computed` tokens; settle which it took while decoding."""
    state, one = world.engine[0], world.slots[slot]
    phase = world.phases[one.phase]
    phase.decodes -= 1
    state.decoding -= 1
    state.context -= computed
    one.taken_ns += phase.taken_ns - one.phase_before
    one.blocks = -(-computed // state.block_size)
    one.stage = LAST_IN_FLIGHT


@compiled
def release(world: World, slot: int) -> None:
    """Give all blocks of a running slot back and take it out of the list."""
    state, one = world.engine[0], world.slots[slot]
    state.free += one.blocks * state.groups
    held_ns = (one.blocks * state.busy - one.taken_ns) * state.groups
    world.records[one.rank].block_ns += held_ns
    one.blocks = 0
    one.taken_ns = 0
    remove_running(world, slot)


@compiled
def preempt_last(world: World) -> None:
    """Take the last admitted slot's blocks; it waits in front of all others."""
    state = world.engine[0]
    slot = state.last
    one = world.slots[slot]
    if one.stage == PREFILLING:
        state.prefilling = NOBODY
    else:
        _interrupt_decoding(world, slot)
    release(world, slot)
    one.stage = WAITING
    one.lost, one.computed, one.sampled_from = one.computed, 0, NOBODY
    world.records[one.rank].preemptions += 1
    world.stack[state.stacked] = slot
    state.stacked += 1
    state.waiting += 1
    state.preempted += 1


@compiled
def _interrupt_decoding(world: World, slot: int) -> None:
    """Count what a slot was given so far, and note a token that is still in flight."""
    state, one = world.engine[0], world.slots[slot]
    leave_calendar(world, slot)
    computed = one.computed + min(state.sent - 1, one.final) - one.sampled_from
    if one.stage == DECODING:
        stop_decoding(world, slot, computed)
    one.computed = computed
    delivered = state.settled - one.sampled_from
    if delivered > 0:
        one.given += delivered
        record = world.records[one.rank]
        record.last_token_ns, record.last_token_step = state.settled_ns, state.settled_step
    if state.sent > state.settled:
        world.stale[state.stale] = slot
        state.stale += 1
