"""The longest prefix that every group of a model still has.

After ``find_longest_cache_hit`` of ``vllm/v1/core/kv_cache_coordinator.py`` of 0.32.0.
"""

from collections.abc import Sequence

from vramledger.frozen import frozen
from vramledger.simulate.cache.group import Found, GroupBlocks
from vramledger.simulate.cache.state import AlignedState
from vramledger.simulate.groups import FullAttention, Group
from vramledger.simulate.request import Request


@frozen
class Hit:
    """Blocks found for a request, one list a group; `branch` is where only some groups go on, or 0."""

    blocks: tuple[Sequence[int], ...]
    tokens: int
    branch: int = 0

    def __bool__(self) -> bool:
        return any(self.blocks)


@frozen
class Alike:
    """Groups of one kind, found together or not at all."""

    kind: Group
    groups: tuple[GroupBlocks, ...]


def group_alike(kinds: Sequence[Group], groups: Sequence[GroupBlocks]) -> tuple[Alike, ...]:
    """The groups of a model by kind, full attention first."""
    by_kind: dict[Group, list[GroupBlocks]] = {}
    for kind, group in zip(kinds, groups, strict=True):
        by_kind.setdefault(kind, []).append(group)
    alike = [Alike(kind, tuple(members)) for kind, members in by_kind.items()]
    return tuple(sorted(alike, key=lambda one: not isinstance(one.kind, FullAttention)))


def longest_hit(request: Request, kinds: Sequence[Alike], *, drop_last: bool) -> Hit:
    """What a request need not compute: at most all of its tokens but the last.

    Groups shorten each other's prefix until all agree. Full attention has every shorter prefix too,
    so it is asked once.
    """
    search = _Search(request, kinds, drop_last=drop_last)
    tokens = search.agree(request.tokens - 1)
    total = sum(len(one.groups) for one in kinds)
    blocks: list[Sequence[int]] = [()] * total
    for one, found in zip(kinds, search.found, strict=True):
        if found is None:
            continue
        for group, chain in zip(one.groups, found.blocks, strict=True):
            full = isinstance(one.kind, FullAttention)
            blocks[group.number] = chain[: tokens // group.block_size] if full else chain
    return Hit(tuple(blocks), tokens, search.longest if search.longest > tokens else 0)


class _Search:
    """One look-up: what each kind of group has found so far."""

    def __init__(self, request: Request, kinds: Sequence[Alike], *, drop_last: bool) -> None:
        self.request = request
        self.kinds = kinds
        self.drop_last = drop_last
        self.found: list[Found | None] = [None] * len(kinds)
        self.longest = 0
        self.dropped: set[int] = set()  # kinds that dropped their last block at this length
        self.lone = len(kinds) == 1 and len(kinds[0].groups) == 1

    def agree(self, limit: int) -> int:
        """Tokens that every kind of group has, at most `limit`."""
        full_and_another = len(self.kinds) == 2 and isinstance(self.kinds[0].kind, FullAttention)
        while True:
            length = limit
            for index in range(len(self.kinds)):
                length = self._shorten(index, length)
            if length >= limit:
                return limit
            limit = length
            if self.lone or full_and_another:
                return limit

    def _shorten(self, index: int, length: int) -> int:
        one, found = self.kinds[index], self.found[index]
        if isinstance(one.kind, FullAttention) and found is not None:
            return min(length, found.tokens)
        first = one.groups[0]
        drop = self.drop_last and index not in self.dropped
        reach = length
        if drop and not isinstance(first, AlignedState) and not self.lone:
            known = self.request.tokens // first.block_size * first.block_size
            reach = min(length + first.block_size, known)
        found = first.find(self.request, reach, one.groups, drop_last=drop)
        if drop:
            self.dropped.add(index)
        elif found.tokens < length:
            self.dropped.clear()
        self.found[index] = found
        self.longest = max(self.longest, found.tokens)
        return found.tokens
