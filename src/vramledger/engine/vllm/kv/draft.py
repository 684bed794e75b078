"""Layers that speculative decoding adds to the KV pool.

Source: vllm/v1/worker/gpu_model_runner.py (every attention layer of the drafter joins the pool).
"""

from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.model.cache import CacheLayer, FullAttention, LatentAttention
from vramledger.model.model import Model
from vramledger.model.tensor import Role

_MTP: Final = "mtp"  # every flavour of multi-token prediction


def draft_layers(deployment: Deployment) -> tuple[CacheLayer, ...]:
    """Layers that speculative decoding adds to the pool; they live on the last stage."""
    speculation = deployment.speculation
    if speculation is None:
        return ()
    if speculation.draft is not None:
        return speculation.draft.require_cache()
    if speculation.method != _MTP:
        return ()
    grown = [
        layer.spec
        for layer in deployment.model.cache_layers
        if isinstance(layer.spec, FullAttention | LatentAttention)
    ]
    after = deployment.model.text.layers
    return tuple(
        CacheLayer(after + i, grown[-1]) for i in range(_mtp_modules(deployment.model)) if grown
    )


def _mtp_modules(model: Model) -> int:
    numbers = {t.layer for t in model.extra_tensors if t.role is Role.DRAFT and t.layer is not None}
    return max(1, len(numbers))
