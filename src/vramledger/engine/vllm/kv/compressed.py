"""DeepSeek-V4: a window of plain states and one compressed state for several tokens.

Beside them stand the indexer's keys and the states of compressions still under way.
Sources: vllm/models/deepseek_v4/{attention,compressor}.py, v1/attention/backends/mla/sparse_swa.py.
"""

from collections.abc import Iterator
from typing import Final

from vramledger.engine.vllm.kv.demand import Growing, Windowed
from vramledger.engine.vllm.kv.element import CacheType
from vramledger.engine.vllm.kv.specs import LayerSpec
from vramledger.model.cache import CompressedAttention

_PACKED_STATE: Final = 584  # 448 fp8 + 64 rotary elements of 2 bytes + 8 scales
_PACKED_ALIGNMENT: Final = 576
_PLAIN_ALIGNMENT: Final = 512
_WINDOW_BLOCK: Final = 64
_INDEXER_SCALE: Final = 4
_PARTIAL_BYTES: Final = 4  # states under way are float32
_PARTIAL_BLOCK: Final = {4: 4, 128: 8}  # tokens a block of partial states covers, by ratio
_INDEXED_RATIO: Final = 4  # layers of this ratio pick their states with an indexer


def compressed_specs(
    spec: CompressedAttention, cache: CacheType, block_size: int
) -> Iterator[LayerSpec]:
    """All caches of one DeepSeek-V4 layer."""
    packed = cache.name == "fp8_ds_mla"
    alignment = _PACKED_ALIGNMENT if packed else _PLAIN_ALIGNMENT
    state = _PACKED_STATE if packed else int(spec.width * cache.element_bytes)
    yield LayerSpec(
        Windowed(spec.window), _WINDOW_BLOCK, state, (spec.width,), latent=True,
        alignment=alignment,
    )  # fmt: skip
    if spec.ratio <= 1:
        return
    yield LayerSpec(
        Growing(), block_size, state, (spec.width,), latent=True,
        tokens_per_position=spec.ratio, alignment=alignment,
    )  # fmt: skip
    yield _partial(spec.width, spec.ratio, alignment)
    if spec.indexer_dim:
        yield LayerSpec(
            Growing(), block_size, spec.indexer_dim + _INDEXER_SCALE, (spec.indexer_dim,),
            latent=True, tokens_per_position=spec.ratio, alignment=alignment,
        )  # fmt: skip
        yield _partial(spec.indexer_dim, spec.ratio, alignment)


def _partial(width: int, ratio: int, alignment: int) -> LayerSpec:
    """Keys and scores of tokens whose compressed state is not finished."""
    overlap = 2 if ratio == _INDEXED_RATIO else 1
    elements = 2 * overlap * width
    return LayerSpec(
        Windowed(overlap * ratio), _PARTIAL_BLOCK.get(ratio, ratio), elements * _PARTIAL_BYTES,
        (elements,), latent=True, alignment=alignment,
    )  # fmt: skip
