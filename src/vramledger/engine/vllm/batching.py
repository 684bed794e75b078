"""``max_num_seqs`` and ``max_num_batched_tokens`` where the launch leaves them open.

Source: ``EngineArgs`` of 0.4.2 to 0.33.0 (`get_batch_defaults` and its predecessors) and
``SchedulerConfig``.
"""

from collections.abc import Callable
from typing import Final

from vramledger.engine.launch import Usage
from vramledger.engine.setting import Layout, Origin, Setting
from vramledger.engine.vllm.model_traits import Traits
from vramledger.engine.vllm.rules import BatchTable
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator, Vendor

_GIB: Final = 1 << 30
_V0_SEQS: Final = 256
_V0_FLOOR: Final = 2048
_V0_CHUNK: Final = 512  # tokens a step with chunked prefill, before 0.6.4
_V0_TABLES: Final = frozenset({BatchTable.V0_512, BatchTable.V0_512_FLOORS, BatchTable.V0_2048})
_V0_POOLING_FLOOR: Final = 32768
_V0_MULTIMODAL_FLOOR: Final = 5120
_ALL2ALL_TOKENS: Final = 256  # DeepEP low latency and NIXL hold buffers for this many


@frozen
class BatchDefaults:
    """A device's defaults before anything is adjusted."""

    tokens_offline: int
    tokens_serve: int
    sequences_offline: int
    sequences_serve: int

    def tokens(self, usage: Usage) -> int:
        return self.tokens_serve if usage is Usage.SERVE else self.tokens_offline

    def sequences(self, usage: Usage) -> int:
        return self.sequences_serve if usage is Usage.SERVE else self.sequences_offline


SMALL: Final = BatchDefaults(8192, 2048, 256, 256)
_LARGE: Final = BatchDefaults(16384, 8192, 1024, 1024)
_LARGEST: Final = BatchDefaults(16384, 16384, 1024, 1024)
_SMALL_1024: Final = BatchDefaults(8192, 2048, 1024, 1024)


def _is_hopper_by_name(gpu: Accelerator) -> bool:
    name = gpu.name.casefold()
    return "h100" in name or "h200" in name


def _by_name_1024(gpu: Accelerator) -> BatchDefaults:
    return _LARGE if _is_hopper_by_name(gpu) else _SMALL_1024


def _by_name(gpu: Accelerator) -> BatchDefaults:
    return _LARGE if _is_hopper_by_name(gpu) else SMALL


def _by_memory(gpu: Accelerator) -> BatchDefaults:
    return _LARGE if gpu.total_bytes >= 70 * _GIB else SMALL


def _not_a100(gpu: Accelerator) -> BatchDefaults:
    return SMALL if "a100" in gpu.name.casefold() else _by_memory(gpu)


def _up_to_160(gpu: Accelerator) -> BatchDefaults:
    if gpu.total_bytes >= 160 * _GIB:
        return _LARGEST
    return SMALL if gpu.compute_capability == (12, 1) else _not_a100(gpu)


_TABLES: Final[dict[BatchTable, Callable[[Accelerator], BatchDefaults]]] = {
    BatchTable.FLAT: lambda _gpu: SMALL,
    BatchTable.BY_NAME_1024: _by_name_1024,
    BatchTable.BY_NAME: _by_name,
    BatchTable.BY_MEMORY: _by_memory,
    BatchTable.BY_MEMORY_NOT_A100: _not_a100,
    BatchTable.BY_MEMORY_160: _up_to_160,
}


@frozen
class Batch:
    """The two settings every memory figure depends on."""

    sequences: Setting[int]
    tokens: Setting[int]


@frozen
class BatchAsked:
    """What the launch says and what the engine knows when it fills the gaps."""

    sequences: int | None
    tokens: int | None
    max_model_len: int  # before any fitting to memory
    chunked_prefill: bool
    usage: Usage
    layout: Layout
    throughput_mode: bool = False
    small_all2all: bool = False  # data and expert parallel over low-latency kernels


def resolve_batch(table: BatchTable, asked: BatchAsked, gpu: Accelerator, traits: Traits) -> Batch:
    """The batch settings after vLLM's defaults and their adjustments."""
    if table in _V0_TABLES:
        return _resolve_v0(table, asked, traits)
    defaults = _cpu(asked.layout) if gpu.vendor is Vendor.CPU else _TABLES[table](gpu)
    factor = 2 if asked.throughput_mode else 1
    tokens = asked.tokens
    if tokens is None:
        tokens = _ALL2ALL_TOKENS if asked.small_all2all else defaults.tokens(asked.usage)
        tokens *= factor
        if not asked.chunked_prefill:
            tokens = max(tokens, asked.max_model_len)
        sequences = asked.sequences or defaults.sequences(asked.usage) * factor
        tokens = min(tokens, sequences * asked.max_model_len)
    sequences = asked.sequences or min(defaults.sequences(asked.usage) * factor, tokens)
    return Batch(_setting(asked.sequences, sequences), _setting(asked.tokens, tokens))


def _setting(given: int | None, value: int) -> Setting[int]:
    return Setting(value, Origin.DEFAULT if given is None else Origin.GIVEN)


def _cpu(layout: Layout) -> BatchDefaults:
    world = layout.tp * layout.pp
    return BatchDefaults(4096 * world, 2048 * world, 256 * world, 128 * world)


def _resolve_v0(table: BatchTable, asked: BatchAsked, traits: Traits) -> Batch:
    """V0: the whole prompt goes through at once unless it is chunked."""
    chunk = _V0_FLOOR if table is BatchTable.V0_2048 else _V0_CHUNK
    tokens = chunk if asked.chunked_prefill else max(asked.max_model_len, _V0_FLOOR)
    if traits.pooling:
        tokens = max(tokens, _V0_POOLING_FLOOR)
    if traits.multimodal and table is not BatchTable.V0_512:
        tokens = max(tokens, _V0_MULTIMODAL_FLOOR)
    return Batch(
        _setting(asked.sequences, asked.sequences or _V0_SEQS),
        _setting(asked.tokens, asked.tokens or tokens),
    )
