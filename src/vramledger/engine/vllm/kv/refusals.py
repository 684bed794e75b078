"""Caches that a platform refuses to build at all."""

from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.kv.block_size import is_latent, is_sparse
from vramledger.errors import BadInput
from vramledger.hardware.accelerator import Vendor


def refuse_on_cpu(deployment: Deployment) -> None:
    """Refuse what the CPU platform refuses.

    Raises:
        BadInput: sparse MLA, or a quantised cache with MLA, on a CPU.
    """
    if deployment.accelerator.vendor is not Vendor.CPU:
        return
    if is_sparse(deployment):
        raise BadInput("vLLM has no sparse attention on CPU; this model needs a GPU.")
    if is_latent(deployment) and deployment.kv_cache_dtype.value.startswith("fp8"):
        raise BadInput("vLLM's MLA on CPU takes no fp8 cache; use --kv-cache-dtype auto.")
