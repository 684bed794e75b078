"""MllamaForConditionalGeneration (Llama 3.2 Vision): some layers read the image, the rest the text.

Class defaults are those of the configuration classes in transformers 5.24.
"""

from dataclasses import replace
from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.model.architectures.decoder import Decoder, Layer
from vramledger.model.architectures.multimodal import (
    Tower,
    compose,
    inner_text,
    text_config,
    tied_inside,
    vision_config,
)
from vramledger.model.architectures.shape import Defaults, read_shape
from vramledger.model.blocks.attention import GroupedAttention, QueryKeyNorm
from vramledger.model.blocks.mlp import Mlp
from vramledger.model.blocks.source_attention import SourceAttention
from vramledger.model.config import Config
from vramledger.model.model import Model, TextShape
from vramledger.model.rotary import rotary_tables
from vramledger.model.tensor import Role, Tensor
from vramledger.model.towers.mllama import MllamaTower, read_mllama
from vramledger.model.towers.vit import replicated

_DEFAULTS: Final = Defaults(4096, 40, 32, 14336, 128256, kv_heads=8, positions=131072)
_EXTRA_ROWS: Final = 8  # of the embedding, for the image token; the head has none
_FIRST_CROSS: Final = (3, 8, 13, 18, 23, 28, 33, 38)
_PART: Final = inner_text("mllama_text_model", tied_inside)


def build(config: Config, model_id: str) -> Model:
    """The model; a layer that reads the image keeps no keys and values of the text."""
    inner = text_config(config, _PART)
    tower = read_mllama(vision_config(config))
    text = read_shape(inner, _DEFAULTS)
    whole = replace(text, vocab=text.vocab + _EXTRA_ROWS)
    decoder = Decoder(
        architecture="MllamaForCausalLM",
        text=whole,
        layers=_layers(inner, text, tower),
        tied=inner.flag("tie_word_embeddings", default=False),
    ).model(inner, model_id)
    tensors = tuple(_head(tensor, text.vocab) for tensor in decoder.tensors)
    decoder = replace(decoder, tensors=tensors, rotary=rotary_tables(inner, text.head_dim))
    projector = replicated(
        "multi_modal_projector", (text.hidden, tower.output), Role.PROJECTOR, bias=True
    )
    return compose(
        config,
        decoder,
        architecture="MllamaForConditionalGeneration",
        part=_PART,
        towers=[Tower((*tower.tensors("vision_model."), *projector), tower.largest_input())],
    )


@frozen
class _Gates:
    """What scales the two halves of a layer that reads the image."""

    def tensors(self, prefix: str, layer: int, _hidden: int) -> list[Tensor]:
        return [
            Tensor(f"{prefix}cross_attn_{half}_gate", (1,), Role.OTHER, layer=layer)
            for half in ("attn", "mlp")
        ]


def _layers(config: Config, text: TextShape, tower: MllamaTower) -> tuple[Layer, ...]:
    cross = _cross_layers(config, text.layers)
    attention = GroupedAttention(text.heads, text.kv_heads, text.head_dim)
    source = SourceAttention(
        replace(attention, name="cross_attn.", norm=QueryKeyNorm()),
        source_tokens=tower.tiles * tower.positions,
    )
    block = Mlp(text.intermediate)
    return tuple(
        Layer(source, block, others=(_Gates(),)) if i in cross else Layer(attention, block)
        for i in range(text.layers)
    )


def _cross_layers(config: Config, layers: int) -> frozenset[int]:
    given = config.integers("cross_attention_layers")
    cross = _FIRST_CROSS if given is None else given
    beyond = [i for i in cross if i >= layers]
    if beyond:
        raise BadInput(
            f"{config.where}: 'cross_attention_layers' names layer {beyond[0]}, but there are "
            f"{layers} layers, counted from 0."
        )
    return frozenset(cross)


def _head(tensor: Tensor, rows: int) -> Tensor:
    if tensor.role is not Role.HEAD:
        return tensor
    return replace(tensor, shape=(rows, *tensor.shape[1:]))
