"""Which blocks are free, in which order they go out, and what the named ones hold.

Free blocks stand in a ring through the null block; blocks of one bucket of names stand in a chain,
the oldest name first, so that the first that fits is the one that vLLM finds.
"""

from vramledger.simulate.fast.blocks.world import NAMELESS, NOBODY, NULL, World
from vramledger.simulate.fast.compiled import compiled


@compiled
def _bucket(world: World, owner: int, name: int, group: int) -> int:
    """Names in a row stand in neighbouring buckets, so that a prefix is read as one piece of memory."""
    mixed = (owner + group * 0x517CC1B727220A95) * 0x2545F4914F6CDD1D
    far = (name >> 12) * 0x9E3779B97F4A7C1
    return ((mixed >> 32) + (far >> 20) + name) & (len(world.buckets) - 1)


@compiled
def find(world: World, owner: int, name: int, group: int) -> int:
    """The block that has had this name for longest, or NULL."""
    blocks = world.blocks
    block = world.buckets[_bucket(world, owner, name, group)].oldest
    while block != NULL:
        one = blocks[block]
        if one.name == name and one.owner == owner and one.group == group:
            return int(block)
        block = one.newer
    return NULL


@compiled
def publish(world: World, block: int, owner: int, name: int, group: int) -> None:
    """Let others find a block that is complete now."""
    engine, blocks = world.engine[0], world.blocks
    one, bucket = blocks[block], world.buckets[_bucket(world, owner, name, group)]
    one.owner, one.name, one.group = owner, name, group
    one.older, one.newer = bucket.newest, NULL
    if bucket.newest == NULL:
        bucket.oldest = block
    else:
        blocks[bucket.newest].newer = block
    bucket.newest = block
    if engine.hybrid or (name == engine.missing_name and owner == engine.missing_owner):
        engine.sought = NOBODY


@compiled
def _evict(world: World, block: int) -> None:
    engine, blocks = world.engine[0], world.blocks
    one = blocks[block]
    bucket = world.buckets[_bucket(world, one.owner, one.name, one.group)]
    if one.older == NULL:
        bucket.oldest = one.newer
    else:
        blocks[one.older].newer = one.newer
    if one.newer == NULL:
        bucket.newest = one.older
    else:
        blocks[one.newer].older = one.older
    one.group = NAMELESS
    engine.sought = NOBODY


@compiled
def _unlink(world: World, block: int) -> None:
    blocks = world.blocks
    before, after = blocks[block].before, blocks[block].after
    blocks[before].after = after
    blocks[after].before = before
    world.engine[0].free -= 1


@compiled
def _link_behind(world: World, block: int, before: int) -> None:
    blocks = world.blocks
    after = blocks[before].after
    blocks[block].before, blocks[block].after = before, after
    blocks[before].after = block
    blocks[after].before = block
    world.engine[0].free += 1


@compiled
def take(world: World) -> int:
    """The first free block; what it held is evicted."""
    block = int(world.blocks[NULL].after)
    _unlink(world, block)
    if world.blocks[block].group != NAMELESS:
        _evict(world, block)
    world.blocks[block].references = 1
    return block


@compiled
def touch(world: World, block: int) -> None:
    """Hold a block that was found by name."""
    if world.blocks[block].references == 0:
        _unlink(world, block)
    world.blocks[block].references += 1


@compiled
def give_back(world: World, block: int, first: int) -> int:
    """Let go of a block; one without a name goes behind `first` at the head of the queue.

    Returns the block behind which the next of the same request goes, NULL for the first.
    """
    one = world.blocks[block]
    one.references -= 1
    if one.references > 0:
        return first
    if one.group == NAMELESS and world.engine[0].uncached_first:
        _link_behind(world, block, first)
        return block
    _link_behind(world, block, world.blocks[NULL].before)
    return first
