"""A GGUF header as a `Model`: exact bytes by tensor, caches by architecture."""

import re
from collections import Counter
from pathlib import Path
from typing import Final

from vramledger.errors import BadInput, nearest
from vramledger.evidence import Basis
from vramledger.model.cache import CacheLayer
from vramledger.model.dtype import DType
from vramledger.model.files.gguf import GgufFile, read_gguf
from vramledger.model.files.gguf_types import BY_NAME
from vramledger.model.files.stored import StoredTensor, StoredWeights
from vramledger.model.gguf.architectures import ARCHITECTURES, GgufArchitecture
from vramledger.model.gguf.metadata import Metadata
from vramledger.model.headers import StoredEncoding
from vramledger.model.model import Experts, Model, ModelKind, Quantization, TextShape
from vramledger.model.names import layer_of, role_of
from vramledger.model.tensor import Encoding, Role, Shard, Tensor

_PLAIN: Final = {
    "F64": DType.FLOAT64, "F32": DType.FLOAT32, "F16": DType.FLOAT16, "BF16": DType.BFLOAT16,
    "I64": DType.INT64, "I32": DType.INT32, "I16": DType.INT16, "I8": DType.INT8,
}  # fmt: skip
_SHARDS: Final = tuple(
    (re.compile(pattern), shard)
    for pattern, shard in (
        (r"^(token_embd|output)\.weight", Shard.VOCAB),
        (r"\.attn_[kv]\.", Shard.KV),
        (r"\.(attn_q|attn_qkv|attn_q_b|attn_kv_b|attn_k_b|attn_v_b|attn_gate)\.", Shard.COLUMN),
        (r"\.attn_output\.weight", Shard.ROW),
        (r"\.(ffn_gate|ffn_up)(_exps|_shexp)?\.", Shard.COLUMN),
        (r"\.ffn_down(_exps|_shexp)?\.weight", Shard.ROW),
        (r"\.ssm_in\.", Shard.COLUMN),
        (r"\.ssm_out\.weight", Shard.ROW),
    )
)


def load_gguf(path: Path, model_id: str) -> Model:
    """The model in a GGUF checkpoint.

    Weights are exact for every architecture; of one we do not know the cache is refused by name.

    Raises:
        BadInput: the file is damaged, or a metadata key that the architecture needs is missing.
    """
    file = read_gguf(path)
    name = file.metadata.get("general.architecture")
    if not isinstance(name, str):
        raise BadInput(
            f"{path} has no metadata key 'general.architecture'; convert the model again with a "
            "recent llama.cpp."
        )
    row = ARCHITECTURES.get(name)
    meta = Metadata(file.metadata, name, str(path))
    if row is None or row.kind is ModelKind.ENCODER:
        return _without_cache(file, meta, model_id, row)
    text = _text_shape(meta, file.weights, gated=row.gated_mlp)
    return _model(file, meta, model_id, row, text, row.caches(meta), None)


def _without_cache(
    file: GgufFile, meta: Metadata, model_id: str, row: GgufArchitecture | None
) -> Model:
    """An encoder (which keeps nothing), or an architecture whose cache we do not know."""
    refusal = None if row is not None else _refusal(meta, model_id)
    text = TextShape(
        hidden=meta.integer("embedding_length", 0),
        layers=meta.integer("block_count", 0),
        heads=meta.integer("attention.head_count", 0),
        kv_heads=meta.integer("attention.head_count_kv", meta.integer("attention.head_count", 0)),
        head_dim=meta.integer("attention.key_length", 0),
        intermediate=meta.integer("feed_forward_length", 0),
        vocab=_rows_of(file.weights, "token_embd.weight"),
        max_positions=meta.integer("context_length", 0),
    )
    return _model(file, meta, model_id, row, text, (), refusal)


def _refusal(meta: Metadata, model_id: str) -> str:
    near = nearest(meta.architecture, ARCHITECTURES)
    closest = f" (the nearest known: {', '.join(near)})" if near else ""
    return (
        f"What {model_id} keeps in its cache cannot be told: the GGUF architecture "
        f"{meta.architecture!r} is unknown{closest}."
    )


