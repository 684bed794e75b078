"""`Model`: everything memory needs to know about a network, whatever file it came from."""

from collections.abc import Iterable
from dataclasses import field
from enum import StrEnum
from typing import Final

from vramledger.errors import CannotKnow
from vramledger.evidence import Basis
from vramledger.frozen import frozen
from vramledger.model.cache import CacheLayer
from vramledger.model.dtype import DType
from vramledger.model.rotary import RotaryTable
from vramledger.model.tensor import Role, Tensor


class ModelKind(StrEnum):
    """What the network does, which decides whether it has a KV cache."""

    DECODER = "decoder"
    ENCODER_DECODER = "encoder-decoder"
    ENCODER = "encoder"  # embedding, reranking, classification: no cache


@frozen
class Experts:
    """A mixture of experts. `layers` is how many decoder layers carry one."""

    count: int
    per_token: int
    intermediate: int
    shared_intermediate: int  # total width of the shared experts, 0 where none
    layers: int


@frozen
class TextShape:
    """Dimensions of the decoder that serves tokens (the text part of a multimodal model)."""

    hidden: int
    layers: int
    heads: int  # query heads; 0 in attention-free models
    kv_heads: int
    head_dim: int
    intermediate: int  # dense MLP width (widest where layers differ), 0 where none
    vocab: int  # rows of the embedding as stored
    max_positions: int  # longest sequence the configuration allows, rope scaling applied
    experts: Experts | None = None
    gated_mlp: bool = True  # gate and up projections (SwiGLU) rather than one
    short_positions: int | None = None  # LongRoPE: the length it was trained at before extension


@frozen
class TowerInput:
    """What one largest item of a modality costs the encoder and the prompt.

    `pixels` counts input elements of one item (3 x height x width), `tokens` the embeddings it
    becomes in the decoder's prompt, `patches` the positions the tower itself computes on.
    """

    modality: str  # "image", "video", "audio"
    pixels: int
    tokens: int
    patches: int
    hidden: int  # the tower's width
    table_bytes: int = 0  # tables it builds at first use and keeps (rotary frequencies)
    levels: int = 1  # hidden states it hands on per token (1 + deepstack levels)
    frames_each: int = 0  # a video: frames behind these figures, which more frames repeat


_PLAIN_BITS: Final = 16


@frozen
class Quantization:
    """How the checkpoint's weights are stored and what that shrinks."""

    method: str  # "fp8", "awq", "gptq", "compressed-tensors", "mxfp4", "nvfp4", ...
    detail: str  # a sentence for people: bits, group size, what is left out
    weight_bits: float
    activation_bits: int  # 16 where activations stay as they are, 8 or 4 where quantised
    kv_dtype: str | None = None  # KV cache type the checkpoint declares ("fp8"), None otherwise
    group_size: int = 0  # inputs that share a scale, 0 per tensor or channel
    block: tuple[int, int] | None = None  # FP8 block shape [out, in]
    act_order: bool = False

    @property
    def shrinks(self) -> tuple[str, ...]:
        """Which of weights, activations and KV cache the checkpoint makes smaller."""
        small = {
            "weights": self.weight_bits < _PLAIN_BITS,
            "activations": self.activation_bits < _PLAIN_BITS,
            "KV cache": self.kv_dtype is not None,
        }
        return tuple(name for name, shrunk in small.items() if shrunk)

    @property
    def keeps(self) -> tuple[str, ...]:
        """Which of the three stay as they are."""
        return tuple(n for n in ("weights", "activations", "KV cache") if n not in self.shrinks)


@frozen
class Model:
    """A network as memory sees it. Tensors and caches are whole-model, before any split."""

    id: str
    architecture: str  # class name, e.g. "LlamaForCausalLM"
    model_type: str
    kind: ModelKind
    dtype: DType  # of weights that say nothing else
    text: TextShape
    tensors: tuple[Tensor, ...]
    cache_layers: tuple[CacheLayer, ...]
    tied_embeddings: bool
    extra_tensors: tuple[Tensor, ...] = ()  # in the checkpoint but not in the class: MTP layers
    quantization: Quantization | None = None
    towers: tuple[TowerInput, ...] = ()
    rotary: tuple[RotaryTable, ...] = ()  # position tables that engines keep beside the weights
    sparse_topk: int = 0  # tokens a sparse-attention indexer keeps, 0 where none
    weights_basis: Basis = Basis.DERIVED  # EXACT when file headers gave the bytes
    header_bytes: int | None = None  # bytes of all tensors in the file headers, when there are any
    notes: tuple[str, ...] = field(default=())
    cache_unknown: str | None = None  # why the cache cannot be told (then `cache_layers` is empty)
    weights_unknown: str | None = None  # why the stored bytes are but an upper bound, one sentence

    def require_cache(self) -> tuple[CacheLayer, ...]:
        """The cache layers.

        Raises:
            CannotKnow: the weights are known but what the network remembers is not.
        """
        if self.cache_unknown is not None:
            raise CannotKnow(self.cache_unknown)
        return self.cache_layers

    @property
    def params_total(self) -> int:
        """Parameters the class builds; buffers and MTP layers are not among them."""
        return count_elements(t for t in self.tensors if t.role is not Role.BUFFER)

    @property
    def params_active(self) -> int:
        """`params_total` less the routed experts that one token does not reach."""
        if self.text.experts is None:
            return self.params_total
        routed = count_elements(t for t in self.tensors if t.role is Role.EXPERT)
        unreached = routed - routed * self.text.experts.per_token // self.text.experts.count
        return self.params_total - unreached

    @property
    def weights_bytes(self) -> int:
        """Bytes as stored, buffers included; from headers where there are any."""
        if self.header_bytes is not None:
            return self.header_bytes
        return sum(t.nbytes(self.dtype) for t in self.tensors)

    def params_of(self, role: Role) -> int:
        return count_elements(t for t in self.tensors if t.role is role)


def count_elements(tensors: Iterable[Tensor]) -> int:
    """Parameters in all the tensors."""
    return sum(t.elements for t in tensors)
