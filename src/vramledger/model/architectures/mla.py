"""Decoders with multi-head latent attention: DeepSeek V2 to V3.2 and their kin.

Class defaults are those of the configuration classes in transformers 5.24.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from vramledger.frozen import frozen
from vramledger.model.architectures import mixture, mtp
from vramledger.model.architectures.decoder import Decoder, Layer
from vramledger.model.architectures.mixture import Key, Mixture
from vramledger.model.architectures.shape import Defaults, read_shape
from vramledger.model.architectures.windows import layer_kinds
from vramledger.model.blocks.latent import Indexer, LatentBlock
from vramledger.model.blocks.mlp import Mlp
from vramledger.model.blocks.moe import Correction, Moe
from vramledger.model.config import Config
from vramledger.model.model import Model, TextShape
from vramledger.model.tensor import Tensor

_ROUTED: Final = ("n_routed_experts", "num_local_experts", "num_experts")
_PER_TOKEN: Final = ("num_experts_per_tok",)
_STEERED: Final = Moe(
    0, 0, 0, router_float32=True, correction=Correction("gate.e_score_correction_bias")
)
_UNSTEERED: Final = replace(_STEERED, correction=None)
_V3_MIXTURE: Final = Mixture(
    _STEERED,
    Key(_ROUTED, 256),
    Key(_PER_TOKEN, 8),
    Key(("moe_intermediate_size",), 2048),
    shared_count=Key(("n_shared_experts",), 1, least=0),
    sparse=mixture.after_first(3),
)
_LISTED_AFTER_THREE: Final = mixture.listed(mixture.first_dense(3, "first_k_dense_replace"))
_SPARSE_KINDS: Final = ("indexed_attention", "deepseek_sparse_attention")


@frozen
class Ranks:
    """Class defaults of the latent widths."""

    q: int = 1536
    kv: int = 512
    nope: int = 128
    rope: int = 64
    v: int = 128  # 0: hidden / heads


@frozen
class IndexerDefaults:
    """Class defaults of the sparse indexer, and which layers own one."""

    heads: int
    dim: int
    topk: int
    owners: Callable[[Config, int], tuple[bool, ...]]


@frozen
class LatentStyle:
    """How a class with latent attention departs from DeepSeek V3."""

    architecture: str
    defaults: Defaults
    ranks: Ranks
    feed_forward: Mixture | None = _V3_MIXTURE  # None: dense with ``mlp_bias``
    tied: bool = False
    indexer: IndexerDefaults | None = None


def _all_layers(_config: Config, layers: int) -> tuple[bool, ...]:
    return (True,) * layers


def _listed_owners(config: Config, layers: int) -> tuple[bool, ...]:
    """GLM's rule: a layer without an indexer reads the choice of the one before it."""
    pattern = config.raw("index_topk_pattern")
    if isinstance(pattern, str) and not config.has("indexer_types"):
        letters = Config({"index_topk_pattern": list(pattern)}, config.where)
        kinds = layer_kinds(letters, layers, (), ("F", "S"), "index_topk_pattern")
        return tuple(kind == "F" for kind in kinds)
    every = max(config.integer("index_topk_freq", 1, least=0), 1)
    offset = config.integer("index_skip_topk_offset", 2, least=0)
    assumed = ["shared" if max(i - offset + 1, 0) % every else "full" for i in range(layers)]
    key = "indexer_types" if config.has("indexer_types") else "index_topk_pattern"
    kinds = layer_kinds(config, layers, assumed, ("full", "shared"), key)
    return tuple(kind == "full" for kind in kinds)


_V3_DEFAULTS: Final = Defaults(7168, 61, 128, 18432, 129280, positions=4096)

