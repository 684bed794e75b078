"""DeepSeek-V4 before pages were packed: windows padded to the pages of the compressed layers.

Source: vllm/v1/core/kv_cache_utils.py of 0.20 to 0.26, the grouping of layer tuples.
"""

from collections.abc import Sequence
from dataclasses import replace

from vramledger.engine.vllm.kv.packing import least_padding
from vramledger.engine.vllm.kv.specs import Group, PlannedLayer
from vramledger.units import div_ceil


def pack_tuples(layers: Sequence[PlannedLayer]) -> tuple[Group, ...]:
    """One group of compressed layers, and groups of window layers that fill its page sizes."""
    grown = [layer for layer in layers if layer.spec.use.grows]
    windows: dict[tuple[int, str], list[PlannedLayer]] = {}
    for layer in layers:
        if not layer.spec.use.grows:
            key = (layer.spec.block_size, layer.spec.use.title)
            windows.setdefault(key, []).append(layer)
    counts = [_tuples(grown), *(_tuples(members) for members in windows.values())]
    size = least_padding(counts, counts[0])
    pages = sorted({layer.spec.page_bytes for layer in grown})
    groups = [Group(tuple(grown), len(grown))]
    for members in windows.values():
        groups += _split([_fitted(layer, pages) for layer in members], size)
    return tuple(groups)


def _tuples(layers: Sequence[PlannedLayer]) -> int:
    pages = [layer.spec.page_bytes for layer in layers]
    return max(pages.count(page) for page in set(pages))


def _fitted(layer: PlannedLayer, pages: Sequence[int]) -> PlannedLayer:
    """The layer with its page padded to the next page size of the compressed layers."""
    page = min(size for size in pages if size >= layer.spec.page_bytes)
    return replace(layer, spec=layer.spec.padded_to(page))


def _split(layers: Sequence[PlannedLayer], size: int) -> list[Group]:
    by_page: dict[int, list[PlannedLayer]] = {}
    for layer in layers:
        by_page.setdefault(layer.spec.page_bytes, []).append(layer)
    patterns = list(zip(*by_page.values(), strict=False))
    count = div_ceil(len(patterns), size)
    chosen = [[layer for pattern in patterns[i::count] for layer in pattern] for i in range(count)]
    return [Group(tuple(members), size * len(by_page)) for members in chosen]
