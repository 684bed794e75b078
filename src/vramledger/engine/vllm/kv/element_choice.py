"""Which cache type a deployment ends up with, after ``auto`` and what classes change.

Sources: vllm/utils/torch_utils.py (declared types), models/config.py (sparse MLA),
model_executor/layers/attention/mla_attention.py (the packed layout).
"""

from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.kv.block_size import is_compressed, is_sparse
from vramledger.engine.vllm.kv.element import CacheType, cache_type, native

_SPARSE_PACKED: Final = "fp8_ds_mla"


def resolve_cache_type(deployment: Deployment) -> CacheType:
    """The cache type after ``auto``, what the checkpoint declares and what the class changes.

    Raises:
        UnknownName: this version has no such type.
    """
    rules, model = deployment.rules, deployment.model
    name = deployment.kv_cache_dtype.value
    declared = model.quantization.kv_dtype if model.quantization else None
    if name == "auto" and declared and rules.kv_dtype_from_checkpoint:
        name = declared
    if is_sparse(deployment):
        name = _sparse_name(deployment, name)
    if is_compressed(deployment) and (name == "auto" or name.startswith("fp8")):
        name = _SPARSE_PACKED
    if name == "auto":
        return native(deployment.dtype.value)
    return cache_type(name, rules)


def _sparse_name(deployment: Deployment, name: str) -> str:
    """Sparse MLA keeps quantised caches in its own packed layout, except on SM100's FlashInfer."""
    capability = deployment.accelerator.compute_capability
    if name == "auto" and deployment.rules.sparse_auto_packed:
        return _SPARSE_PACKED
    if name == "bfloat16":
        return "auto"
    on_blackwell = capability is not None and capability[0] == 10
    if name.startswith("fp8") and not on_blackwell:
        return _SPARSE_PACKED
    return name