STYLES: Final = {
    "deepseek_v2": LatentStyle(
        "DeepseekV2ForCausalLM",
        Defaults(4096, 32, 32, 11008, 102400),
        Ranks(),
        Mixture(
            _UNSTEERED,
            Key(_ROUTED, 64),
            Key(_PER_TOKEN),
            Key(("moe_intermediate_size",), 1407),
            shared_count=Key(("n_shared_experts",), 2, least=0),
            sparse=mixture.after_first(0),
            bias_key="mlp_bias",
        ),
    ),
    "deepseek_v3": LatentStyle("DeepseekV3ForCausalLM", _V3_DEFAULTS, Ranks()),
    "kimi_k2": LatentStyle("DeepseekV3ForCausalLM", _V3_DEFAULTS, Ranks()),
    "deepseek_v32": LatentStyle(
        "DeepseekV32ForCausalLM",
        Defaults(7168, 61, 128, 18432, 129280, positions=163840),
        Ranks(),
        replace(_V3_MIXTURE, sparse=_LISTED_AFTER_THREE),
        indexer=IndexerDefaults(64, 128, 2048, _all_layers),
    ),
    "glm_moe_dsa": LatentStyle(
        "GlmMoeDsaForCausalLM",
        Defaults(6144, 78, 64, 12288, 154880, positions=202752),
        Ranks(q=2048, nope=192, v=256),
        replace(_V3_MIXTURE, sparse=_LISTED_AFTER_THREE),
        indexer=IndexerDefaults(32, 128, 2048, _listed_owners),
    ),
    "glm4_moe_lite": LatentStyle(
        "Glm4MoeLiteForCausalLM",
        Defaults(2048, 47, 20, 10240, 154880, positions=202752),
        Ranks(q=768, nope=192, v=256),
        Mixture(
            _STEERED,
            Key(_ROUTED, 64),
            Key(_PER_TOKEN, 4),
            Key(("moe_intermediate_size",), 1536),
            shared_count=Key(("n_shared_experts",), 1, least=0),
            sparse=mixture.listed(mixture.first_dense(1)),
        ),
    ),
    "mistral4": LatentStyle(
        "Mistral4ForCausalLM",
        Defaults(4096, 36, 32, 12288, 131072, positions=1048576),
        Ranks(q=1024, kv=256, nope=64),
        Mixture(
            Moe(0, 0, 0),
            Key(_ROUTED, 128),
            Key(_PER_TOKEN, 4),
            Key(("moe_intermediate_size",), 2048),
            shared_count=Key(("n_shared_experts",), 1, least=0),
            sparse=mixture.after_first(0),
        ),
    ),
    "minicpm3": LatentStyle(
        "MiniCPM3ForCausalLM",
        Defaults(2560, 62, 40, 6400, 73448, positions=32768),
        Ranks(q=768, kv=256, nope=64, rope=32, v=0),
        feed_forward=None,
        tied=True,
    ),
}


def build(config: Config, model_id: str) -> Model:
    """A decoder with latent attention in the style of its class."""
    style = STYLES[config.text("model_type")]
    block = read_latent(config, style)
    text = read_shape(config, style.defaults, head_dim=block.nope_dim + block.rope_dim)
    indexed = _indexed(config, style, block)
    return Decoder(
        architecture=style.architecture,
        text=text,
        layers=_layers(config, text, style, block, indexed),
        tied=config.flag("tie_word_embeddings", default=style.tied),
        extra_tensors=_prediction(config, text, style, indexed),
        sparse_topk=config.integer("index_topk", style.indexer.topk) if style.indexer else 0,
    ).model(config, model_id)


def read_latent(config: Config, style: LatentStyle) -> LatentBlock:
    """The attention of a layer, without an indexer.

    Raises:
        BadInput: a width is missing or out of range.
    """
    ranks = style.ranks
    heads = config.integer("num_attention_heads", style.defaults.heads if config.nested else None)
    v_default = ranks.v or config.integer("hidden_size", style.defaults.hidden) // heads
    return LatentBlock(
        heads=heads,
        q_rank=_optional(config, "q_lora_rank", ranks.q),
        kv_rank=config.integer("kv_lora_rank", ranks.kv),
        nope_dim=config.integer("qk_nope_head_dim", ranks.nope, least=0),
        rope_dim=config.integer("qk_rope_head_dim", ranks.rope, least=0),
        v_dim=config.integer("v_head_dim", v_default),
        bias=config.flag("attention_bias", default=False),
    )


def _optional(config: Config, key: str, default: int) -> int:
    """Absent means the class default, null none (0)."""
    return config.integer(key, 0) if key in config.values else default


def _indexed(config: Config, style: LatentStyle, block: LatentBlock) -> LatentBlock:
    """The attention of a layer that owns an indexer; the plain one where the class has none."""
    if style.indexer is None:
        return block
    heads = config.integer("index_n_heads", style.indexer.heads)
    return replace(
        block, indexer=Indexer(heads, config.integer("index_head_dim", style.indexer.dim))
    )


def _layers(
    config: Config,
    text: TextShape,
    style: LatentStyle,
    block: LatentBlock,
    indexed: LatentBlock,
) -> tuple[Layer, ...]:
    plain = Mlp(text.intermediate, config.flag("mlp_bias", default=False))
    feed_forward = (
        style.feed_forward(config, text) if style.feed_forward else (plain,) * text.layers
    )
    owners = (False,) * text.layers
    if style.indexer:
        layer_kinds(config, text.layers, (), _SPARSE_KINDS)
        owners = style.indexer.owners(config, text.layers)
    return tuple(
        Layer(indexed if owns else block, part)
        for owns, part in zip(owners, feed_forward, strict=True)
    )


def _prediction(
    config: Config, text: TextShape, style: LatentStyle, indexed: LatentBlock
) -> tuple[Tensor, ...]:
    """The MTP layers: always with experts, and with an indexer of their own (vLLM 0.33)."""
    if style.feed_forward is None:
        return ()
    layer = Layer(indexed, style.feed_forward.read(config))
    return mtp.prediction_layers(config, text, layer)
