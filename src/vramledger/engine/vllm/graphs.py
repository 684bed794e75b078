"""Batch sizes for which CUDA graphs are captured. Source: vLLM's ``_set_cudagraph_sizes``."""

from collections.abc import Callable, Sequence
from typing import Final

from vramledger.engine.vllm.rules import CaptureTable
from vramledger.frozen import frozen
from vramledger.units import round_up

_V0_STEP: Final = 8
_V0_LARGEST: Final = 8192
_LARGEST: Final = 512
_LARGEST_BLACKWELL: Final = 1024
_COARSE_FROM: Final = 256
_FINE_UP_TO: Final = 32  # sizes 1..32 one by one in interactivity mode


@frozen
class CaptureAsked:
    """What decides the sizes. `largest` and `sizes` are the user's own, None where not given."""

    max_num_seqs: int
    max_num_batched_tokens: int
    tokens_per_step: int  # tokens a decode step takes: 1, or 1 + drafts
    data_centre_blackwell: bool
    largest: int | None = None
    sizes: Sequence[int] | None = None
    interactive: bool = False


def capture_sizes(table: CaptureTable, asked: CaptureAsked) -> tuple[int, ...]:
    """The sizes in ascending order; never above ``max_num_batched_tokens`` (V1)."""
    if asked.sizes:
        return _within(asked, asked.sizes)
    return _TABLES[table](asked)


def _within(asked: CaptureAsked, sizes: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted({size for size in sizes if 0 < size <= asked.max_num_batched_tokens}))


def _v0(largest: int) -> Callable[[CaptureAsked], tuple[int, ...]]:
    def sizes(asked: CaptureAsked) -> tuple[int, ...]:
        top = min(_next_size(asked.max_num_seqs), largest)
        return tuple(size for size in (1, 2, 4, *range(8, top + 1, _V0_STEP)) if size <= top)

    return sizes


def _next_size(sequences: int) -> int:
    """The smallest captured size that holds that many sequences."""
    small = [size for size in (1, 2, 4) if size >= sequences]
    return small[0] if small else round_up(sequences, _V0_STEP)


def _every_8(asked: CaptureAsked) -> tuple[int, ...]:
    top = asked.largest or _LARGEST
    return _within(asked, (1, 2, 4, *range(8, top + 1, 8)))


def _every_8_seqs(asked: CaptureAsked) -> tuple[int, ...]:
    top = asked.largest or min(asked.max_num_seqs * 2, _LARGEST)
    return _within(asked, (1, 2, 4, *range(8, top + 1, 8)))


def _every_16(asked: CaptureAsked) -> tuple[int, ...]:
    return _grid(asked, asked.largest or min(asked.max_num_seqs * 2, _LARGEST))


def _every_16_query(asked: CaptureAsked) -> tuple[int, ...]:
    return _grid(asked, _query_top(asked, _LARGEST))


def _blackwell_limit(asked: CaptureAsked) -> int:
    return _LARGEST_BLACKWELL if asked.data_centre_blackwell else _LARGEST


def _every_16_blackwell(asked: CaptureAsked) -> tuple[int, ...]:
    return _grid(asked, _query_top(asked, _blackwell_limit(asked)))


def _every_16_uniform(asked: CaptureAsked) -> tuple[int, ...]:
    limit = _blackwell_limit(asked)
    top = _query_top(asked, limit)
    grid = _grid(asked, top)
    if asked.largest:
        return grid
    if asked.tokens_per_step == 1:
        exact = [asked.max_num_seqs] if asked.max_num_seqs <= top else []
        return _within(asked, (*grid, *exact))
    requests = min(asked.max_num_seqs, limit)
    counts = [n for n in (*_steps(requests), requests) if n <= requests]
    decode = [n * asked.tokens_per_step for n in counts if n * asked.tokens_per_step <= top]
    return _within(asked, (*grid, *decode))


def _query_top(asked: CaptureAsked, limit: int) -> int:
    return asked.largest or min(asked.max_num_seqs * asked.tokens_per_step * 2, limit)


def _grid(asked: CaptureAsked, largest: int) -> tuple[int, ...]:
    top = min(asked.max_num_batched_tokens, largest)
    fine = tuple(range(1, min(top, _FINE_UP_TO) + 1)) if asked.interactive else ()
    return _within(asked, (*fine, *_steps(top)))


def _steps(top: int) -> tuple[int, ...]:
    """1, 2, 4, then every 8 below 256 and every 16 from there."""
    small = [size for size in (1, 2, 4) if size <= top]
    return (
        *small,
        *range(8, min(top + 1, _COARSE_FROM), 8),
        *range(_COARSE_FROM, top + 1, 16),
    )


_TABLES: Final[dict[CaptureTable, Callable[[CaptureAsked], tuple[int, ...]]]] = {
    CaptureTable.V0_256: _v0(256),
    CaptureTable.V0_SEQS: _v0(_V0_LARGEST),
    CaptureTable.EVERY_8: _every_8,
    CaptureTable.EVERY_8_SEQS: _every_8_seqs,
    CaptureTable.EVERY_16: _every_16,
    CaptureTable.EVERY_16_QUERY: _every_16_query,
    CaptureTable.EVERY_16_BLACKWELL: _every_16_blackwell,
    CaptureTable.EVERY_16_UNIFORM: _every_16_uniform,
}
