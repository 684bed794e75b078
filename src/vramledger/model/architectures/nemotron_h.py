"""NemotronHForCausalLM: every layer is one of Mamba-2, attention, an MLP or experts, alone."""

from typing import Final

from vramledger.errors import BadInput, UnknownName
from vramledger.model.architectures.decoder import Decoder, Frame, Layer, Norms, as_draft
from vramledger.model.architectures.shape import LARGEST_LAYER_COUNT, max_positions, read_kv_heads
from vramledger.model.blocks.attention import GroupedAttention
from vramledger.model.blocks.mamba2 import Mamba2
from vramledger.model.blocks.mlp import PLAIN, Mlp
from vramledger.model.blocks.moe import Correction, Latent, Moe
from vramledger.model.config import Config
from vramledger.model.model import Model, TextShape
from vramledger.model.parts import linear, norm
from vramledger.model.tensor import Role, Shard, Tensor

MAMBA: Final = "linear_attention"
ATTENTION: Final = "full_attention"
DENSE: Final = "mlp"
EXPERTS: Final = "moe"
_LETTERS: Final = {"M": MAMBA, "*": ATTENTION, "-": DENSE, "E": EXPERTS}
_SPELLINGS: Final = {
    **{kind: kind for kind in (MAMBA, ATTENTION, DENSE, EXPERTS)},
    "mamba": MAMBA,
    "attention": ATTENTION,
}
_DEFAULT_PATTERN: Final = (MAMBA, EXPERTS, ATTENTION, DENSE)
_NAME: Final = "mixer."
_NORMS: Final = Norms(("norm",))
_MOST_PREDICTIONS: Final = 64  # a bound on what is enumerated


def build(config: Config, model_id: str) -> Model:
    """The hybrid; the list or pattern of layers decides the depth, not ``num_hidden_layers``."""
    kinds = read_kinds(config, "layers_block_type", "hybrid_override_pattern", _DEFAULT_PATTERN)
    text = _shape(config, len(kinds))
    return Decoder(
        architecture="NemotronHForCausalLM",
        text=text,
        layers=tuple(_layer(config, text, kind) for kind in kinds),
        tied=False,  # the class stores a head whatever the flag says
        frame=Frame("backbone.embeddings", "backbone.layers.{}.", "backbone.norm_f"),
        extra_tensors=_prediction(config, text),
    ).model(config, model_id)


def read_kinds(
    config: Config, list_key: str, pattern_key: str, default: tuple[str, ...]
) -> tuple[str, ...]:
    """One kind a layer, from a list of names or a pattern of letters (``M-M*ME``).

    Raises:
        UnknownName: a name or letter stands for no kind.
        BadInput: there are no layers, or absurdly many.
    """
    names = config.texts(list_key)
    known, key = (_SPELLINGS, list_key) if names is not None else (_LETTERS, pattern_key)
    if names is None and config.has(pattern_key):
        names = tuple(config.text(pattern_key))
    if names is None:
        return default
    if not 0 < len(names) <= LARGEST_LAYER_COUNT:
        raise BadInput(
            f"{config.where}: {key!r} names {len(names)} layers; it must name from 1 to "
            f"{LARGEST_LAYER_COUNT}."
        )
    for name in names:
        if name not in known:
            raise UnknownName("layer kind", name, known, f"{config.where}, {key!r}")
    return tuple(known[name] for name in names)


def _shape(config: Config, layers: int) -> TextShape:
    heads = config.integer("num_attention_heads", 32)
    head_dim_key = "head_dim" if config.has("head_dim") else "attention_head_dim"
    return TextShape(
        hidden=config.integer("hidden_size", 4096),
        layers=layers,
        heads=heads,
        kv_heads=read_kv_heads(config, "num_key_value_heads", heads, 8),
        head_dim=config.integer(head_dim_key, 128),
        intermediate=config.integer("intermediate_size", 21504),
        vocab=config.integer("vocab_size", 131072),
        max_positions=max_positions(config, 4096),
        gated_mlp=False,
    )


def _layer(config: Config, text: TextShape, kind: str) -> Layer:
    bias = config.flag("mlp_bias", default=False)
    if kind == MAMBA:
        return Layer(_mamba(config), None, _NORMS)
    if kind == ATTENTION:
        return Layer(
            GroupedAttention(text.heads, text.kv_heads, text.head_dim, name=_NAME), None, _NORMS
        )
    if kind == EXPERTS:
        return Layer(None, _experts(config, bias=bias), _NORMS)
    return Layer(None, Mlp(text.intermediate, bias, _NAME, PLAIN), _NORMS)


def _mamba(config: Config) -> Mamba2:
    groups = "mamba_n_groups" if config.has("mamba_n_groups") else "n_groups"
    kernel = "mamba_d_conv" if config.has("mamba_d_conv") else "conv_kernel"
    conv_bias = "mamba_conv_bias" if config.has("mamba_conv_bias") else "use_conv_bias"
    return Mamba2(
        heads=config.integer("mamba_num_heads", 128),
        head_dim=config.integer("mamba_head_dim", 64),
        groups=config.integer(groups, 8),
        state=config.integer("ssm_state_size", 128),
        kernel=config.integer(kernel, 4),
        bias=config.flag("use_bias", default=False),
        conv_bias=config.flag(conv_bias, default=True),
        name=_NAME,
    )


def _experts(config: Config, *, bias: bool) -> Moe:
    latent = config.integer("moe_latent_size", 0, least=0)
    shared = config.integer("moe_shared_expert_intermediate_size", 7688)
    return Moe(
        experts=config.integer("n_routed_experts", 8),
        per_token=config.integer("num_experts_per_tok", 2),
        intermediate=config.integer("moe_intermediate_size", 7688),
        shared=Mlp(shared, bias, "shared_experts.", PLAIN, Role.SHARED_EXPERT),
        router_float32=True,
        correction=Correction("gate.e_score_correction_bias"),
        latent=Latent(latent, "fc1_latent_proj", "fc2_latent_proj", bias=bias) if latent else None,
        name=_NAME,
        names=PLAIN,
    )


def _prediction(config: Config, text: TextShape) -> tuple[Tensor, ...]:
    """The MTP layers: the first joins token and hidden state, the last ends with a norm."""
    count = config.integer("num_nextn_predict_layers", 0, least=0, most=_MOST_PREDICTIONS)
    kinds = read_kinds(
        config, "mtp_layers_block_type", "mtp_hybrid_override_pattern", (ATTENTION, EXPERTS)
    )
    found: list[Tensor] = []
    for i in range(count * len(kinds)):
        step, prefix, number = i % len(kinds), f"mtp.layers.{i}.", text.layers + i
        found += _layer(config, text, kinds[step]).tensors(prefix, number, text.hidden)
        if step == 0:
            found += norm(f"{prefix}enorm", text.hidden, layer=number)
            found += norm(f"{prefix}hnorm", text.hidden, layer=number)
            found += linear(f"{prefix}eh_proj", text.hidden, 2 * text.hidden, Role.DRAFT,
                            Shard.COLUMN, layer=number)  # fmt: skip
        if step == len(kinds) - 1:
            found += norm(f"{prefix}final_layernorm", text.hidden, layer=number)
    return as_draft(found)
