"""What vLLM asks of a model when it chooses defaults."""

from typing import Final

from vramledger.engine.vllm.values import Values
from vramledger.frozen import frozen
from vramledger.model.cache import (
    ChunkedAttention,
    CompressedAttention,
    LatentAttention,
    RecurrentState,
    SharedWith,
    SlidingAttention,
)
from vramledger.model.model import Model, ModelKind


@frozen
class Traits:
    """Yes-or-no properties of a model, as vLLM's own configuration names them."""

    pooling: bool  # run for embedding, reranking, classification
    bidirectional: bool  # an encoder: every token sees every other
    encoder_decoder: bool
    attention_free: bool
    hybrid: bool  # attention beside a recurrent state
    multimodal: bool
    mla: bool
    chunked_local: bool  # attention over fixed chunks (Llama 4)
    window: int | None  # smallest sliding window, None where there is none
    every_layer_slides: bool


_POOLING_TASKS: Final = frozenset(
    {"embed", "embedding", "classify", "score", "reward", "token_embed", "token_classify"}
)


def asks_for_pooling(values: Values) -> bool:
    """Whether the launch runs a generating model for embeddings or scores."""
    return values.text("runner") == "pooling" or values.text("task") in _POOLING_TASKS


def traits_of(model: Model, *, pooling: bool = False) -> Traits:
    """The traits of a model; a cache that is not known counts as plain attention."""
    specs = [layer.spec for layer in model.cache_layers if not isinstance(layer.spec, SharedWith)]
    states = [spec for spec in specs if isinstance(spec, RecurrentState)]
    sliding = [spec for spec in specs if isinstance(spec, SlidingAttention)]
    return Traits(
        pooling=pooling or model.kind is ModelKind.ENCODER,
        bidirectional=model.kind is ModelKind.ENCODER,
        encoder_decoder=model.kind is ModelKind.ENCODER_DECODER,
        attention_free=bool(specs) and len(states) == len(specs),
        hybrid=bool(states) and len(states) < len(specs),
        multimodal=bool(model.towers),
        mla=any(isinstance(spec, LatentAttention | CompressedAttention) for spec in specs),
        chunked_local=any(isinstance(spec, ChunkedAttention) for spec in specs),
        window=min((spec.window for spec in sliding), default=None),
        every_layer_slides=bool(sliding) and len(sliding) == len(specs),
    )
