"""Where a prefill chunk ends when recurrent states are cached at block boundaries, after `simulate.chunks`."""

from vramledger.simulate.fast.blocks.boundaries import last_state
from vramledger.simulate.fast.blocks.world import World
from vramledger.simulate.fast.compiled import compiled, compiled_apart


@compiled_apart
def align_chunk(world: World, rank: int, start: int, tokens: int) -> int:
    """Tokens of a chunk that begins at `start`, shortened to end where a state must be kept; maybe 0."""
    engine, request = world.engine[0], world.requests[rank]
    known = int(request.prompt) + int(request.generated)
    prefill_end = max(int(request.prompt), known - 1)
    if start >= prefill_end:
        return tokens
    size, branch = int(engine.block_size), int(request.branch)
    end = start + tokens
    if end < prefill_end:
        aligned = end // size * size
        if aligned > start or size <= engine.largest_chunk:
            end = aligned
    nearest = end
    if not _writes_inside(world, start, start + tokens, prefill_end):
        nearest = _nearer(last_state(world, known), start, end, nearest)
        if start % size > 0:
            nearest = _nearer((start // size + 1) * size, start, end, nearest)
    if start < branch < end:
        nearest = _nearer(start + (branch - start) // size * size, start, end, nearest)
    return max(nearest - start, 0)


@compiled
def _nearer(stop: int, start: int, end: int, nearest: int) -> int:
    return min(stop, nearest) if start < stop < end else nearest


@compiled
def _writes_inside(world: World, start: int, end: int, prefill_end: int) -> bool:
    """Whether the last chunk may run through, because every kernel writes the state on the way."""
    alignment = int(world.engine[0].alignment)
    if alignment == 0 or end < prefill_end:
        return False
    return can_write(world, start, end, last_state(world, prefill_end), alignment)


@compiled
def can_write(world: World, start: int, end: int, position: int, alignment: int) -> bool:
    """As `checkpoint.can_write`."""
    size = int(world.engine[0].block_size)
    return bool(
        start % size == 0
        and -(-end // size) - 2 > (start - 1) // size
        and start + size <= position < end
        and (position - start) % alignment == 0
    )
