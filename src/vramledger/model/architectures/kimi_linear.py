"""Kimi-Linear and the text part of Kimi-K3: Kimi Delta Attention with MLA every few layers.

Class defaults are those of the configuration class in transformers 5.24. What Kimi-K3 adds
(latent experts, gated attention, residuals across layers) follows vLLM 0.33, models/kimi_k3.
"""

from dataclasses import replace
from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.model.architectures import mixture
from vramledger.model.architectures.decoder import Decoder, FeedForward, Frame, Layer
from vramledger.model.architectures.mixture import Key, Mixture
from vramledger.model.architectures.shape import Defaults, read_shape
from vramledger.model.architectures.windows import FULL, layer_kinds
from vramledger.model.blocks.kda import Kda
from vramledger.model.blocks.latent import LatentBlock
from vramledger.model.blocks.moe import Correction, Latent, Moe
from vramledger.model.config import Config
from vramledger.model.model import Model, TextShape
from vramledger.model.parts import linear, norm
from vramledger.model.tensor import Role, Shard, Tensor

_DEFAULTS: Final = Defaults(2304, 27, 32, 9216, 163840, kv_heads=32, positions=1048576)
_LINEAR: Final = "linear_attention"
_MIXTURE: Final = Mixture(
    Moe(
        0,
        0,
        0,
        router_float32=True,
        correction=Correction("gate.e_score_correction_bias"),
        name="block_sparse_moe.",
        names=("w1", "w3", "w2"),
    ),
    Key(("num_experts", "num_local_experts", "n_routed_experts"), 256),
    Key(("num_experts_per_token", "num_experts_per_tok"), 8),
    Key(("moe_intermediate_size",), 1024),
    shared_count=Key(("num_shared_experts", "n_shared_experts"), 1, least=0),
    sparse=mixture.listed(mixture.first_dense(1, "first_k_dense_replace")),
)


def build(config: Config, model_id: str) -> Model:
    """The hybrid; ``linear_attn_config`` or ``layer_types`` places the kinds of attention."""
    latent = _latent(config)
    text = read_shape(config, _DEFAULTS, head_dim=latent.nope_dim + latent.rope_dim)
    residual = config.has("attn_res_block_size")
    others = (_ResidualAcrossLayers(),) if residual else ()
    kinds = layer_kinds(config, text.layers, _default_kinds(config, text), (FULL, _LINEAR))
    mixer = _kda(config)
    return Decoder(
        architecture="KimiLinearForCausalLM",
        text=text,
        layers=tuple(
            Layer(latent if kind == FULL else mixer, block, others=others)
            for kind, block in zip(kinds, _blocks(config, text), strict=True)
        ),
        tied=False,  # the class stores a head whatever the flag says
        frame=Frame(extra=_output_residual(text.hidden) if residual else ()),
    ).model(config, model_id)


@frozen
class _ResidualAcrossLayers:
    """Weighs the outputs of earlier blocks before each half of a layer."""

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        found: list[Tensor] = []
        for name in ("self_attention_res", "mlp_res"):
            found += norm(f"{prefix}{name}_norm", hidden, layer=layer)
            found += linear(f"{prefix}{name}_proj", 1, hidden, Role.OTHER, Shard.REPLICATED,
                            layer=layer)  # fmt: skip
        return found


def _output_residual(hidden: int) -> tuple[Tensor, ...]:
    name = "model.output_attn_res"
    projection = linear(f"{name}_proj", 1, hidden, Role.OTHER, Shard.REPLICATED)
    return (*norm(f"{name}_norm", hidden), *projection)


def _latent(config: Config) -> LatentBlock:
    gated = config.flag("mla_use_output_gate", default=False)
    return LatentBlock(
        heads=config.integer("num_attention_heads", 32 if config.nested else None),
        q_rank=config.integer("q_lora_rank", 0),
        kv_rank=config.integer("kv_lora_rank", 512),
        nope_dim=config.integer("qk_nope_head_dim", 128, least=0),
        rope_dim=config.integer("qk_rope_head_dim", 64, least=0),
        v_dim=config.integer("v_head_dim", 128),
        bias=config.flag("attention_bias", default=False),
        gate="g_proj" if gated else "",
    )


def _kda(config: Config) -> Kda:
    """Sizes come from ``linear_attn_config`` where there is one, else from keys of the top level."""
    nested = config.sub("linear_attn_config") or Config({}, config.where)
    return Kda(
        heads=nested.integer("num_heads", config.integer("linear_num_heads", 32)),
        head_dim=nested.integer("head_dim", config.integer("linear_head_dim", 128)),
        kernel=nested.integer(
            "short_conv_kernel_size", config.integer("linear_conv_kernel_dim", 4)
        ),
        full_rank_gate=nested.flag("use_full_rank_gate", default=False),
    )


def _default_kinds(config: Config, text: TextShape) -> tuple[str, ...]:
    """Layers as ``linear_attn_config`` numbers them, from 1, or the class's own pattern.

    Raises:
        BadInput: a number is no layer, or a layer has none.
    """
    nested = config.sub("linear_attn_config")
    if nested is None or not (nested.has("full_attn_layers") and nested.has("kda_layers")):
        return tuple(FULL if i and i % 4 == 0 else _LINEAR for i in range(text.layers))
    full = nested.integers("full_attn_layers", least=1) or ()
    kda = nested.integers("kda_layers", least=1) or ()
    if sorted((*full, *kda)) != list(range(1, text.layers + 1)):
        raise BadInput(
            f"{nested.where}: 'full_attn_layers' and 'kda_layers' must name each of the "
            f"{text.layers} layers once, counted from 1."
        )
    return tuple(FULL if i + 1 in full else _LINEAR for i in range(text.layers))


def _blocks(config: Config, text: TextShape) -> tuple[FeedForward, ...]:
    blocks = _MIXTURE(config, text)
    if not config.has("routed_expert_hidden_size"):
        return blocks
    latent = Latent(
        config.integer("routed_expert_hidden_size"),
        "routed_expert_down_proj",
        "routed_expert_up_proj",
        "routed_expert_norm" if config.flag("latent_moe_use_norm", default=False) else "",
    )
    return tuple(
        replace(block, latent=latent) if isinstance(block, Moe) else block for block in blocks
    )
