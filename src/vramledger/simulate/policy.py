"""The three decisions in which engines differ: who is admitted, how far one grows, who is evicted."""

from collections.abc import Sequence
from typing import Protocol

from vramledger.simulate.cache.kv_cache import KvCache
from vramledger.simulate.cache.lookup import Hit
from vramledger.simulate.request import Request
from vramledger.simulate.settings import Order, Settings


class Policy(Protocol):
    """A plain object with the decisions; it keeps no requests."""

    def admit(
        self,
        request: Request,
        hit: Hit,
        cache: KvCache,
        running: Sequence[Request],
        *,
        opened: bool,
    ) -> bool:
        """Whether the request at the head of the queue may start, if its first chunk has a place.

        `opened` is whether no request that runs was there before this step.
        """

    def grow(self, request: Request, computed: int) -> int:
        """Tokens that shall have a place once `computed` are scheduled."""

    def evict(self, running: Sequence[Request], asking: Request) -> Request | None:
        """Whose blocks make room for a running request, itself included; None when it shall wait."""


class Vllm:
    """vLLM's V1 scheduler: admit when the prompt fits, grow token by token, evict the last admitted.

    After ``allocate_slots`` and ``schedule`` of 0.32.0 (`SchedulingRules` has what older versions do).
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def admit(
        self,
        request: Request,
        hit: Hit,
        cache: KvCache,
        running: Sequence[Request],
        *,
        opened: bool,
    ) -> bool:
        """Blocks for all known tokens must be free, generated ones included; hits count as theirs."""
        del opened
        if not self.settings.rules.whole_prompt_admission:
            return True
        known = min(request.tokens, self.settings.max_model_len)
        spare = self.settings.watermark_blocks if running else 0
        return cache.need(request, known, hit, capped=True) + spare <= cache.pool.free_blocks

    def grow(self, request: Request, computed: int) -> int:
        """What is scheduled, and the slots that drafting writes ahead."""
        ahead = self.settings.lookahead
        fresh = request.computed == 0 and not self.settings.rules.lookahead_at_admission
        return min(computed + (0 if fresh else ahead), self.settings.max_model_len)

    def evict(self, running: Sequence[Request], asking: Request) -> Request | None:
        """The last admitted; by priority the least urgent, of equal ones the latest arrival."""
        del asking
        if self.settings.order is Order.PRIORITY:
            return max(running, key=lambda request: request.order)
        return running[-1]


class StaticBatch:
    """Static batching, as plain ``generate`` does: nobody joins a batch that has begun.

    Blocks for the whole answer are held from the start, so nobody is evicted.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def admit(
        self,
        request: Request,
        hit: Hit,
        cache: KvCache,
        running: Sequence[Request],
        *,
        opened: bool,
    ) -> bool:
        """Only into a batch that opens in this step, with room for prompt and whole answer."""
        del running
        return opened and cache.need(request, self._whole(request), hit) <= cache.pool.free_blocks

    def grow(self, request: Request, computed: int) -> int:
        """Prompt and whole answer at once."""
        return max(self._whole(request), computed)

    def evict(self, running: Sequence[Request], asking: Request) -> Request | None:
        """Nobody."""
        del running, asking
        return None

    def _whole(self, request: Request) -> int:
        whole = request.prompt + request.arrival.output_tokens
        return min(whole, self.settings.max_model_len)
