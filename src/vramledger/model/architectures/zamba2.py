"""Zamba2ForCausalLM: Mamba-2 layers, some preceded by one of a few shared transformer blocks.

A shared block is stored once, by the first hybrid layer that uses it, with a low-rank adapter for
every layer that calls it; each call keeps a KV cache of its own.
"""

from dataclasses import replace
from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.model.architectures.decoder import Decoder, Frame, Layer, Norms
from vramledger.model.architectures.shape import layer_count, max_positions, read_kv_heads
from vramledger.model.architectures.windows import layer_kinds
from vramledger.model.blocks.attention import GroupedAttention
from vramledger.model.blocks.mamba2 import Mamba2
from vramledger.model.cache import CacheSpec
from vramledger.model.config import Config
from vramledger.model.model import Model, TextShape
from vramledger.model.parts import linear, norm
from vramledger.model.tensor import Role, Shard, Tensor
from vramledger.units import div_even

_HYBRID: Final = "hybrid"
_MAMBA: Final = ("mamba", "linear_attention")


def build(config: Config, model_id: str) -> Model:
    """The hybrid; attention is twice as wide as the model, as it also reads the embedding."""
    text = _shape(config)
    mixer = _mixer(config, text.hidden)
    hybrids = [i for i, kind in enumerate(_kinds(config, text.layers)) if kind == _HYBRID]
    blocks = config.integer("num_mem_blocks", 1)
    calls = {
        layer: _Call(
            mixer=mixer,
            attention=GroupedAttention(
                text.heads, text.kv_heads, text.head_dim, out_width=text.hidden
            ),
            intermediate=text.intermediate,
            bias=config.flag("add_bias_linear", default=False),
            stored=index < blocks,
            adapters=tuple(range(index, len(hybrids), blocks)) if index < blocks else (),
            adapter_rank=config.integer("adapter_rank", 128),
            attention_adapters=config.flag("use_shared_attention_adapter", default=False),
        )
        for index, layer in enumerate(hybrids)
    }
    plain = Layer(replace(mixer, name="mamba."), None, Norms(("input_layernorm",)))
    return Decoder(
        architecture="Zamba2ForCausalLM",
        text=text,
        layers=tuple(
            Layer(calls[i], None, Norms(("mamba_decoder.input_layernorm",)))
            if i in calls
            else plain
            for i in range(text.layers)
        ),
        tied=config.flag("tie_word_embeddings", default=True),
        frame=Frame(norm="model.final_layernorm"),
    ).model(config, model_id)


@frozen
class _Call:
    """A hybrid layer: its call of a shared block, a projection, and a mixer of its own."""

    mixer: Mamba2
    attention: GroupedAttention
    intermediate: int
    bias: bool
    stored: bool  # the block's weights are counted here
    adapters: tuple[int, ...]  # calls of this block, by number among all calls
    adapter_rank: int
    attention_adapters: bool

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        return [
            *linear(f"{prefix}linear", hidden, hidden, Role.MLP, Shard.REPLICATED, layer=layer),
            *self.mixer.tensors(prefix, layer, hidden),
            *(self._block(f"{prefix}shared_transformer.", layer, hidden) if self.stored else ()),
        ]

    def cache(self) -> tuple[CacheSpec, ...]:
        return self.attention.cache() + self.mixer.cache()

    def _block(self, base: str, layer: int, hidden: int) -> list[Tensor]:
        width, mlp = 2 * hidden, f"{base}feed_forward."
        found = self.attention.tensors(base, layer, width)
        for _ in ("gate", "up"):
            found += linear(f"{mlp}gate_up_proj", self.intermediate, hidden, Role.MLP,
                            Shard.COLUMN, layer=layer, bias=self.bias)  # fmt: skip
        found += linear(f"{mlp}down_proj", hidden, self.intermediate, Role.MLP, Shard.ROW,
                        layer=layer, bias=self.bias)  # fmt: skip
        found += norm(f"{base}input_layernorm", width, layer=layer)
        found += norm(f"{base}pre_ff_layernorm", hidden, layer=layer)
        for number in self.adapters:
            found += self._adapters(base, number, layer, hidden)
        return found

    def _adapters(self, base: str, number: int, layer: int, hidden: int) -> list[Tensor]:
        lists = {"feed_forward.gate_up_proj_adapter_list": (hidden, 2 * self.intermediate)}
        if self.attention_adapters:
            for name in ("q", "k", "v"):
                lists[f"self_attn.linear_{name}_adapter_list"] = (2 * hidden, 2 * hidden)
        found: list[Tensor] = []
        for name, (inputs, outputs) in lists.items():
            stem, rank = f"{base}{name}.{number}.", self.adapter_rank
            found += linear(f"{stem}0", rank, inputs, Role.MLP, Shard.COLUMN, layer=layer)
            found += linear(f"{stem}1", outputs, rank, Role.MLP, Shard.COLUMN, layer=layer)
        return found


def _shape(config: Config) -> TextShape:
    hidden = config.integer("hidden_size")
    heads = config.integer("num_attention_heads")
    return TextShape(
        hidden=hidden,
        layers=layer_count(config),
        heads=heads,
        kv_heads=read_kv_heads(config, "num_key_value_heads", heads, heads),
        # the class derives it, whatever the file says
        head_dim=div_even(2 * hidden, heads, f"{config.where}: twice the hidden size"),
        intermediate=config.integer("intermediate_size", 4 * hidden),
        vocab=config.integer("vocab_size"),
        max_positions=max_positions(config, 4096),
    )


def _mixer(config: Config, hidden: int) -> Mamba2:
    heads = config.integer("n_mamba_heads", 8)
    width = config.integer("mamba_expand", 2) * hidden
    return Mamba2(
        heads=heads,
        head_dim=div_even(width, heads, f"{config.where}: 'mamba_expand' x 'hidden_size'"),
        groups=config.integer("mamba_ngroups", 1),
        state=config.integer("mamba_d_state", 64),
        kernel=config.integer("mamba_d_conv", 4),
        bias=config.flag("add_bias_linear", default=False),
        conv_bias=True,
        name="mamba_decoder.mamba.",
    )


def _kinds(config: Config, layers: int) -> tuple[str, ...]:
    """The class's own list is 54 layers long and serves no other depth."""
    key, mamba = "layers_block_type", _MAMBA[0]
    default = [mamba, *([mamba] * 5 + [_HYBRID]) * 7, *[mamba] * 4, _HYBRID]
    default += [*[mamba] * 3, _HYBRID, mamba, mamba]
    if not config.has(key) and layers != len(default):
        raise BadInput(
            f"{config.where} has no {key!r}, and the class's own list is for {len(default)} "
            f"layers, not {layers}; add it."
        )
    return layer_kinds(config, layers, default, known=(*_MAMBA, _HYBRID), key=key)
