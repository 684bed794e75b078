"""MambaForCausalLM, FalconMambaForCausalLM and Mamba2ForCausalLM: mixers only, no attention.

Class defaults are those of the configuration classes in transformers 5.24.
"""

from collections.abc import Callable
from typing import Final

from vramledger.frozen import frozen
from vramledger.model.architectures.decoder import Decoder, Frame, Layer, Norms
from vramledger.model.architectures.shape import layer_count
from vramledger.model.blocks.mamba1 import Mamba1
from vramledger.model.blocks.mamba2 import Mamba2
from vramledger.model.config import Config
from vramledger.model.model import Model, TextShape
from vramledger.units import div_ceil

_NO_LIMIT: Final = 2048  # vLLM 0.33 takes this for configurations that state no length
_FRAME: Final = Frame("backbone.embeddings", "backbone.layers.{}.", "backbone.norm_f")


def build(config: Config, model_id: str) -> Model:
    """A stack of Mamba mixers."""
    style = _CLASSES[config.text("model_type")]
    hidden = config.integer("hidden_size")
    mixer = style.mixer(config, hidden)
    layers = layer_count(config)
    text = TextShape(
        hidden=hidden,
        layers=layers,
        heads=0,
        kv_heads=0,
        head_dim=0,
        intermediate=mixer.width,
        vocab=config.integer("vocab_size"),
        max_positions=config.integer("max_position_embeddings", _NO_LIMIT),
    )
    return Decoder(
        architecture=style.architecture,
        text=text,
        layers=(Layer(mixer, None, Norms(("norm",))),) * layers,
        tied=config.flag("tie_word_embeddings", default=style.tied),
        frame=_FRAME,
    ).model(config, model_id)


def dt_rank(config: Config, key: str, hidden: int) -> int:
    """Rank of the time step's projection; ``"auto"`` is a sixteenth of the hidden size."""
    if config.raw(key) in (None, "auto"):
        return div_ceil(hidden, 16)
    return config.integer(key)


def _mamba1(config: Config, hidden: int) -> Mamba1:
    expand = config.integer("expand", 2)
    return Mamba1(
        # Falcon-Mamba publishes "expand": 16 beside a width of twice the hidden size, and its
        # weights have the width
        width=config.integer("intermediate_size", expand * hidden),
        state=config.integer("state_size", 16),
        kernel=config.integer("conv_kernel", 4),
        dt_rank=dt_rank(config, "time_step_rank", hidden),
        bias=config.flag("use_bias", default=False),
        conv_bias=config.flag("use_conv_bias", default=True),
    )


def _mamba2(config: Config, _hidden: int) -> Mamba2:
    return Mamba2(
        heads=config.integer("num_heads", 128),
        head_dim=config.integer("head_dim", 64),
        groups=config.integer("n_groups", 8),
        state=config.integer("state_size", 128),
        kernel=config.integer("conv_kernel", 4),
        bias=config.flag("use_bias", default=False),
        conv_bias=config.flag("use_conv_bias", default=True),
    )


@frozen
class _Style:
    architecture: str
    mixer: Callable[[Config, int], Mamba1 | Mamba2]
    tied: bool


_CLASSES: Final = {
    "mamba": _Style("MambaForCausalLM", _mamba1, tied=True),
    "falcon_mamba": _Style("FalconMambaForCausalLM", _mamba1, tied=True),
    "mamba2": _Style("Mamba2ForCausalLM", _mamba2, tied=False),
}
