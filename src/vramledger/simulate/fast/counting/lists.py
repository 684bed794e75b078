"""The running list in the order of admission, and the calendar of last tokens."""

from vramledger.simulate.fast.compiled import compiled
from vramledger.simulate.fast.counting.world import NOBODY, World


@compiled
def append_running(world: World, slot: int) -> None:
    """Put a slot at the end of the running list."""
    state, slots = world.engine[0], world.slots
    slots[slot].before, slots[slot].after = state.last, NOBODY
    if state.last == NOBODY:
        state.first = slot
    else:
        slots[state.last].after = slot
    state.last = slot
    state.running += 1


@compiled
def remove_running(world: World, slot: int) -> None:
    """Take a slot out of the running list."""
    state, slots = world.engine[0], world.slots
    before, after = slots[slot].before, slots[slot].after
    if before == NOBODY:
        state.first = after
    else:
        slots[before].after = after
    if after == NOBODY:
        state.last = before
    else:
        slots[after].before = before
    state.running -= 1


@compiled
def enter_calendar(world: World, slot: int) -> None:
    """Note the step that brings a slot's last token."""
    slots, calendar = world.slots, world.calendar
    day = slots[slot].final & (len(calendar) - 1)
    follower = calendar[day]
    slots[slot].day_before, slots[slot].day_after = NOBODY, follower
    if follower != NOBODY:
        slots[follower].day_before = slot
    calendar[day] = slot


@compiled
def leave_calendar(world: World, slot: int) -> None:
    """Strike a slot out of the calendar."""
    slots, calendar = world.slots, world.calendar
    before, after = slots[slot].day_before, slots[slot].day_after
    if before == NOBODY:
        calendar[slots[slot].final & (len(calendar) - 1)] = after
    else:
        slots[before].day_after = after
    if after != NOBODY:
        slots[after].day_before = before
