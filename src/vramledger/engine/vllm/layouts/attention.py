"""Rules about heads. Sources: vLLM's ``config/model.py`` and ``config/parallel.py``."""

from vramledger.engine.vllm.layouts.placement import Placement
from vramledger.model.cache import LatentAttention
from vramledger.model.tensor import Shard


def query_heads(placement: Placement) -> str | None:
    """The query heads must be divisible by the tensor-parallel size."""
    heads, tp = placement.model.text.heads, placement.layout.tp
    if heads % tp == 0:
        return None
    return (
        f"The {heads} attention heads are not divisible by a tensor-parallel size of {tp}; "
        f"choose one that divides {heads}."
    )


def kv_heads(placement: Placement) -> str | None:
    """KV heads are divided over ranks, or ranks over KV heads; nothing in between loads."""
    tp = placement.layout.tp
    for tensor in placement.model.tensors:
        if tensor.shard is Shard.KV and tensor.units % tp and tp % tensor.units:
            return (
                f"The {tensor.units} KV heads can neither be divided over {tp} ranks nor repeated "
                f"evenly on them; choose a tensor-parallel size that divides {tensor.units} or is "
                "a multiple of it."
            )
    return None


def decode_context(placement: Placement) -> str | None:
    """Decode context parallelism lies inside tensor parallelism and uses repeated KV heads."""
    layout = placement.layout
    if layout.dcp == 1:
        return None
    if layout.tp % layout.dcp:
        return (
            f"A decode-context-parallel size of {layout.dcp} does not divide the tensor-parallel "
            f"size of {layout.tp}; choose one that does."
        )
    if _latent(placement):
        return None
    return _grouped_context(placement)


def _grouped_context(placement: Placement) -> str | None:
    layout, text = placement.layout, placement.model.text
    kv = max(1, text.kv_heads)
    most = layout.tp // kv
    if layout.tp <= kv:
        return (
            f"Decode context parallelism needs more ranks than KV heads; the tensor-parallel size "
            f"is {layout.tp} and the model has {kv}."
        )
    if layout.dcp > most:
        return (
            f"A decode-context-parallel size of {layout.dcp} is more than the {most} ranks that "
            f"hold the same KV head; choose at most {most}."
        )
    queries = text.heads // kv
    if queries % layout.dcp:
        return (
            f"The {queries} query heads of a KV head are not divisible by a decode-context-parallel "
            f"size of {layout.dcp}; choose one that divides {queries}."
        )
    return None


def _latent(placement: Placement) -> bool:
    return any(isinstance(layer.spec, LatentAttention) for layer in placement.model.cache_layers)
