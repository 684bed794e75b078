"""Work space of fused expert kernels while a batch passes through a mixture of experts."""

from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.units import div_ceil

_OLD_CHUNK: Final = 32 * 1024  # tokens the kernels took at once before the shared work space


def expert_workspace(deployment: Deployment) -> int:
    """Bytes of work space on one rank, 0 in a dense model.

    Triton, CUTLASS, DeepGEMM and Marlin kernels share two buffers with a row for every chosen
    expert of every token, each buffer as wide as its widest use: the experts' product and their
    output in one, their gate and up projections and their input in the other.
    """
    experts = deployment.model.text.experts
    if experts is None or _scratch_inside_kernel(deployment):
        return 0
    hidden = deployment.model.text.hidden
    split = 1 if deployment.layout.expert_parallel else deployment.layout.tp
    product = div_ceil(experts.intermediate, split)
    width = max(product, hidden) + max(2 * product, hidden)
    tokens = deployment.max_num_batched_tokens.value
    if not deployment.rules.moe_workspace_kept:
        tokens = min(tokens, _OLD_CHUNK)
    return tokens * experts.per_token * width * deployment.dtype.value.nbytes


def _scratch_inside_kernel(deployment: Deployment) -> bool:
    """MXFP4 kernels of Hopper and Blackwell keep their scratch to themselves and give it back."""
    scheme = deployment.model.quantization
    capability = deployment.accelerator.compute_capability or (0, 0)
    return scheme is not None and scheme.method == "mxfp4" and capability[0] in {9, 10}
