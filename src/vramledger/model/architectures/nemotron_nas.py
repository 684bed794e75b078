"""Nemotron-NAS (DeciLM): every layer has its own attention and MLP, or lacks one of them.

The width of an MLP is rounded up as in the code published with the models.
"""

from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.model.architectures.decoder import (
    Decoder,
    FeedForward,
    Layer,
    Mixer,
    Norms,
)
from vramledger.model.architectures.shape import LARGEST_LAYER_COUNT, max_positions
from vramledger.model.blocks.attention import GroupedAttention
from vramledger.model.blocks.mlp import Mlp
from vramledger.model.cache import CacheSpec
from vramledger.model.config import Config
from vramledger.model.model import Model, TextShape
from vramledger.model.parts import linear
from vramledger.model.tensor import Role, Shard, Tensor
from vramledger.units import round_up

_MLP_MULTIPLE: Final = 256


@frozen
class LinearStandIn:
    """A square map in the place of an attention or an MLP; it remembers nothing."""

    name: str
    bias: bool
    role: Role

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        return linear(f"{prefix}{self.name}", hidden, hidden, self.role, Shard.REPLICATED,
                      layer=layer, bias=self.bias)  # fmt: skip

    def cache(self) -> tuple[CacheSpec, ...]:
        return ()


def build(config: Config, model_id: str) -> Model:
    """A DeciLM decoder.

    Raises:
        BadInput: a value is missing or out of range.
    """
    blocks = _blocks(config)
    heads = config.integer("num_attention_heads")
    hidden = config.integer("hidden_size")
    head_dim = config.integer("head_dim", hidden // heads)
    layers = tuple(_layer(block, config, hidden, heads, head_dim) for block in blocks)
    attentions = [x.mixer for x in layers if isinstance(x.mixer, GroupedAttention)]
    mlps = [x.feed_forward for x in layers if isinstance(x.feed_forward, Mlp)]
    text = TextShape(
        hidden=hidden,
        layers=len(layers),
        heads=heads,
        kv_heads=max((a.kv_heads for a in attentions), default=heads),
        head_dim=head_dim,
        intermediate=max((m.intermediate for m in mlps), default=0),
        vocab=config.integer("vocab_size"),
        max_positions=max_positions(config, 2048),
    )
    return Decoder(
        architecture="DeciLMForCausalLM",
        text=text,
        layers=layers,
        tied=config.flag("tie_word_embeddings", default=False),
    ).model(config, model_id)


def _blocks(config: Config) -> list[Config]:
    """The list of block descriptions."""
    items = config.items("block_configs")
    if items is None or not 1 <= len(items) <= LARGEST_LAYER_COUNT:
        raise BadInput(
            f"{config.where}: 'block_configs' must list every layer, up to {LARGEST_LAYER_COUNT}."
        )
    count = config.integer("num_hidden_layers", len(items))
    if count != len(items) or not all(isinstance(item, dict) for item in items):
        raise BadInput(
            f"{config.where}: 'block_configs' holds {len(items)} entries, but 'num_hidden_layers' "
            f"is {count}; give one object a layer."
        )
    return [
        Config(item, f"{config.where}, 'block_configs' {i}", nested=True)
        for i, item in enumerate(items)
    ]


def _layer(block: Config, config: Config, hidden: int, heads: int, head_dim: int) -> Layer:
    attention = _attention(block, config, heads, head_dim)
    mlp = _mlp(block, config, hidden)
    names = ("input_layernorm",) * bool(attention) + ("post_attention_layernorm",) * bool(mlp)
    return Layer(attention, mlp, Norms(names))


def _attention(block: Config, config: Config, heads: int, head_dim: int) -> Mixer | None:
    part = _part(block, "attention")
    bias = config.flag("attention_bias", default=False)
    if part.flag("no_op", default=False):
        return None
    if part.flag("replace_with_linear", default=False):
        return LinearStandIn("self_attn.linear_attn", bias, Role.ATTENTION)
    group = part.integer("n_heads_in_group")
    if heads % group:
        raise BadInput(
            f"{part.where}: 'n_heads_in_group' ({group}) does not divide the query heads "
            f"({heads}); correct one of them."
        )
    return GroupedAttention(
        heads,
        heads // group,
        head_dim,
        window=part.integer("window_length", 0, least=0),
        qkv_bias=bias,
        out_bias=bias,
    )


def _mlp(block: Config, config: Config, hidden: int) -> FeedForward | None:
    part = _part(block, "ffn")
    bias = config.flag("mlp_bias", default=False)
    if part.flag("no_op", default=False):
        return None
    if part.flag("replace_with_linear", default=False):
        return LinearStandIn("mlp.linear_mlp", bias, Role.MLP)
    if part.has("intermediate_size"):
        return Mlp(part.integer("intermediate_size"), bias)
    factor = part.number("ffn_mult", 0.0)
    if factor <= 0:
        raise BadInput(f"{part.where}: 'ffn_mult' is {factor}; it must be positive.")
    return Mlp(round_up(int(2 * factor * hidden / 3), _MLP_MULTIPLE), bias)


def _part(block: Config, key: str) -> Config:
    part = block.sub(key)
    if part is None:
        raise BadInput(f"{block.where} has no {key!r}; describe it, or mark it as 'no_op'.")
    return part
