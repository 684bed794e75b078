"""KV cache groups that share one pool of blocks, each with its own way of using them."""

from vramledger.frozen import frozen


@frozen
class FullAttention:
    """Every token keeps its slot until the request ends."""


@frozen
class SlidingWindow:
    """Only the last `window` tokens are attended; blocks before them are given back."""

    window: int


@frozen
class RecurrentState:
    """A state of constant size (Mamba, linear attention), one block each.

    Without prefix caching a request holds one block and one for each of `speculative` drafts. With
    it (vLLM's "align" mode) states are written at block boundaries, the last two are kept, and chunks
    of a prefill end at boundaries. A kernel that can write a state inside a chunk, at multiples of
    `checkpoint` tokens from its start, lets the last chunk run through (Mamba-2: 1; None where it cannot).
    """

    speculative: int = 0
    checkpoint: int | None = None


Group = FullAttention | SlidingWindow | RecurrentState
