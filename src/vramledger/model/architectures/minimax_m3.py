"""MiniMax-M3's language model: grouped attention, most layers reading chosen blocks of the past only.

The block indexer keeps one key a token in each sparse layer. Class defaults are those of the
configuration class in transformers 5.24; names those of the published checkpoints.
"""

from collections.abc import Sequence
from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.model.architectures import mixture, mtp
from vramledger.model.architectures.decoder import Decoder, Layer
from vramledger.model.architectures.mixture import Key, Mixture
from vramledger.model.architectures.shape import Defaults, read_shape
from vramledger.model.architectures.windows import FULL, layer_kinds
from vramledger.model.blocks.attention import GroupedAttention, QueryKeyNorm
from vramledger.model.blocks.moe import Correction, Moe
from vramledger.model.cache import CacheSpec, FullAttention
from vramledger.model.config import Config
from vramledger.model.model import Model
from vramledger.model.parts import linear
from vramledger.model.tensor import Role, Shard, Tensor

_SPARSE: Final = "minimax_m3_sparse"
_DEFAULTS: Final = Defaults(6144, 60, 64, 3072, 200064, kv_heads=4, head_dim=128, positions=524288)
_MIXTURE: Final = Mixture(
    Moe(
        0, 0, 0, name="block_sparse_moe.", names=("w1", "w3", "w2"),
        correction=Correction("e_score_correction_bias"),
    ),
    Key(("num_local_experts", "num_experts"), 128),
    Key(("num_experts_per_tok",), 4),
    Key(("intermediate_size",), 3072),
    shared_width=Key(("shared_intermediate_size",), 3072),
    sparse=mixture.flagged_or_listed(mixture.first_dense(0)),
)  # fmt: skip


@frozen
class BlockSparseAttention:
    """Grouped attention beside an indexer whose query heads split as KV heads do (vLLM 0.33)."""

    attention: GroupedAttention
    index_heads: int
    index_dim: int

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        base, role = f"{prefix}{self.attention.name}index_", Role.INDEXER
        return [
            *self.attention.tensors(prefix, layer, hidden),
            *linear(f"{base}q_proj", self.index_heads * self.index_dim, hidden, role, Shard.KV,
                    layer=layer, units=self.index_heads),
            *linear(f"{base}k_proj", self.index_dim, hidden, role, Shard.REPLICATED, layer=layer),
            Tensor(f"{base}q_norm.weight", (self.index_dim,), role, layer=layer),
            Tensor(f"{base}k_norm.weight", (self.index_dim,), role, layer=layer),
        ]  # fmt: skip

    def cache(self) -> tuple[CacheSpec, ...]:
        plain = self.attention
        return (FullAttention(plain.kv_heads, plain.head_dim, plain.value_dim, self.index_dim),)


def build(config: Config, model_id: str) -> Model:
    """MiniMax-M3's decoder.

    Raises:
        BadInput: a value is missing or out of range.
        UnknownName: a layer is of no known kind.
    """
    text = read_shape(
        config, _DEFAULTS, intermediate=config.integer("dense_intermediate_size", 12288)
    )
    full = GroupedAttention(text.heads, text.kv_heads, text.head_dim, norm=QueryKeyNorm())
    options = config.sub("sparse_attention_config") or Config({}, config.where)
    sparse = BlockSparseAttention(
        full,
        options.integer("sparse_num_index_heads", config.integer("index_n_heads", 4)),
        options.integer("sparse_index_dim", config.integer("index_head_dim", 128)),
    )
    kinds = _kinds(config, options, text.layers)
    return Decoder(
        architecture="MiniMaxM3ForCausalLM",
        text=text,
        layers=tuple(
            Layer(sparse if kind == _SPARSE else full, block)
            for kind, block in zip(kinds, _MIXTURE(config, text), strict=True)
        ),
        tied=config.flag("tie_word_embeddings", default=False),
        extra_tensors=mtp.prediction_layers(
            config, text, Layer(sparse, _MIXTURE.read(config)), mtp.MINIMAX
        ),
        notes=_notes(kinds, sparse.index_dim),
    ).model(config, model_id)


def _kinds(config: Config, options: Config, layers: int) -> tuple[str, ...]:
    """Kinds by name, or by the older list of flags; without either all layers are full."""
    flags = options.integers("sparse_attention_freq")
    if flags is None or config.has("layer_types"):
        return layer_kinds(config, layers, [FULL] * layers, (FULL, _SPARSE))
    if len(flags) < layers:
        raise BadInput(
            f"{options.where}: 'sparse_attention_freq' lists {len(flags)} layers, but there are "
            f"{layers}; list every layer."
        )
    return tuple(_SPARSE if flag else FULL for flag in flags[:layers])


def _notes(kinds: Sequence[str], index_dim: int) -> tuple[str, ...]:
    count = sum(kind == _SPARSE for kind in kinds)
    if not count:
        return ()
    note = (
        f"{count} block-sparse layers also keep an index key of {index_dim} elements a token; "
        "the bytes per token leave it out."
    )
    return (note,)