def _model(
    file: GgufFile,
    meta: Metadata,
    model_id: str,
    row: GgufArchitecture | None,
    text: TextShape,
    cache_layers: tuple[CacheLayer, ...],
    refusal: str | None,
) -> Model:
    tensors = tuple(_tensor(stored, text) for stored in file.weights.tensors)
    draft = tuple(t for t in tensors if _is_draft(t, text.layers))
    own = tuple(t for t in tensors if not _is_draft(t, text.layers))
    return Model(
        id=model_id,
        architecture=f"{meta.architecture} (GGUF)",
        model_type=row.model_type if row is not None else meta.architecture,
        kind=row.kind if row is not None else ModelKind.DECODER,
        dtype=DType.BFLOAT16,
        text=text,
        tensors=own,
        cache_layers=cache_layers,
        tied_embeddings=all(t.name != "output.weight" for t in tensors),
        extra_tensors=draft,
        quantization=_quantization(file.weights),
        weights_basis=Basis.EXACT,
        header_bytes=file.weights.nbytes,
        cache_unknown=refusal,
    )


def _text_shape(meta: Metadata, weights: StoredWeights, *, gated: bool) -> TextShape:
    heads = meta.heads
    return TextShape(
        hidden=meta.hidden,
        layers=meta.layers,
        heads=heads,
        kv_heads=max(meta.kv_heads, default=0),
        head_dim=meta.key_dim if heads else 0,
        intermediate=meta.integer("feed_forward_length", 0),
        vocab=_rows_of(weights, "token_embd.weight"),
        max_positions=meta.integer("context_length", least=1),
        experts=_experts(meta, weights),
        gated_mlp=gated,
    )


def _experts(meta: Metadata, weights: StoredWeights) -> Experts | None:
    count = meta.integer("expert_count", 0)
    if not count:
        return None
    width = meta.integer("expert_feed_forward_length", meta.integer("feed_forward_length", 0))
    shared = meta.integer(
        "expert_shared_feed_forward_length", width * meta.integer("expert_shared_count", 0)
    )
    with_experts = {layer_of(t.name) for t in weights.tensors if "_exps" in t.name}
    return Experts(
        count=count,
        per_token=meta.integer("expert_used_count", least=1),
        intermediate=width,
        shared_intermediate=shared,
        layers=len({layer for layer in with_experts if layer is not None and layer < meta.layers}),
    )


def _tensor(stored: StoredTensor, text: TextShape) -> Tensor:
    """One stored tensor; the experts of a layer are one array with the expert as first dimension."""
    role = role_of(stored.name)
    copies, shape = 1, stored.shape
    if role is Role.EXPERT and len(shape) > 1 and text.experts is not None:
        copies, shape = shape[0], shape[1:]
    shard = next((s for pattern, s in _SHARDS if pattern.search(stored.name)), Shard.REPLICATED)
    dtype = _PLAIN.get(stored.dtype)
    return Tensor(
        stored.name,
        shape,
        role,
        shard,
        layer_of(stored.name),
        copies,
        units=_units(stored.name, shard, text),
        linear=len(shape) == 2,
        dtype=dtype,
        encoding=None if dtype is not None else _encoding(stored, copies),
    )


def _encoding(stored: StoredTensor, copies: int) -> Encoding:
    kind = BY_NAME.get(stored.dtype)
    if kind is not None:
        return kind
    elements = 1
    for size in stored.shape:
        elements *= size
    return StoredEncoding(stored.dtype, stored.nbytes // copies, max(1, elements // copies))


def _units(name: str, shard: Shard, text: TextShape) -> int:
    if shard is Shard.KV:
        return max(1, text.kv_heads)
    return max(1, text.heads) if ".attn_q" in name or ".attn_output." in name else 1


def _is_draft(tensor: Tensor, layers: int) -> bool:
    beyond = tensor.layer is not None and 0 < layers <= tensor.layer
    return tensor.role is Role.DRAFT or beyond


def _rows_of(weights: StoredWeights, name: str) -> int:
    return next((t.shape[0] for t in weights.tensors if t.name == name and t.shape), 0)


def _quantization(weights: StoredWeights) -> Quantization | None:
    """The mixture of types, named by the share of bytes; None where all are plain floats."""
    by_type = Counter[str]()
    elements = 0
    for tensor in weights.tensors:
        by_type[tensor.dtype] += tensor.nbytes
        count = 1
        for size in tensor.shape:
            count *= size
        elements += count
    if not elements or by_type.keys() <= _PLAIN.keys():
        return None
    shares = ", ".join(
        f"{name} {amount / weights.nbytes:.0%}" for name, amount in by_type.most_common()
    )
    bits = 8 * weights.nbytes / elements
    return Quantization(
        "gguf", f"GGUF mixture by bytes: {shares}; {bits:.2f} bits a weight over all.", bits, 16
    )
