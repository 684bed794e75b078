"""What names the content of a block, after `keys.block_key`."""

from vramledger.simulate.fast.blocks.world import World
from vramledger.simulate.fast.compiled import compiled


@compiled
def shared_blocks(world: World, rank: int) -> int:
    """Leading blocks of a request that others may have."""
    return int(world.asked[rank].prefix_length) * world.pieces


@compiled
def owner_of(world: World, rank: int, index: int) -> int:
    """The salt of a prefix that others may have, or a number below 0 for a request's own block."""
    return int(world.asked[rank].salt) if index < shared_blocks(world, rank) else -1 - rank


@compiled
def name_of(world: World, rank: int, index: int) -> int:
    """The identity of a shared block, or the place of a request's own."""
    asked = world.asked[rank]
    if index >= shared_blocks(world, rank):
        return index
    if world.pieces == 1:
        return int(world.prefix[asked.prefix_start + index])
    recorded = index // world.pieces
    identity = world.prefix[asked.prefix_start + recorded]
    return int(identity * world.pieces + index - recorded * world.pieces)
