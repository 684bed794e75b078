"""What a layer must remember between tokens, for the whole model (before any split over ranks).

A decoder layer may own several caches (attention beside a state, self beside cross attention) or
none. Sizes are elements; the element size belongs to the deployment, except where a layer fixes it.
"""

from enum import StrEnum

from vramledger.frozen import frozen
from vramledger.model.dtype import DType


@frozen
class FullAttention:
    """Keys and values of every token."""

    kv_heads: int
    k_dim: int  # per head
    v_dim: int
    index_dim: int = 0  # a key that a block-sparse indexer keeps beside (MiniMax-M3), 0 where none

    @property
    def width(self) -> int:
        """Elements a token adds, without the indexer's key."""
        return self.kv_heads * (self.k_dim + self.v_dim)


@frozen
class SlidingAttention:
    """Keys and values of the last `window` tokens."""

    kv_heads: int
    k_dim: int
    v_dim: int
    window: int

    @property
    def width(self) -> int:
        return self.kv_heads * (self.k_dim + self.v_dim)


@frozen
class ChunkedAttention:
    """Keys and values of the current chunk of `chunk` tokens (Llama 4)."""

    kv_heads: int
    k_dim: int
    v_dim: int
    chunk: int

    @property
    def width(self) -> int:
        return self.kv_heads * (self.k_dim + self.v_dim)


@frozen
class LatentAttention:
    """MLA: one latent and one rotary key for all heads, no values. `indexer_dim` > 0 for DSA."""

    rank: int
    rope_dim: int
    indexer_dim: int = 0  # key width of the sparse indexer this layer keeps, 0 where none

    @property
    def width(self) -> int:
        """Elements a token adds, without the indexer."""
        return self.rank + self.rope_dim


@frozen
class CompressedAttention:
    """DeepSeek-V4: a sliding window of plain states beside one compressed state per `ratio` tokens.

    `ratio` 0 or 1 means that the layer keeps only its window.
    """

    width: int  # elements of one state
    window: int
    ratio: int
    indexer_dim: int = 0


class StateKind(StrEnum):
    """Families of recurrent state."""

    MAMBA1 = "mamba1"
    MAMBA2 = "mamba2"
    GATED_DELTA = "gated delta"
    KDA = "kda"
    LINEAR = "linear attention"
    RG_LRU = "rg-lru"
    SHORT_CONV = "short convolution"


@frozen
class StatePart:
    """One array of a recurrent state."""

    shape: tuple[int, ...]
    recurrent: bool  # True for the SSM part (its own dtype setting), False for the convolution
    dtype: DType | None = None  # fixed by the layer kind; None follows the deployment
    groups: int = 0  # Mamba-2 B/C groups inside a convolution width (padded up to TP), else 0
    group_width: int = 0  # width of one B or C group


@frozen
class RecurrentState:
    """A fixed state per sequence, whatever its length."""

    kind: StateKind
    parts: tuple[StatePart, ...]
    heads: int  # heads (or channels) that tensor parallelism must divide


@frozen
class CrossAttention:
    """Keys and values of the encoder's output, fixed once the input is encoded."""

    kv_heads: int
    k_dim: int
    v_dim: int
    source_tokens: int  # most encoder positions a request can have

    @property
    def width(self) -> int:
        return self.kv_heads * (self.k_dim + self.v_dim)


@frozen
class SharedWith:
    """The layer reads another layer's cache and owns none."""

    layer: int


CacheSpec = (
    FullAttention
    | SlidingAttention
    | ChunkedAttention
    | LatentAttention
    | CompressedAttention
    | RecurrentState
    | CrossAttention
    | SharedWith
)


@frozen
class CacheLayer:
    """A cache that decoder layer `layer` owns."""

    layer: int
    spec: CacheSpec
