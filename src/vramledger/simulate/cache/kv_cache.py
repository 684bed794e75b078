"""The KV cache of one engine: every group over one pool.

After ``vllm/v1/core/kv_cache_manager.py`` and ``kv_cache_coordinator.py`` of 0.32.0.
"""

from vramledger.engine.vllm.rules import WindowAdmission
from vramledger.simulate.cache.boundaries import boundaries_of
from vramledger.simulate.cache.checkpoint import CheckpointedState
from vramledger.simulate.cache.group import Demand, GroupBlocks
from vramledger.simulate.cache.lookup import Hit, group_alike, longest_hit
from vramledger.simulate.cache.pool import BlockPool
from vramledger.simulate.cache.state import AlignedState, ConstantState
from vramledger.simulate.cache.window import WindowBlocks
from vramledger.simulate.groups import FullAttention, Group, SlidingWindow
from vramledger.simulate.request import Request
from vramledger.simulate.settings import Settings


class KvCache:
    """Who holds which block; `groups` are in the order of the settings."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.pool = BlockPool(
            settings.num_blocks, uncached_first=settings.rules.uncached_blocks_first
        )
        self.groups = tuple(
            _group(number, kind, self.pool, settings) for number, kind in enumerate(settings.groups)
        )
        self.alike = group_alike(settings.groups, self.groups)
        self.nothing = Hit(tuple(() for _ in self.groups), 0)

    def step_begins(self) -> None:
        """A new step is being scheduled."""
        for group in self.groups:
            group.step_begins()

    def look_up(self, request: Request) -> Hit:
        """The prefix of a request that need not be computed."""
        if not self.settings.prefix_caching:
            return self.nothing
        return longest_hit(request, self.alike, drop_last=self.settings.drops_last_block)

    def need(
        self, request: Request, slots: int, hit: Hit | None = None, *, capped: bool = False
    ) -> int:
        """Blocks that must be free for a request's first `slots` tokens to have a place."""
        return self._need(request, slots, slots, hit or self.nothing, capped=capped)

    def _need(self, request: Request, slots: int, scheduled: int, hit: Hit, *, capped: bool) -> int:
        computed = request.computed + hit.tokens
        return sum(
            group.need(Demand(request, slots, scheduled, computed, blocks, capped))
            for group, blocks in zip(self.groups, hit.blocks, strict=True)
        )

    def allocate(
        self,
        request: Request,
        tokens: int,
        slots: int,
        hit: Hit | None = None,
        spare: int = 0,
        *,
        named: bool = True,
    ) -> bool:
        """Give a request places for `tokens` more tokens and hold `slots` in all.

        Args:
            request: who asks.
            tokens: scheduled now, beyond what is computed and hit.
            slots: tokens that have a place afterwards, lookahead included.
            hit: the prefix found for a request that is admitted.
            spare: blocks that must stay free.
            named: whether others may find the blocks that are filled with it at once.

        Returns:
            Whether it was possible; if not, nothing was taken, but blocks out of reach are given back.
        """
        hit = hit or self.nothing
        computed = request.computed + hit.tokens
        in_flight = request.in_flight if self.settings.rules.frees_processed_only else 0
        for group in self.groups:
            group.forget_skipped(request, max(0, computed - in_flight))
        need = self._need(request, slots, computed + tokens, hit, capped=False)
        if need + spare > self.pool.free_blocks:
            return False
        if hit:
            for group, blocks in zip(self.groups, hit.blocks, strict=True):
                group.adopt(request, blocks, hit.tokens)
        for group in self.groups:
            group.grow(request, slots, computed + tokens)
        if named:
            self.publish(request, min(computed + tokens, request.tokens))
        return True

    def publish(self, request: Request, tokens: int) -> None:
        """Let others find the blocks that a request's first `tokens` tokens fill."""
        if self.settings.prefix_caching:
            for group in self.groups:
                group.publish(request, tokens)

    def release(self, request: Request) -> None:
        """Give back all blocks of a request."""
        for group in self.groups:
            group.release(request)

    def holding(self, request: Request) -> int:
        """Blocks that a request holds, shared ones included."""
        return sum(group.count(request) for group in self.groups)


def _group(number: int, kind: Group, pool: BlockPool, settings: Settings) -> GroupBlocks:
    size = settings.block_size
    if isinstance(kind, FullAttention):
        return GroupBlocks(number, size, pool)
    boundaries = boundaries_of(settings)
    if isinstance(kind, SlidingWindow):
        how = settings.rules.window_admission
        return WindowBlocks(
            number,
            size,
            pool,
            kind.window,
            _window_cap(kind, settings) if how is not WindowAdmission.WHOLE else None,
            boundaries,
            always_capped=how is WindowAdmission.ALWAYS,
        )
    hybrid = len(settings.groups) > 1
    if settings.prefix_caching and kind.checkpoint is not None:
        return CheckpointedState(
            number,
            size,
            pool,
            kind.speculative,
            boundaries,
            hybrid=hybrid,
            alignment=kind.checkpoint,
        )
    if settings.prefix_caching:
        return AlignedState(number, size, pool, kind.speculative, boundaries, hybrid=hybrid)
    return ConstantState(number, size, pool, kind.speculative)


def _window_cap(kind: SlidingWindow, settings: Settings) -> int:
    """Most blocks of a window: what it attends to and every token in flight, and one for the offset."""
    steps = settings.steps_in_flight if settings.rules.frees_processed_only else 1
    tokens = min(kind.window - 1 + steps * settings.token_budget, settings.max_model_len)
    return -(-tokens // settings.block_size) + 1
