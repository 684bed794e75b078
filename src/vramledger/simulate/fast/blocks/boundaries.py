"""Where in a prompt windows and states are kept for later requests, after `cache.boundaries`."""

from vramledger.simulate.fast.blocks.rows import EVERY_BLOCK
from vramledger.simulate.fast.blocks.world import World
from vramledger.simulate.fast.compiled import compiled


@compiled
def last_state(world: World, tokens: int) -> int:
    """The last position in so many tokens whose state a later request can use; 0 for none."""
    size = int(world.engine[0].block_size)
    if world.engine[0].drops_last:
        return max(tokens // size * size - size, 0)
    return (tokens - 1) // size * size


@compiled
def keeps_anyway(world: World, index: int) -> bool:
    """Whether the state at the end of block `index` is kept in every prompt."""
    engine = world.engine[0]
    if engine.interval == EVERY_BLOCK:
        return True
    if engine.interval <= 0:
        return False
    return bool((index + 1) % max(1, engine.interval // engine.block_size) == 0)


@compiled
def keeps_state(world: World, rank: int, index: int) -> bool:
    """Whether the state at the end of a request's block `index` is kept."""
    if keeps_anyway(world, index):
        return True
    engine, request = world.engine[0], world.requests[rank]
    size, prompt = int(engine.block_size), int(request.prompt)
    first = second = prompt - 1
    if engine.drops_last:
        first = max((prompt - 1) // size * size - size, 0)
        second = max(prompt // size * size - size, 0)
    if index == first // size - 1 or index == second // size - 1:
        return True
    return bool(request.branch > 0 and index == request.branch // size - 1)
