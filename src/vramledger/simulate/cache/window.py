"""What the requests hold in a sliding-window group: blocks before the window are given back.

After ``SlidingWindowManager`` of ``vllm/v1/core/single_type_kv_cache_manager.py`` of 0.32.0.
"""

from collections.abc import Sequence

from vramledger.simulate.cache.boundaries import Boundaries
from vramledger.simulate.cache.group import Demand, Found, GroupBlocks
from vramledger.simulate.cache.pool import NULL, BlockPool
from vramledger.simulate.request import Request


class WindowBlocks(GroupBlocks):
    """Blocks of a window of `window` tokens.

    `cap` is the most blocks a request holds while it runs, with every token in flight that the budget allows;
    None where the version counts the whole prompt at admission. `always_capped` counts by it
    for running requests too (0.20).
    """

    def __init__(
        self,
        number: int,
        block_size: int,
        pool: BlockPool,
        window: int,
        cap: int | None,
        boundaries: Boundaries,
        *,
        always_capped: bool = False,
    ) -> None:
        super().__init__(number, block_size, pool)
        self.window = window
        self.cap = cap
        self.always_capped = always_capped
        self.boundaries = boundaries

    def _required(self, demand: Demand) -> int:
        required = super()._required(demand)
        if self.cap is not None and (demand.capped or self.always_capped):
            return min(required, self.cap)
        return required

    def skipped_tokens(self, computed: int) -> int:
        """Tokens before the window of the next token."""
        return max(0, computed - self.window + 1)

    def count(self, request: Request) -> int:
        """Blocks that a request holds; the null block is none."""
        held = self.held.get(request.rank, ())
        return len(held) - held.count(NULL)

    def blocks_to_hit(self, *, drop_last: bool) -> int:
        """Blocks in a row that stand for a whole prefix."""
        return -(-(self.window - 1) // self.block_size) + drop_last

    def reachable(self, request: Request, start: int, end: int) -> Sequence[int]:
        """Only tails that end where a later request may go on."""
        return self.boundaries.tails(
            request, start, end, self.blocks_to_hit(drop_last=self.boundaries.drop_last)
        )

    def find(
        self, request: Request, limit: int, alike: Sequence[GroupBlocks], *, drop_last: bool
    ) -> Found:
        """The last tail of the window's width; before it stand null blocks."""
        count = limit // self.block_size
        blocks: tuple[list[int], ...] = tuple([NULL] * count for _ in alike)
        wanted, run, end = self.blocks_to_hit(drop_last=drop_last), 0, 0
        for index in range(count - 1, -1, -1):
            found = self.pool.find([group.key(request, index) for group in alike])
            if found is None:
                run = 0
                continue
            for chain, block in zip(blocks, found, strict=True):
                chain[index] = block
            run += 1
            if run >= wanted:
                end = index + run
                break
        kept = (end or run) - (drop_last and bool(end or run))
        for chain in blocks:
            del chain[kept:]
        return Found(blocks, kept * self.block_size)
