"""Granite's mixtures of experts: all experts of a layer in two arrays, and perhaps a shared MLP.

Class defaults are those of the configuration classes in transformers 5.24.
"""

from dataclasses import replace
from typing import Final

from vramledger.model.architectures.mixture import Key, Mixture
from vramledger.model.architectures.shape import Defaults
from vramledger.model.architectures.style import ATTENTION_BIAS, Style, build_from
from vramledger.model.blocks.mlp import Mlp
from vramledger.model.blocks.moe import Moe
from vramledger.model.config import Config
from vramledger.model.model import Model
from vramledger.model.tensor import Role

_FUSED: Final = ("input_linear", "input_linear", "output_linear")
_MIXTURE: Final = Mixture(
    Moe(
        0, 0, 0, name="", expert_name="block_sparse_moe.", router="block_sparse_moe.router.layer",
        names=_FUSED, shared=Mlp(0, name="shared_mlp.", names=_FUSED, role=Role.SHARED_EXPERT),
    ),
    Key(("num_local_experts", "num_experts"), 8),
    Key(("num_experts_per_tok",), 2),
    Key(("intermediate_size",), 11008),
)  # fmt: skip

STYLES: Final = {
    "granitemoe": Style(
        "GraniteMoeForCausalLM",
        Defaults(4096, 32, 32, 11008, 32000),
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        feed_forward=_MIXTURE,
    ),
    "granitemoeshared": Style(
        "GraniteMoeSharedForCausalLM",
        Defaults(4096, 32, 32, 11008, 32000),
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        feed_forward=replace(_MIXTURE, shared_width=Key(("shared_intermediate_size",), 0, least=0)),
    ),
}


def build(config: Config, model_id: str) -> Model:
    """A Granite mixture of experts in the style of its class."""
    return build_from(STYLES, config, model_id)
