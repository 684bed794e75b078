"""Voxtral and Qwen2-Audio: Whisper's encoder, a projector, and a language model."""

from collections.abc import Callable
from typing import Final

from vramledger.frozen import frozen
from vramledger.model.architectures.multimodal import (
    TextPart,
    Tower,
    compose,
    inner_text,
    never_tied,
    read_text,
    vision_config,
)
from vramledger.model.config import Config
from vramledger.model.model import Model
from vramledger.model.parts import linear
from vramledger.model.tensor import Role, Shard, Tensor
from vramledger.model.towers.vit import depth, merged, replicated
from vramledger.model.towers.whisper import AudioEncoder

_ROLE: Final = Role.PROJECTOR
_PROJECTOR: Final = "multi_modal_projector."
# What the class gives to a text section that leaves it out.
_VOXTRAL_TEXT: Final = {
    "vocab_size": 131072,
    "hidden_size": 3072,
    "intermediate_size": 8192,
    "num_hidden_layers": 30,
    "num_key_value_heads": 8,
    "max_position_embeddings": 131072,
    "head_dim": 128,
}


@frozen
class _Style:
    architecture: str
    part: TextPart
    projector: Callable[[AudioEncoder, int], list[Tensor]]
    positions_per_token: int


def build(config: Config, model_id: str) -> Model:
    """The model; the encoder has the defaults of Whisper large."""
    style = _STYLES[config.text("model_type")]
    text = read_text(config, style.part, model_id)
    encoder = _encoder(vision_config(config, "audio_config"))
    weights = (
        *encoder.tensors("audio_tower."),
        *style.projector(encoder, text.text.hidden),
    )
    tokens = merged(encoder.positions, style.positions_per_token)
    return compose(
        config,
        text,
        architecture=style.architecture,
        part=style.part,
        towers=[Tower(weights, encoder.largest_input(tokens))],
    )


def _encoder(config: Config) -> AudioEncoder:
    """Both spellings of the keys are in use."""

    def pick(new: str, old: str) -> str:
        return new if config.has(new) else old

    return AudioEncoder(
        hidden=config.integer(pick("d_model", "hidden_size"), 1280),
        layers=depth(config, pick("encoder_layers", "num_hidden_layers"), 32),
        heads=config.integer(pick("encoder_attention_heads", "num_attention_heads"), 20),
        intermediate=config.integer(pick("encoder_ffn_dim", "intermediate_size"), 5120),
        mels=config.integer("num_mel_bins", 128),
        positions=config.integer("max_source_positions", 1500),
    )


def _voxtral(encoder: AudioEncoder, hidden: int) -> list[Tensor]:
    """Reads as many neighbouring positions as the encoder's MLP is wider than its stream."""
    return [
        *linear(f"{_PROJECTOR}linear_1", hidden, encoder.intermediate, _ROLE, Shard.REPLICATED),
        *linear(f"{_PROJECTOR}linear_2", hidden, hidden, _ROLE, Shard.REPLICATED),
    ]


def _qwen2_audio(encoder: AudioEncoder, hidden: int) -> list[Tensor]:
    return replicated(f"{_PROJECTOR}linear", (hidden, encoder.hidden), _ROLE, bias=True)


_STYLES: Final = {
    "voxtral": _Style(
        "VoxtralForConditionalGeneration",
        inner_text("llama", never_tied, _VOXTRAL_TEXT),
        _voxtral,
        positions_per_token=4,
    ),
    "qwen2_audio": _Style(
        "Qwen2AudioForConditionalGeneration",
        inner_text("qwen2", never_tied),
        _qwen2_audio,
        positions_per_token=2,
    ),
}
