"""How layers use blocks: how many one request is counted for, and how many it really holds.

Sources: vllm/v1/kv_cache_interface.py (reservations), v1/core/single_type_kv_cache_manager.py
(blocks freed behind a window).
"""

from typing import Protocol

from vramledger.frozen import frozen
from vramledger.units import div_ceil


@frozen
class Horizon:
    """What a reservation depends on beside the request's own length."""

    in_flight_tokens: int  # tokens scheduled but not settled yet
    shards: int = 1  # ranks that split a request's positions (context parallelism)


class Use(Protocol):
    """One way of using blocks. Layers of equal use and block size share block ids."""

    @property
    def title(self) -> str: ...

    @property
    def grows(self) -> bool:
        """Whether every token stays until the request ends."""
        ...

    @property
    def recycles(self) -> bool:
        """Whether blocks that fall behind are given back while the request runs."""
        ...

    def reserved(self, tokens: int, block_size: int, horizon: Horizon) -> int:
        """Blocks the engine counts for a request of `tokens` in its fit check."""
        ...

    def held(self, tokens: int, block_size: int, horizon: Horizon) -> int:
        """Blocks a decoding request of `tokens` tokens holds, at most."""
        ...


@frozen
class Growing:
    """Every token stays: full attention and MLA."""

    title: str = "full attention"
    grows: bool = True
    recycles: bool = False

    def reserved(self, tokens: int, block_size: int, horizon: Horizon) -> int:
        return div_ceil(div_ceil(tokens, horizon.shards), block_size)

    def held(self, tokens: int, block_size: int, horizon: Horizon) -> int:
        return self.reserved(tokens, block_size, horizon)


@frozen
class Windowed:
    """The last `window` tokens stay; a window may start inside a block, hence one block more."""

    window: int
    grows: bool = False
    recycles: bool = True

    @property
    def title(self) -> str:
        return f"sliding window {self.window}"

    def reserved(self, tokens: int, block_size: int, horizon: Horizon) -> int:
        held = min(self.window - 1 + horizon.in_flight_tokens, tokens)
        return div_ceil(held, block_size) + 1

    def held(self, tokens: int, block_size: int, horizon: Horizon) -> int:
        del horizon
        within = div_ceil(max(1, self.window - 1), block_size) + 1
        return min(div_ceil(tokens, block_size), within)


@frozen
class Chunked:
    """The current chunk of `chunk` tokens stays."""

    chunk: int
    grows: bool = False
    recycles: bool = True

    @property
    def title(self) -> str:
        return f"chunked attention {self.chunk}"

    def reserved(self, tokens: int, block_size: int, horizon: Horizon) -> int:
        return div_ceil(min(self.chunk + horizon.in_flight_tokens, tokens), block_size)

    def held(self, tokens: int, block_size: int, horizon: Horizon) -> int:
        del horizon
        return div_ceil(min(self.chunk, tokens), block_size)


@frozen
class Stateful:
    """A recurrent state per request: `blocks` of them, whatever the length.

    `every_block` keeps one more state for each block of tokens, as prefix caching did in the
    mode called "all".
    """

    kind: str
    blocks: int
    running: int  # blocks a decoding request holds
    every_block: bool = False
    grows: bool = False
    recycles: bool = False

    @property
    def title(self) -> str:
        return f"{self.kind} state"

    def reserved(self, tokens: int, block_size: int, horizon: Horizon) -> int:
        del horizon
        return self.blocks + (div_ceil(tokens, block_size) if self.every_block else 0)

    def held(self, tokens: int, block_size: int, horizon: Horizon) -> int:
        del horizon
        return self.running + (div_ceil(tokens, block_size) if self.every_block else 0)


@frozen
class Crossed:
    """The encoder's output of one request, fixed once the input is encoded."""

    source_tokens: int  # most positions the encoder gives
    counted_tokens: int  # what the engine plans with: the encoder's budget of a step
    grows: bool = False
    recycles: bool = False
    title: str = "cross attention"

    def reserved(self, tokens: int, block_size: int, horizon: Horizon) -> int:
        del tokens, horizon
        return div_ceil(self.counted_tokens, block_size)

    def held(self, tokens: int, block_size: int, horizon: Horizon) -> int:
        del tokens, horizon
        return div_ceil(self.source_tokens, block_size)


@frozen
class GrowingBesideSource:
    """V0 with an encoder: every block holds every layer, and the source takes blocks of its own."""

    source_tokens: int
    title: str = "full attention and cross attention"
    grows: bool = True
    recycles: bool = False

    def reserved(self, tokens: int, block_size: int, horizon: Horizon) -> int:
        del horizon
        return div_ceil(tokens, block_size)  # the check does not know the source

    def held(self, tokens: int, block_size: int, horizon: Horizon) -> int:
        del horizon
        return div_ceil(tokens, block_size) + div_ceil(self.source_tokens, block_size)


@frozen
class GroupDemand:
    """The demand of one group: a way of using blocks, bound to its block size."""

    use: Use
    block_size: int
    horizon: Horizon

    def at(self, tokens: int) -> int:
        return self.use.held(tokens, self.block_size, self.horizon)

    def reserved(self, tokens: int) -> int:
        return self.use.reserved(tokens, self.block_size, self.horizon)
