"""DeepSeek-V4: compressed sparse attention, hyper-connections, experts in every layer.

Names are those of the published checkpoints; class defaults those of transformers 5.24.
"""

from dataclasses import replace
from typing import Final

from vramledger.errors import BadInput
from vramledger.model.architectures.decoder import Decoder, Frame, Layer, Norms
from vramledger.model.architectures.mixture import Key, Mixture
from vramledger.model.architectures.shape import (
    LARGEST_LAYER_COUNT,
    Defaults,
    read_shape,
)
from vramledger.model.architectures.windows import layer_kinds, read_window
from vramledger.model.blocks.compressed import (
    OVERLAPPING_RATIO,
    CompressedBlock,
    CompressedIndexer,
    HyperConnection,
)
from vramledger.model.blocks.mlp import Mlp
from vramledger.model.blocks.moe import Correction, Moe
from vramledger.model.config import Config
from vramledger.model.dtype import DType
from vramledger.model.model import Model, TextShape
from vramledger.model.parts import linear, norm
from vramledger.model.tensor import Role, Shard, Tensor

_WINDOW_ONLY: Final = "sliding_attention"
_SPARSE: Final = "compressed_sparse_attention"
_HEAVY: Final = "heavily_compressed_attention"
_KINDS: Final = (_WINDOW_ONLY, _SPARSE, _HEAVY)
_RATIOS: Final = {_WINDOW_ONLY: 0, _SPARSE: OVERLAPPING_RATIO, _HEAVY: 128}
_HASHED: Final = "hash_moe"
_STEERED: Final = "moe"
_DEFAULTS: Final = Defaults(4096, 43, 64, 2048, 129280, kv_heads=1, positions=1048576)
_SHARED: Final = Mlp(0, name="shared_experts.", names=("w1", "w3", "w2"), role=Role.SHARED_EXPERT)
_MIXTURE: Final = Mixture(
    Moe(
        0, 0, 0, name="ffn.", names=("w1", "w3", "w2"), correction=Correction("gate.bias"),
        shared=_SHARED,
    ),
    Key(("n_routed_experts", "num_local_experts", "num_experts"), 256),
    Key(("num_experts_per_tok",), 6),
    Key(("moe_intermediate_size", "intermediate_size"), 2048),
    shared_count=Key(("n_shared_experts",), 1),
)  # fmt: skip
_NORMS: Final = Norms(("attn_norm", "ffn_norm"), class_dtype=DType.FLOAT32)


def build(config: Config, model_id: str) -> Model:
    """A DeepSeek-V4 decoder.

    Raises:
        BadInput: a value is missing or out of range.
        UnknownName: a layer is of no known kind.
    """
    text = read_shape(config, _DEFAULTS, head_dim=config.integer("head_dim", 512), intermediate=0)
    connection = HyperConnection(config.integer("hc_mult", 4))
    layers = _layers(config, text, connection)
    frame = Frame(
        embed="embed",
        layer="layers.{}.",
        norm="norm",
        norm_class_dtype=DType.FLOAT32,
        head="head",
        extra=tuple(connection.head("", text.hidden)),
    )
    return Decoder(
        architecture="DeepseekV4ForCausalLM",
        text=text,
        layers=layers,
        tied=config.flag("tie_word_embeddings", default=False),
        frame=frame,
        extra_tensors=_prediction(config, text, layers[-1], connection),
        sparse_topk=config.integer("index_topk", 512),
    ).model(config, model_id)


def _layers(config: Config, text: TextShape, connection: HyperConnection) -> tuple[Layer, ...]:
    attention = {kind: _attention(config, text, kind) for kind in _KINDS}
    moe = _MIXTURE.read(config)
    hashed = replace(moe, correction=None, table_rows=text.vocab)
    return tuple(
        Layer(attention[kind], hashed if router == _HASHED else moe, _NORMS, (connection,))
        for kind, router in zip(_attention_kinds(config, text), _router_kinds(config, text),
                                strict=True)
    )  # fmt: skip


def _attention(config: Config, text: TextShape, kind: str) -> CompressedBlock:
    rates = config.sub("compress_rates")
    sparse = kind == _SPARSE
    heads = config.integer("index_n_heads", 64)
    groups = config.integer("o_groups", 8)
    if (text.heads * text.head_dim) % groups:
        raise BadInput(
            f"{config.where}: 'o_groups' ({groups}) does not divide the width of the heads "
            f"({text.heads} x {text.head_dim}); correct one of them."
        )
    return CompressedBlock(
        heads=text.heads,
        head_dim=text.head_dim,
        q_rank=config.integer("q_lora_rank", 1024),
        out_groups=groups,
        out_rank=config.integer("o_lora_rank", 1024),
        window=read_window(config, 128),
        ratio=rates.integer(kind, _RATIOS[kind], least=0) if rates else _RATIOS[kind],
        doubled=sparse,
        indexer=CompressedIndexer(heads, config.integer("index_head_dim", 128)) if sparse else None,
    )


def _attention_kinds(config: Config, text: TextShape) -> tuple[str, ...]:
    """Kinds by name, or by the older list of compression ratios, or as the class assumes."""
    ratios = config.integers("compress_ratios")
    if ratios is not None and not config.has("layer_types"):
        return _kinds_of_ratios(config, ratios, text.layers)
    assumed = [_SPARSE if i > 2 and i % 2 else _HEAVY for i in range(text.layers)]
    return layer_kinds(config, text.layers, assumed, _KINDS)


def _kinds_of_ratios(config: Config, ratios: tuple[int, ...], layers: int) -> tuple[str, ...]:
    by_ratio = {ratio: kind for kind, ratio in _RATIOS.items()}
    unknown = set(ratios[:layers]) - set(by_ratio)
    if len(ratios) < layers or unknown:
        raise BadInput(
            f"{config.where}: 'compress_ratios' must hold {layers} ratios out of "
            f"{', '.join(map(str, by_ratio))}, one a layer."
        )
    return tuple(by_ratio[ratio] for ratio in ratios[:layers])


def _router_kinds(config: Config, text: TextShape) -> tuple[str, ...]:
    hashed = config.integer("num_hash_layers", 3, least=0)
    assumed = [_HASHED if i < hashed else _STEERED for i in range(text.layers)]
    return layer_kinds(config, text.layers, assumed, (_HASHED, _STEERED), "mlp_layer_types")


def _prediction(
    config: Config, text: TextShape, last: Layer, connection: HyperConnection
) -> tuple[Tensor, ...]:
    """The MTP layers: a window-only layer with projections of its own, embedding and head shared."""
    count = config.integer("num_nextn_predict_layers", 1, least=0, most=LARGEST_LAYER_COUNT)
    layer = replace(last, mixer=_attention(config, text, _WINDOW_ONLY))
    tensors: list[Tensor] = []
    for i in range(count):
        prefix, number = f"mtp.{i}.", text.layers + i
        tensors += layer.tensors(prefix, number, text.hidden)
        tensors += connection.head(prefix, text.hidden, number)
        for name in ("e_proj", "h_proj"):
            tensors += linear(f"{prefix}{name}", text.hidden, text.hidden, Role.DRAFT,
                              Shard.REPLICATED, layer=number)  # fmt: skip
        for name in ("enorm", "hnorm", "norm"):
            tensors += norm(f"{prefix}{name}", text.hidden, layer=number)
    return tuple(replace(tensor, role=Role.DRAFT) for tensor in tensors)
