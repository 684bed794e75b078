"""Caches that a platform or a version refuses to build at all."""

from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.kv.block_size import is_compressed, is_latent, is_sparse
from vramledger.engine.vllm.kv.family import Family, family_of
from vramledger.errors import BadInput
from vramledger.hardware.accelerator import Vendor
from vramledger.model.cache import FullAttention, SlidingAttention

_MLA_FP8_REFUSED: Final[Family] = (0, 33)
_COMPRESSED_KNOWN: Final[Family] = (0, 20)
_CPU_FP8_HEAD: Final = 32


def refuse_unknown_cache(deployment: Deployment) -> None:
    """Refuse caches that this version or platform has no kernels for.

    Raises:
        BadInput: the sentence says what to choose instead.
    """
    family = family_of(deployment.rules)
    if is_compressed(deployment) and family < _COMPRESSED_KNOWN:
        raise BadInput(
            f"vLLM {deployment.rules.family} has no compressed sparse attention; "
            "serve this model with vLLM 0.20 or newer."
        )
    if deployment.accelerator.vendor is Vendor.CPU:
        _refuse_on_cpu(deployment, family)


def _refuse_on_cpu(deployment: Deployment, family: Family) -> None:
    quantised = deployment.kv_cache_dtype.value.startswith("fp8")
    if is_sparse(deployment):
        raise BadInput("vLLM has no sparse attention on CPU; this model needs a GPU.")
    if quantised and is_latent(deployment) and family >= _MLA_FP8_REFUSED:
        raise BadInput("vLLM's MLA on CPU takes no fp8 cache; use --kv-cache-dtype auto.")
    if quantised and any(width % _CPU_FP8_HEAD for width in _head_widths(deployment)):
        raise BadInput(
            "vLLM's fp8 cache on CPU needs heads of a multiple of 32; use --kv-cache-dtype auto."
        )


def _head_widths(deployment: Deployment) -> set[int]:
    return {
        layer.spec.k_dim
        for layer in deployment.model.cache_layers
        if isinstance(layer.spec, FullAttention | SlidingAttention)
    }
