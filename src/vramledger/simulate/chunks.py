"""Where a prefill chunk ends when recurrent states are cached at block boundaries.

After ``_mamba_block_aligned_split`` of ``vllm/v1/core/sched/scheduler.py`` of 0.32.0.
"""

from vramledger.simulate.cache.boundaries import boundaries_of
from vramledger.simulate.cache.checkpoint import can_write
from vramledger.simulate.groups import RecurrentState
from vramledger.simulate.request import Request
from vramledger.simulate.settings import Settings


def align_chunk(settings: Settings, request: Request, start: int, tokens: int) -> int:
    """Tokens of a chunk that begins at `start`, shortened to end where a state must be kept; maybe 0."""
    if start >= request.prefill_end:
        return tokens
    size = settings.block_size
    end = start + tokens
    if end < request.prefill_end:
        aligned = end // size * size
        if aligned > start or size <= _largest_chunk(settings):
            end = aligned
    inside = _writes_inside(settings, request, start, start + tokens)
    stops = [] if inside else [boundaries_of(settings).last_state(request.tokens)]
    if start % size and not inside:
        stops.append((start // size + 1) * size)
    if start < request.branch < end:
        stops.append(start + (request.branch - start) // size * size)
    end = min([stop for stop in stops if start < stop < end], default=end)
    return max(end - start, 0)


def _writes_inside(settings: Settings, request: Request, start: int, end: int) -> bool:
    """Whether the last chunk may run through, because every kernel writes the state on the way."""
    alignments = [
        group.checkpoint for group in settings.groups if isinstance(group, RecurrentState)
    ]
    alignment = alignments[0]
    if alignment is None or None in alignments or end < request.prefill_end:
        return False
    position = boundaries_of(settings).last_state(request.prefill_end)
    return can_write(start, end, position, settings.block_size, alignment)


def _largest_chunk(settings: Settings) -> int:
    budget = settings.scheduled_tokens or settings.token_budget
    threshold = settings.long_prefill_threshold
    return min(budget, threshold) if threshold else budget
