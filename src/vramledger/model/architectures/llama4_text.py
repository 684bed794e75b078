"""Llama 4's language model: layers with rotary positions attend within a chunk, the others to all.

Class defaults are those of the configuration class in transformers 5.24.
"""

from typing import Final

from vramledger.model.architectures.decoder import Decoder, FeedForward, Layer
from vramledger.model.architectures.shape import Defaults, read_shape
from vramledger.model.architectures.windows import FULL, layer_kinds
from vramledger.model.blocks.attention import GroupedAttention
from vramledger.model.blocks.mlp import FUSED, Mlp
from vramledger.model.blocks.moe import Moe
from vramledger.model.config import Config
from vramledger.model.model import Model, TextShape
from vramledger.model.tensor import Role

_CHUNKED: Final = "chunked_attention"
_DEFAULTS: Final = Defaults(5120, 48, 40, 8192, 202048, kv_heads=8, head_dim=128, positions=131072)
_DEFAULT_CHUNK: Final = 8192
_NAME: Final = "feed_forward."


def build(config: Config, model_id: str) -> Model:
    """Llama 4's decoder.

    Raises:
        BadInput: a value is missing or out of range.
        UnknownName: a layer is of no known kind.
    """
    dense = config.integer("intermediate_size_mlp", 16384)
    text = read_shape(config, _DEFAULTS, intermediate=dense)
    chunk = _chunk(config, text)
    kinds = _kinds(config, text.layers, chunk)
    attention = {
        kind: _attention(config, text, chunk if kind == _CHUNKED else 0) for kind in set(kinds)
    }
    return Decoder(
        architecture="Llama4ForCausalLM",
        text=text,
        layers=tuple(
            Layer(attention[kind], block)
            for kind, block in zip(kinds, _feed_forward(config, text), strict=True)
        ),
        tied=config.flag("tie_word_embeddings", default=False),
    ).model(config, model_id)


def _chunk(config: Config, text: TextShape) -> int:
    """Tokens of a chunk; null, or a chunk that the longest sequence never fills, means none (0)."""
    key = "attention_chunk_size"
    chunk = config.integer(key, 0, least=0) if key in config.values else _DEFAULT_CHUNK
    return chunk if chunk < text.max_positions else 0


def _kinds(config: Config, layers: int, chunk: int) -> tuple[str, ...]:
    every = config.integer("no_rope_layer_interval", 4)
    rope = config.integers("no_rope_layers") or [int((i + 1) % every != 0) for i in range(layers)]
    assumed = [_CHUNKED if chunk and has_rope else FULL for has_rope in rope[:layers]]
    return layer_kinds(config, layers, assumed, (FULL, _CHUNKED))


def _attention(config: Config, text: TextShape, chunk: int) -> GroupedAttention:
    bias = config.flag("attention_bias", default=False)
    return GroupedAttention(
        text.heads, text.kv_heads, text.head_dim, chunk=chunk, qkv_bias=bias, out_bias=bias
    )


def _feed_forward(config: Config, text: TextShape) -> tuple[FeedForward, ...]:
    step = config.integer("interleave_moe_layer_step", 1, least=0)
    listed = config.integers("moe_layers")
    sparse = set(range(step - 1, text.layers, step) if listed is None and step else listed or ())
    width = config.integer("intermediate_size", _DEFAULTS.intermediate)
    mixed = Moe(
        experts=config.integer("num_local_experts", 16),
        per_token=config.integer("num_experts_per_tok", 1),
        intermediate=width,
        shared=Mlp(width, name="shared_expert.", role=Role.SHARED_EXPERT),
        router="router",
        name=_NAME,
        expert_name="experts.",
        names=FUSED,
        stacked=True,
    )
    plain = Mlp(text.intermediate, name=_NAME)
    return tuple(mixed if i in sparse else plain for i in range(text.layers))
