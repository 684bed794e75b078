"""What the requests hold in one KV cache group, in general and for full attention.

After ``vllm/v1/core/single_type_kv_cache_manager.py`` of 0.32.0.
"""

from collections.abc import Sequence

from vramledger.frozen import frozen
from vramledger.simulate.cache.pool import NULL, BlockPool
from vramledger.simulate.keys import Key, block_key
from vramledger.simulate.request import Request


@frozen
class Demand:
    """What one request asks of a group.

    `slots` is how many tokens need a place, lookahead included; `scheduled` the same without
    lookahead; `computed` those before this step, with hits; `hit` the group's blocks found by name.
    """

    request: Request
    slots: int
    scheduled: int
    computed: int
    hit: Sequence[int]
    capped: bool = False  # the admission test of recycling groups


@frozen
class Found:
    """A prefix found in one group or in groups alike: their blocks, and how many tokens they hold."""

    blocks: tuple[list[int], ...]  # one list a group
    tokens: int


class GroupBlocks:
    """One group's blocks by request; full attention as it stands, others differ by methods."""

    def __init__(self, number: int, block_size: int, pool: BlockPool) -> None:
        self.number = number
        self.block_size = block_size
        self.pool = pool
        self.held: dict[int, list[int]] = {}
        self.published: dict[int, int] = {}  # leading blocks that have their names

    def need(self, demand: Demand) -> int:
        """Blocks that must leave the free queue to meet a demand."""
        required = self._required(demand)
        held = len(self.held.get(demand.request.rank, ()))
        skipped = self.skipped_tokens(demand.computed) // self.block_size
        fresh = max(required - max(skipped, len(demand.hit) + held), 0)
        return fresh + self.pool.evictable(demand.hit[max(0, skipped - held) :])

    def _required(self, demand: Demand) -> int:
        return -(-demand.slots // self.block_size)

    def adopt(self, request: Request, hit: Sequence[int], computed: int) -> None:
        """Hold the blocks found for a request that is admitted."""
        skipped = self.skipped_tokens(computed) // self.block_size
        kept = list(hit[skipped:])
        self.pool.touch(kept)
        self.held[request.rank] = [NULL] * skipped + kept
        self.published[request.rank] = skipped + len(kept)

    def grow(self, request: Request, slots: int, scheduled: int) -> None:
        """Take blocks until `slots` tokens have a place."""
        del scheduled
        held = self.held.setdefault(request.rank, [])
        missing = -(-slots // self.block_size) - len(held)
        if missing > 0:
            held.extend(self.pool.take(missing))

    def publish(self, request: Request, tokens: int) -> list[int]:
        """Name the blocks that `tokens` tokens fill; returns those named now."""
        start, end = self.published.get(request.rank, 0), tokens // self.block_size
        if start >= end:
            return []
        held = self.held[request.rank]
        named = [
            index
            for index in self.reachable(request, start, end)
            if held[index] != NULL and index < end
        ]
        for index in named:
            self.pool.publish(held[index], self.key(request, index))
        self.published[request.rank] = end
        return [held[index] for index in named]

    def reachable(self, request: Request, start: int, end: int) -> Sequence[int]:
        """Blocks from `start` to `end` that a later request could ever ask for."""
        del request
        return range(start, end)

    def key(self, request: Request, index: int) -> Key:
        """The name of a block's content."""
        return block_key(request, index, self.number)

    def skipped_tokens(self, computed: int) -> int:
        """Leading tokens that nobody reads any more once `computed` are there."""
        del computed
        return 0

    def forget_skipped(self, request: Request, processed: int) -> None:
        """Give back blocks before those that are still read."""
        skipped = self.skipped_tokens(processed)
        if skipped > 0 and request.rank in self.held:
            end = min(skipped // self.block_size, len(self.held[request.rank]))
            self._forget(request, end)

    def _forget(self, request: Request, end: int) -> None:
        held = self.held[request.rank]
        freed = []
        for index in range(end - 1, -1, -1):
            if held[index] == NULL:
                break
            freed.append(held[index])
            held[index] = NULL
        self.pool.give_back(freed)

    def release(self, request: Request) -> None:
        """Give all blocks of a request back, the last one first."""
        self.published.pop(request.rank, None)
        self.pool.give_back(reversed(self.held.pop(request.rank, [])))

    def count(self, request: Request) -> int:
        """Blocks that a request holds, shared ones included."""
        return len(self.held.get(request.rank, ()))

    def step_begins(self) -> None:
        """A new step is being scheduled."""

    def find(
        self, request: Request, limit: int, alike: Sequence["GroupBlocks"], *, drop_last: bool
    ) -> Found:
        """The longest prefix of at most `limit` tokens in this group and those `alike` it.

        `drop_last` recomputes the last block found, as drafting heads need it.
        """
        blocks: tuple[list[int], ...] = tuple([] for _ in alike)
        for index in range(limit // self.block_size):
            found = self.pool.find([group.key(request, index) for group in alike])
            if found is None:
                break
            for chain, block in zip(blocks, found, strict=True):
                chain.append(block)
        if drop_last:
            for chain in blocks:
                del chain[-1:]
        return Found(blocks, len(blocks[0]) * self.block_size)
