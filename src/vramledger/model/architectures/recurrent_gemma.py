"""RecurrentGemmaForCausalLM: RG-LRU blocks with sliding-window attention between them."""

from dataclasses import replace
from typing import Final

from vramledger.errors import BadInput, UnknownName
from vramledger.model.architectures.decoder import Decoder, Frame, Layer, Norms
from vramledger.model.architectures.shape import Defaults, read_shape
from vramledger.model.blocks.attention import GroupedAttention
from vramledger.model.blocks.mlp import Mlp
from vramledger.model.blocks.rg_lru import RgLru
from vramledger.model.config import Config
from vramledger.model.model import Model
from vramledger.units import div_even

_DEFAULTS: Final = Defaults(2560, 26, 10, 7680, 256000, positions=8192)
_NORMS: Final = Norms(("temporal_pre_norm", "channel_pre_norm"))
_CYCLE: Final = ("recurrent", "recurrent", "attention")


def build(config: Config, model_id: str) -> Model:
    """The hybrid; ``block_types`` repeats over the layers, the window is ``attention_window_size``.

    Raises:
        BadInput: an odd ``intermediate_size``, which counts gate and up together.
    """
    text = read_shape(config, _DEFAULTS)
    width = div_even(text.intermediate, 2, f"{config.where}: 'intermediate_size'")
    text = replace(text, intermediate=width)
    mixer = RgLru(
        width=config.integer("lru_width", text.hidden),
        heads=text.heads,
        kernel=config.integer("conv1d_width", 4),
    )
    attention = GroupedAttention(
        text.heads,
        text.kv_heads,
        text.head_dim,
        window=config.integer("attention_window_size", 2048),
        qkv_bias=config.flag("attention_bias", default=False),
        out_bias=True,
        name="temporal_block.",
    )
    block = Mlp(width, bias=True, name="mlp_block.")
    return Decoder(
        architecture="RecurrentGemmaForCausalLM",
        text=text,
        layers=tuple(
            Layer(attention if kind == "attention" else mixer, block, _NORMS)
            for kind in _kinds(config, text.layers)
        ),
        tied=config.flag("tie_word_embeddings", default=True),
        frame=Frame(norm="model.final_norm"),
    ).model(config, model_id)


def _kinds(config: Config, layers: int) -> tuple[str, ...]:
    cycle = config.texts("block_types")
    if cycle is None:
        cycle = _CYCLE
    if not cycle:
        raise BadInput(f"{config.where}: 'block_types' is empty; name at least one block.")
    for kind in cycle:
        if kind not in _CYCLE:
            raise UnknownName("layer kind", kind, set(_CYCLE), f"{config.where}, 'block_types'")
    return tuple(cycle[i % len(cycle)] for i in range(layers))
