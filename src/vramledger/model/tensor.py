"""Weights: what a tensor is for, how it splits over ranks, and how many bytes it takes."""

from collections.abc import Sequence
from enum import StrEnum
from math import prod
from typing import Protocol

from vramledger.frozen import frozen
from vramledger.model.dtype import DType


class Role(StrEnum):
    """What a tensor is for."""

    EMBEDDING = "embedding"
    HEAD = "head"
    ATTENTION = "attention"
    INDEXER = "indexer"  # the sparse-attention indexer beside an MLA layer
    STATE = "state"  # mixers that keep a recurrent state: Mamba, delta, linear, short convolution
    MLP = "mlp"
    EXPERT = "expert"
    SHARED_EXPERT = "shared expert"
    ROUTER = "router"
    NORM = "norm"
    VISION = "vision"
    AUDIO = "audio"
    PROJECTOR = "projector"  # between a tower and the language model
    DRAFT = "draft"  # layers only speculative decoding uses (MTP, EAGLE)
    BUFFER = "buffer"  # stored with the weights but not a parameter (router correction bias)
    OTHER = "other"


class Shard(StrEnum):
    """How tensor parallelism splits a tensor. Shapes are ``[out, in]`` as checkpoints store them."""

    REPLICATED = "replicated"  # every rank holds all of it
    COLUMN = "column"  # dim 0 (outputs) split
    ROW = "row"  # last dim (inputs) split; a bias of a row layer is REPLICATED
    KV = "kv"  # dim 0 split by KV heads, a head repeated when ranks outnumber heads
    VOCAB = "vocab"  # dim 0 split after padding the vocabulary


class Encoding(Protocol):
    """How a quantised weight is stored, its scales and zeros included."""

    @property
    def name(self) -> str:
        """What people call it: ``fp8``, ``Q4_K``."""
        ...

    def nbytes(self, shape: Sequence[int]) -> int:
        """Bytes for one matrix of this shape ``[out, in]``."""
        ...


@frozen
class Tensor:
    """One parameter, or `copies` equal ones (the experts of a layer).

    A fused parameter (``qkv_proj``) may be given as several pieces of the same `name`, each with
    its own `shard`; their sizes add up to the stored tensor. Copies without "{e}" in their name are
    one stored array with the expert as its first dimension.
    """

    name: str  # as the checkpoint names it; "{e}" stands for the expert number when copies > 1
    shape: tuple[int, ...]
    role: Role
    shard: Shard = Shard.REPLICATED
    layer: int | None = None  # decoder layer; None outside the decoder stack
    copies: int = 1
    units: int = (
        1  # indivisible parts along the split dim: heads for attention, 1 = single elements
    )
    linear: bool = False  # a weight matrix that a quantisation scheme may cover
    dtype: DType | None = None  # None: the model's own
    encoding: Encoding | None = None  # None: plain elements of `dtype`
    class_dtype: DType | None = None  # type the model's class insists on; engines need not follow

    @property
    def elements(self) -> int:
        """Parameters in all copies."""
        return self.copies * prod(self.shape)

    def nbytes(self, default: DType) -> int:
        """Stored bytes of all copies; `default` is the model's element type."""
        if self.encoding is not None:
            return self.copies * self.encoding.nbytes(self.shape)
        return self.elements * (self.dtype or default).nbytes
