"""Which blocks are free, in which order they go out, and what the named ones hold.

Free blocks stand in a row of slots, `ring`, from `head` to `tail`; a block that is held again leaves its slot behind,
which is passed over later. Listed blocks of one bucket of names stand in a chain, the oldest name first, so
that the first that fits is the one that vLLM finds.

Where every group keeps all its blocks (`ENGINE.late`), blocks that only their own request can ask for are `OWN` until
it is preempted: named, but in no bucket, since nobody looks for them before.
"""

from vramledger.simulate.fast.blocks.rows import HELD, LISTED, NAMELESS, NOBODY, NULL
from vramledger.simulate.fast.blocks.world import World
from vramledger.simulate.fast.compiled import compiled, compiled_apart


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
    world.marks[block] = LISTED
    if engine.hybrid or (name == engine.missing_name and owner == engine.missing_owner):
        engine.sought = NOBODY


@compiled
def stamp(world: World, owner: int, name: int, group: int) -> None:
    """Note that a name was given in this step, on all blocks that have it."""
    blocks = world.blocks
    block = world.buckets[_bucket(world, owner, name, group)].oldest
    while block != NULL:
        if holds_name(world, block, owner, name, group):
            world.blocks[block].stamp = world.engine[0].next_step
        block = blocks[block].newer


@compiled
def holds_name(world: World, block: int, owner: int, name: int, group: int) -> bool:
    """Whether a block is listed under a name."""
    one = world.blocks[block]
    if world.marks[block] != LISTED:
        return False
    return bool(one.name == name and one.owner == owner and one.group == group)


@compiled
def forget(world: World, block: int) -> None:
    """Let nobody find a listed block any more."""
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
    world.marks[block] = NAMELESS
    engine.sought = NOBODY


@compiled
def take_row(world: World, table: int, group: int, start: int, end: int) -> None:
    """The first free blocks into columns of a table; what they held is evicted. Too few break the engine."""
    engine, ring, holds = world.engine[0], world.ring, world.holds
    if end - start > engine.free:
        engine.broken = True
        return
    mask, head, index = len(ring) - 1, engine.head, start
    while index < end:
        slot = head & mask
        head += 1
        block = ring[slot]
        one = holds[block]
        if one.place != slot:
            continue
        if world.marks[block] == LISTED:
            forget(world, block)
        world.marks[block] = NAMELESS
        one.references, one.place = 1, HELD
        world.tables[table, group, index] = block
        index += 1
    engine.head = head
    engine.free -= end - start


@compiled
def touch(world: World, block: int) -> None:
    """Hold a block that was found by name."""
    one = world.holds[block]
    if one.references == 0:
        one.place = HELD
        world.engine[0].free -= 1
    one.references += 1


@compiled
def make_space(world: World, count: int) -> None:
    """Room for `count` more slots at either end: free blocks close up where others have left."""
    engine, ring = world.engine[0], world.ring
    if engine.tail - engine.head + count > len(ring):
        _close_up(world)


@compiled_apart
def _close_up(world: World) -> None:
    engine, ring, holds = world.engine[0], world.ring, world.holds
    mask, place = len(ring) - 1, engine.head
    for old in range(engine.head, engine.tail):
        block = ring[old & mask]
        if holds[block].place == old & mask:
            ring[place & mask] = block
            holds[block].place = place & mask
            place += 1
    engine.tail = place


@compiled
def give_back(world: World, block: int, first: int) -> int:
    """Let go of a block, which goes out after all others; one without a name goes first.

    There must be space. Those that go first are only put aside, behind `first` others, for `put_first`; returns
    how many there are now.
    """
    engine, one = world.engine[0], world.holds[block]
    one.references -= 1
    if one.references > 0:
        return first
    if engine.uncached_first and world.marks[block] == NAMELESS:
        world.aside[first] = block
        return first + 1
    slot = engine.tail & (len(world.ring) - 1)
    world.ring[slot], one.place = block, slot
    engine.tail += 1
    engine.free += 1
    return first


@compiled
def put_first(world: World, count: int) -> None:
    """The blocks put aside go out before all others, in the order in which they were given back."""
    engine, ring = world.engine[0], world.ring
    for index in range(count - 1, -1, -1):
        engine.head -= 1
        slot, block = engine.head & (len(ring) - 1), world.aside[index]
        ring[slot], world.holds[block].place = block, slot
    engine.free += count
