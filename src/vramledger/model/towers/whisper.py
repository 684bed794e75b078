"""Whisper's audio encoder, which Voxtral and Qwen2-Audio also use."""

from typing import Final

from vramledger.frozen import frozen
from vramledger.model.config import Config
from vramledger.model.model import TowerInput
from vramledger.model.parts import linear
from vramledger.model.tensor import Role, Shard, Tensor

_KERNEL: Final = 3  # of both convolutions
_STRIDE: Final = 2  # frames per position after the second convolution
LARGEST_DEPTH: Final = 1024


@frozen
class AudioEncoder:
    """30 seconds of sound become 3000 mel frames and 1500 positions."""

    hidden: int
    layers: int
    heads: int
    intermediate: int
    mels: int
    positions: int

    def tensors(self, prefix: str) -> list[Tensor]:
        """The weights; `prefix` ends before ``conv1``. Attention splits by heads."""
        role, hidden = Role.AUDIO, self.hidden
        found = [
            Tensor(f"{prefix}conv1.weight", (hidden, self.mels, _KERNEL), role),
            Tensor(f"{prefix}conv1.bias", (hidden,), role),
            Tensor(f"{prefix}conv2.weight", (hidden, hidden, _KERNEL), role),
            Tensor(f"{prefix}conv2.bias", (hidden,), role),
            Tensor(f"{prefix}embed_positions.weight", (self.positions, hidden), role),
        ]
        for i in range(self.layers):
            found += self._layer(f"{prefix}layers.{i}.")
        return found + _norm(f"{prefix}layer_norm", hidden)

    def largest_input(self, tokens: int) -> TowerInput:
        """One clip of 30 seconds, worth `tokens` in the prompt."""
        return TowerInput(
            modality="audio",
            pixels=self.mels * self.positions * _STRIDE,
            tokens=tokens,
            patches=self.positions,
            hidden=self.hidden,
        )

    def _layer(self, base: str) -> list[Tensor]:
        role, hidden, units = Role.AUDIO, self.hidden, self.heads
        found = _norm(f"{base}self_attn_layer_norm", hidden)
        for name, bias in (("q", True), ("k", False), ("v", True)):
            found += linear(f"{base}self_attn.{name}_proj", hidden, hidden, role, Shard.COLUMN,
                            bias=bias, units=units)  # fmt: skip
        return [
            *found,
            *linear(f"{base}self_attn.out_proj", hidden, hidden, role, Shard.ROW, bias=True,
                    units=units),
            *linear(f"{base}fc1", self.intermediate, hidden, role, Shard.COLUMN, bias=True),
            *linear(f"{base}fc2", hidden, self.intermediate, role, Shard.ROW, bias=True),
            *_norm(f"{base}final_layer_norm", hidden),
        ]  # fmt: skip


def _norm(name: str, width: int) -> list[Tensor]:
    return [Tensor(f"{name}.{kind}", (width,), Role.AUDIO) for kind in ("weight", "bias")]


def read_whisper_encoder(config: Config) -> AudioEncoder:
    """From Whisper's own keys, with the class's defaults."""
    return AudioEncoder(
        hidden=config.integer("d_model", 384),
        layers=config.integer("encoder_layers", 4, most=LARGEST_DEPTH),
        heads=config.integer("encoder_attention_heads", 6),
        intermediate=config.integer("encoder_ffn_dim", 1536),
        mels=config.integer("num_mel_bins", 80),
        positions=config.integer("max_source_positions", 1500),
    )
