"""Unequal pages side by side in one block, where the kernels' layout allows it (DeepSeek-V4).

Source: vllm/v1/core/kv_cache_utils.py of 0.32, the packed grouping.
"""

from collections.abc import Sequence

from vramledger.engine.vllm.kv.specs import Group, PlannedLayer
from vramledger.frozen import frozen
from vramledger.units import div_ceil


@frozen
class _Bucket:
    """Layers that need the same number of blocks, by page size."""

    pages: dict[int, list[PlannedLayer]]

    @property
    def balanced(self) -> bool:
        """Whether every page size occurs equally often, so that the bucket is a repeated pattern."""
        return len({len(layers) for layers in self.pages.values()}) == 1

    @property
    def repeats(self) -> int:
        return max(len(layers) for layers in self.pages.values())

    @property
    def layers(self) -> int:
        return sum(len(layers) for layers in self.pages.values())

    @property
    def first(self) -> PlannedLayer:
        return next(iter(self.pages.values()))[0]

    def widest(self, groups: int) -> int:
        """Bytes of the largest of `groups` groups the bucket splits into."""
        return sum(div_ceil(len(layers), groups) * page for page, layers in self.pages.items())


def pack(layers: Sequence[PlannedLayer]) -> tuple[Group, ...]:
    """Groups of unequal pages, split so that their blocks need little padding."""
    buckets = _bucketed(layers)
    floor = max((b.repeats for b in buckets if b.balanced and len(b.pages) > 1), default=0)
    repeats = least_padding([b.repeats for b in buckets if b.balanced], floor) if floor else None
    anchor = max(
        b.widest(b.layers if _splits_freely(b, repeats) else _groups_of(b, repeats))
        for b in buckets
    )
    return tuple(group for bucket in buckets for group in _split(bucket, repeats, anchor))


def _bucketed(layers: Sequence[PlannedLayer]) -> list[_Bucket]:
    kinds: list[list[PlannedLayer]] = []
    for layer in layers:
        for kind in kinds:
            if kind[0].spec.same_blocks_as(layer.spec):
                kind.append(layer)
                break
        else:
            kinds.append([layer])
    buckets = []
    for kind in kinds:
        pages: dict[int, list[PlannedLayer]] = {}
        for layer in kind:
            pages.setdefault(layer.spec.page_bytes, []).append(layer)
        buckets.append(_Bucket(pages))
    return buckets


def _groups_of(bucket: _Bucket, repeats: int | None) -> int:
    return div_ceil(bucket.repeats, repeats) if repeats and bucket.balanced else 1


def _splits_freely(bucket: _Bucket, repeats: int | None) -> bool:
    spec = bucket.first.spec
    return spec.fixed or (repeats is None and spec.use.recycles)


def _split(bucket: _Bucket, repeats: int | None, anchor: int) -> list[Group]:
    groups = _groups_of(bucket, repeats)
    if _splits_freely(bucket, repeats):
        states = max(anchor // bucket.first.spec.page_bytes, 1)
        groups = max(groups, div_ceil(bucket.layers, states))
    patterns = list(zip(*bucket.pages.values(), strict=False))
    if groups == 1:
        members = tuple(layer for layers in bucket.pages.values() for layer in layers)
        return [Group(members, len(members))]
    chosen = [
        tuple(layer for pattern in patterns[i::groups] for layer in pattern) for i in range(groups)
    ]
    size = max(len(members) for members in chosen)
    return [Group(members, size) for members in chosen]


def least_padding(counts: Sequence[int], least: int) -> int:
    """The group size from `least` up that rounds `counts` up by the least; the larger one on ties."""

    def padding(size: int) -> int:
        return sum(-count % size for count in counts)

    sizes = range(max(1, least), max(*counts, least) + 1)
    return min(sizes, key=lambda size: (padding(size), -size))
