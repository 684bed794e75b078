"""A step that the device has finished: its tokens come, requests end."""

from vramledger.simulate.fast.compiled import compiled
from vramledger.simulate.fast.counting.holding import release
from vramledger.simulate.fast.counting.world import NOBODY, World
from vramledger.simulate.fast.pausing import note_event
from vramledger.simulate.fast.records import INCOMPLETE, OK, UNSET


@compiled
def settle(world: World) -> None:
    """Take in the tokens of the oldest step in flight."""
    state = world.engine[0]
    flight = world.flights[state.settled & 1]
    state.now = max(state.now, flight.end_ns)
    state.came_before = state.settled_step
    state.settled_ns, state.settled_step = state.now, flight.step
    for index in range(flight.sampled):
        slot = world.sampled[state.settled & 1, index]
        if world.slots[slot].sampled_from == state.settled:
            _note_first(world, slot)
    for index in range(state.stale):
        _deliver_stale(world, world.stale[index])
    state.stale = 0
    day = state.settled & (len(world.calendar) - 1)
    slot = world.calendar[day]
    world.calendar[day] = NOBODY
    while slot != NOBODY:
        following = world.slots[slot].day_after
        release(world, slot)
        _finish(world, slot)
        slot = following
    state.events += flight.tokens
    state.settled += 1


@compiled
def _note_first(world: World, slot: int) -> None:
    """The first token since a slot was admitted, or the last before it waits again."""
    state, record = world.engine[0], world.records[world.slots[slot].rank]
    if record.first_token_ns == UNSET:
        record.first_token_ns, record.first_token_step = state.settled_ns, state.settled_step
    else:
        rank, last = world.slots[slot].rank, record.last_token_step
        note_event(world.pauses, state, rank, last, state.settled_step)


@compiled
def _deliver_stale(world: World, slot: int) -> None:
    """The token that was in flight when a slot was preempted; it may be its last."""
    state, one = world.engine[0], world.slots[slot]
    one.given += 1
    _note_first(world, slot)
    record = world.records[one.rank]
    record.last_token_ns, record.last_token_step = state.settled_ns, state.settled_step
    if one.given < one.limit:
        return
    place = state.stacked - 1
    while world.stack[place] != slot:
        place -= 1
    for index in range(place, state.stacked - 1):
        world.stack[index] = world.stack[index + 1]
    state.stacked -= 1
    state.waiting -= 1
    _finish(world, slot)


@compiled
def _finish(world: World, slot: int) -> None:
    """A request got its last token."""
    state, one = world.engine[0], world.slots[slot]
    record = world.records[one.rank]
    record.last_token_ns, record.last_token_step = state.settled_ns, state.settled_step
    record.output_tokens = one.limit
    whole = one.limit == world.asked[one.rank].output_tokens
    record.ending = OK if whole else INCOMPLETE
    state.ended += 1
    state.prompts -= one.prompt
    world.unused[state.unused] = slot
    state.unused += 1
