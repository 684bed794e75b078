"""LongCat-Flash: a layer is two latent attentions and two MLPs with one mixture of experts beside.

Class defaults are those of the configuration class in transformers 5.24.
"""

from dataclasses import replace
from typing import Final

from vramledger.frozen import frozen
from vramledger.model.architectures import mtp
from vramledger.model.architectures.decoder import Decoder, Layer, Norms
from vramledger.model.architectures.shape import Keys, keyed
from vramledger.model.blocks.latent import LatentBlock
from vramledger.model.blocks.mlp import Mlp
from vramledger.model.blocks.moe import Correction, Moe
from vramledger.model.cache import CacheSpec
from vramledger.model.config import Config
from vramledger.model.model import Model
from vramledger.model.tensor import Tensor

_SHAPE: Final = keyed(
    Keys(
        hidden=("hidden_size",),
        layers=("num_layers", "num_hidden_layers"),
        heads=("num_attention_heads",),
        intermediate=("ffn_hidden_size", "intermediate_size"),
    ),
    positions=131072,
)
_HALVES: Final = (0, 1)


@frozen
class TwoHalves:
    """Both attentions and dense MLPs of a layer; each attention has a cache of its own."""

    attention: LatentBlock
    mlp: Mlp

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        found: list[Tensor] = []
        for half in _HALVES:
            attention = replace(self.attention, name=f"self_attn.{half}.")
            found += attention.tensors(prefix, layer, hidden)
            found += replace(self.mlp, name=f"mlps.{half}.").tensors(prefix, layer, hidden)
        return found

    def cache(self) -> tuple[CacheSpec, ...]:
        return self.attention.cache() * len(_HALVES)


def build(config: Config, model_id: str) -> Model:
    """A LongCat-Flash decoder.

    Raises:
        BadInput: a value is missing or out of range.
    """
    attention = LatentBlock(
        heads=config.integer("num_attention_heads"),
        q_rank=config.integer("q_lora_rank", 1536),
        kv_rank=config.integer("kv_lora_rank", 512),
        nope_dim=config.integer("qk_nope_head_dim", 128),
        rope_dim=config.integer("qk_rope_head_dim", 64),
        v_dim=config.integer("v_head_dim", 128),
        bias=config.flag("attention_bias", default=False),
    )
    text = replace(_SHAPE(config), head_dim=attention.nope_dim + attention.rope_dim)
    names = ("input_layernorm", "post_attention_layernorm")
    layer = Layer(
        TwoHalves(attention, Mlp(text.intermediate)),
        _experts(config),
        Norms(tuple(f"{name}.{half}" for name in names for half in _HALVES)),
    )
    mlp = Mlp(text.intermediate, name="transformer_layer.mlp.")
    draft = Layer(attention, mlp, Norms(names))
    return Decoder(
        architecture="LongcatFlashForCausalLM",
        text=text,
        layers=(layer,) * text.layers,
        tied=config.flag("tie_word_embeddings", default=False),
        extra_tensors=mtp.prediction_layers(config, text, draft, mtp.LONGCAT),
    ).model(config, model_id)


def _experts(config: Config) -> Moe:
    """Routed experts; the router also chooses among `zero_expert_num` that do nothing."""
    experts = config.integer("n_routed_experts", 512)
    return Moe(
        experts=experts,
        per_token=config.integer("moe_topk", 12),
        intermediate=config.integer("expert_ffn_hidden_size", 2048),
        router="router.classifier",
        router_bias=config.flag("router_bias", default=False),
        router_rows=experts + config.integer("zero_expert_num", 256, least=0),
        correction=Correction("router.e_score_correction_bias"),
    )
