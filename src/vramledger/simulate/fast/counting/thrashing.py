"""Requests that outgrow the whole pool: computed and preempted for ever, as `loop` notices it."""

from vramledger.simulate.fast.compiled import compiled
from vramledger.simulate.fast.counting.world import World
from vramledger.simulate.sentences import TIMES_ENOUGH


@compiled
def notice_outgrown(world: World) -> None:
    """After preemptions: a request that nobody is left beside preempted itself.

    Again and again with no event in between means for ever.
    """
    state = world.engine[0]
    if state.running > 0:
        return
    one = world.slots[world.stack[state.stacked - 1]]
    if one.outgrown_events != state.events:
        one.outgrown_events, one.outgrown_times = state.events, 0
    one.outgrown_times += 1
    state.outgrown = one.rank
    state.thrashes = one.outgrown_times >= TIMES_ENOUGH
