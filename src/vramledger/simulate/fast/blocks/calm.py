"""Decodes to which nothing can happen for some steps: counted together, not looked at one by one.

Between two block edges a decode gets its token in every step, takes no block and does not end. It rests until a step
in which that changes is `World.due`; what it computed meanwhile is the number of steps that were sent, and what it was
given the number of those that came back. `wake` writes both down, as if every step had been gone through.

Only where nothing else depends on each step (`world.may_rest`): first come first served, no drafts, no windows or states,
no threshold, tokens for all sequences, so that decodes are never short of them, and
nobody passed over while a token of theirs is on its way through pipeline stages. The one request in the middle
of its prefill is then the last of the running list, since its chunk used up the budget. A resting decode
names its blocks late: they are behind the prefix that others may have, so nobody looks for them.
"""

from vramledger.simulate.fast.blocks.names import shared_blocks
from vramledger.simulate.fast.blocks.rows import NOBODY
from vramledger.simulate.fast.blocks.tables import name_complete
from vramledger.simulate.fast.blocks.world import World
from vramledger.simulate.fast.compiled import compiled

_WORTH = 2  # steps that a rest must last


@compiled
def rest(world: World, rank: int, place: int) -> None:
    """Let a decode rest from the next step on, if that is worth it."""
    engine, request = world.engine[0], world.requests[rank]
    if engine.caching and request.published < shared_blocks(world, rank):
        return
    whole = min(int(request.prompt) + request.asked, engine.max_model_len)
    computed = int(request.computed)
    steps = min(request.held * engine.block_size, whole - 2) - computed
    if steps < _WORTH:
        return
    request.rests_from = engine.sent + 1
    world.due[place] = engine.sent + 1 + steps
    engine.resting += 1
    engine.resting_context += computed


@compiled
def wake(world: World, place: int) -> None:
    """Write down what a decode got while it rested; nothing for one that did not."""
    engine, rank = world.engine[0], world.running[place]
    request = world.requests[rank]
    since = request.rests_from
    if since == NOBODY:
        return
    request.rests_from, world.due[place] = NOBODY, NOBODY
    back = max(engine.settled, since)
    given = back - since
    request.computed += engine.sent - since
    request.generated += given
    engine.resting -= 1
    engine.resting_context -= request.computed
    engine.tokens_left += 1
    engine.inputs_left += 1
    if given > 0:
        record = world.records[rank]
        record.last_token_ns, record.last_token_step = engine.settled_ns, engine.settled_step
    for step in range(back, engine.sent):
        _join(world, step & engine.ring, rank)
    known = int(request.prompt) + request.generated
    name_complete(world, rank, known - engine.returned)


@compiled
def _join(world: World, place: int, rank: int) -> None:
    """A token of a step in flight stands beside those of requests that did not rest."""
    engine, flight, request = world.engine[0], world.flights[place], world.requests[rank]
    part = world.parts[place, flight.parts]
    part.rank, part.tokens, part.drafts, part.sampled = rank, 1, 0, 1
    flight.parts += 1
    flight.resting -= 1
    request.in_flight += 1
    if engine.asynchronous:
        request.placeholders += 1
