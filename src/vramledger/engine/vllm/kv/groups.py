"""Layers become groups: sets of layers that share block ids, all with equal bytes a block.

Source: vllm/v1/core/kv_cache_utils.py (kv_cache_planning.py from 0.33), get_kv_cache_groups.
"""

from collections.abc import Sequence
from dataclasses import replace

from vramledger.engine.vllm.kv.demand import Crossed, GrowingBesideSource
from vramledger.engine.vllm.kv.packing import pack
from vramledger.engine.vllm.kv.specs import Group, LayerSpec, PlannedLayer
from vramledger.engine.vllm.kv.tuples import pack_tuples
from vramledger.engine.vllm.rules import Rules
from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.units import div_ceil


@frozen
class Grouping:
    """How this deployment wants layers grouped."""

    rules: Rules
    hybrid: bool  # window and chunk layers may free what falls behind them
    compressed: bool = False  # DeepSeek-V4: unequal pages may share a block

    @property
    def tuples(self) -> bool:
        """Whether unequal pages are padded to each other, as before packing existed."""
        return self.compressed and self.rules.layer_tuples


def group_layers(layers: Sequence[PlannedLayer], how: Grouping) -> tuple[Group, ...]:
    """The groups of a whole model, every pipeline stage together.

    Raises:
        BadInput: this version cannot serve a model with such a mixture of caches.
    """
    if not layers:
        return ()
    chosen = list(layers) if how.hybrid else _kept_whole(layers, how.rules)
    if _one_group(chosen, how.rules):
        return (Group(tuple(chosen), len(chosen)),)
    if not how.hybrid:
        raise BadInput(
            f"vLLM {how.rules.family} cannot bring this model's caches to one kind without the "
            "hybrid KV cache manager; serve it without --disable-hybrid-kv-cache-manager, or with "
            "a version that has one."
        )
    if how.compressed and _unequal(chosen):
        return pack_tuples(chosen) if how.tuples else pack(chosen)
    return _deal(_equal_pages(chosen, how.rules), how.rules)


def bytes_per_block(groups: Sequence[Group], stage: int, how: Grouping) -> int:
    """Bytes of one block on one rank of a pipeline stage: every group overlays the same bytes."""
    if how.tuples:
        return _bytes_by_page(groups, stage)
    if how.rules.stages_count_mixed_group_whole and len(groups) == 1:
        members = groups[0].members
        if _unequal(members):
            return sum(layer.spec.page_bytes for layer in members)
    return max((group.bytes_on(stage) for group in groups), default=0)


def _bytes_by_page(groups: Sequence[Group], stage: int) -> int:
    """Each page size has places of its own, as many as the group with most layers of it."""
    places: dict[int, int] = {}
    for group in groups:
        pages = [layer.spec.page_bytes for layer in group.members if layer.stage == stage]
        for page in set(pages):
            places[page] = max(places.get(page, 0), pages.count(page))
    return sum(page * count for page, count in places.items())


def _unequal(layers: Sequence[PlannedLayer]) -> bool:
    return len({layer.spec.page_bytes for layer in layers}) > 1


def _one_group(layers: Sequence[PlannedLayer], rules: Rules) -> bool:
    first = layers[0].spec
    same = all(first.same_blocks_as(layer.spec) for layer in layers)
    return same and (rules.mixed_pages_in_group or not _unequal(layers))


def _kept_whole(layers: Sequence[PlannedLayer], rules: Rules) -> list[PlannedLayer]:
    """Window and chunk layers keep every token, when full attention is there to join."""
    if not rules.v1:
        layers = _beside_source(layers)
    grown = {layer.spec.block_size for layer in layers if layer.spec.use.grows}
    if not grown or all(layers[0].spec.same_blocks_as(layer.spec) for layer in layers):
        return list(layers)
    share = rules.window_promotion_shares_block and len(grown) == 1
    shared = grown.pop() if share else None
    return [
        replace(layer, spec=layer.spec.kept_whole(shared or layer.spec.block_size))
        if layer.spec.use.recycles
        else layer
        for layer in layers
    ]


def _beside_source(layers: Sequence[PlannedLayer]) -> Sequence[PlannedLayer]:
    """V0 gives self and cross attention one pool: a block has a page in every layer."""
    uses = [layer.spec.use for layer in layers]
    sources = [use.source_tokens for use in uses if isinstance(use, Crossed)]
    if not sources:
        return layers
    use = GrowingBesideSource(max(sources))
    return [
        replace(layer, spec=replace(layer.spec, use=use))
        if layer.spec.use.grows or isinstance(layer.spec.use, Crossed)
        else layer
        for layer in layers
    ]


def _equal_pages(layers: Sequence[PlannedLayer], rules: Rules) -> list[PlannedLayer]:
    """Smaller pages take more tokens a block, or padding, until all pages are equal."""
    if not _unequal(layers):
        return list(layers)
    largest = max(layer.spec.page_bytes for layer in layers)
    return [
        layer
        if layer.spec.page_bytes == largest
        else replace(layer, spec=_enlarged(layer.spec, largest, rules))
        for layer in layers
    ]


def _enlarged(spec: LayerSpec, page_bytes: int, rules: Rules) -> LayerSpec:
    if spec.fixed and rules.pad_mamba_pages:
        return spec.padded_to(page_bytes)
    if rules.unify_page_sizes:
        covering = spec.covering(page_bytes)
        if covering is not None:
            return covering
    if rules.pad_pages_to_largest and not spec.fixed and not spec.latent:
        return spec.padded_to(page_bytes)
    raise BadInput(
        f"vLLM {rules.family} cannot bring this model's cache pages to one size: "
        f"{spec.page_bytes} bytes do not divide {page_bytes}; "
        "choose another --block-size or --kv-cache-dtype, or a newer version."
    )


def _deal(layers: Sequence[PlannedLayer], rules: Rules) -> tuple[Group, ...]:
    """Layers of equal spec are dealt into groups of one size; the last places may stay empty."""
    buckets: dict[LayerSpec, list[PlannedLayer]] = {}
    for layer in layers:
        buckets.setdefault(layer.spec, []).append(layer)
    size = _group_size([len(bucket) for bucket in buckets.values()], rules)
    groups = []
    for bucket in buckets.values():
        count = div_ceil(len(bucket), size)
        groups += [Group(tuple(bucket[i::count]), size) for i in range(count)]
    return tuple(groups)


def _group_size(counts: Sequence[int], rules: Rules) -> int:
    smallest, largest = min(counts), max(counts)
    threshold = rules.padding_threshold
    return largest if threshold and largest < smallest * threshold else smallest
