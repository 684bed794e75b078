"""Work space that vLLM allocates while it builds a model, and so reports among its weights.

Sources: ``v1/attention/backends/mla/flashinfer_mla.py`` (allocated when the module is imported, and
``platforms/cuda.py`` imports every candidate to choose among them); ``models/deepseek_v2.py``,
``topk_indices_buffer``.
"""

from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.hardware.accelerator import Vendor
from vramledger.model.cache import LatentAttention
from vramledger.units import MIB

_FLASHINFER_MLA: Final = 128 * MIB
_INDEX_BYTES: Final = 4


def loading_buffers(deployment: Deployment) -> tuple[int, ...]:
    """Bytes of each buffer on one rank."""
    return tuple(size for size in (_probed(deployment), _top_indices(deployment)) if size)


def _probed(deployment: Deployment) -> int:
    """The FlashInfer back end of latent attention, whichever back end is then chosen."""
    latent = any(isinstance(layer.spec, LatentAttention) for layer in deployment.model.cache_layers)
    named = deployment.attention_backend.value
    imported = named is None or "FLASHINFER_MLA" in named.upper()
    applies = (
        latent
        and imported
        and deployment.rules.mla_probe_allocates
        and deployment.accelerator.vendor is Vendor.NVIDIA
    )
    return _FLASHINFER_MLA if applies else 0


def _top_indices(deployment: Deployment) -> int:
    """Chosen tokens of every batched token, where a sparse indexer chooses."""
    tokens = deployment.max_num_batched_tokens.value
    return tokens * deployment.model.sparse_topk * _INDEX_BYTES
