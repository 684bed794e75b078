"""Work space of fused expert kernels while a batch passes through a mixture of experts."""

from collections.abc import Callable
from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.expert_gather import gathering_ranks
from vramledger.engine.vllm.rules import ExpertBuffers
from vramledger.units import div_ceil

_OLD_CHUNK: Final = 32 * 1024  # tokens the kernels took at once before the shared work space


_WIDTHS: Final[dict[ExpertBuffers, Callable[[int, int], int]]] = {
    ExpertBuffers.THREE: lambda product, hidden: 3 * product + hidden,
    ExpertBuffers.SHARED: lambda product, hidden: max(2 * product, hidden) + product,
    ExpertBuffers.KEPT: lambda product, hidden: max(product, hidden) + max(2 * product, hidden),
}


def expert_workspace(deployment: Deployment) -> int:
    """Bytes of work space on one rank, 0 in a dense model.

    Triton, CUTLASS, DeepGEMM and Marlin kernels have a row for every chosen expert of every token,
    for gate and up projections, their product and the output; versions differ in which share room.
    With data parallelism the tokens are those of every rank, where they are gathered.
    """
    experts = deployment.model.text.experts
    if experts is None or _scratch_inside_kernel(deployment):
        return 0
    hidden = deployment.model.text.hidden
    ranks = gathering_ranks(deployment)
    split = 1 if deployment.layout.expert_parallel else deployment.layout.tp * ranks
    product = div_ceil(experts.intermediate, split)
    buffers = deployment.rules.expert_buffers
    width = _WIDTHS[buffers](product, hidden)
    tokens = deployment.max_num_batched_tokens.value * ranks
    if buffers is not ExpertBuffers.KEPT:
        tokens = min(tokens, _OLD_CHUNK)
    return tokens * experts.per_token * width * deployment.dtype.value.nbytes


def _scratch_inside_kernel(deployment: Deployment) -> bool:
    """MXFP4 kernels of Hopper and Blackwell keep their scratch to themselves and give it back."""
    scheme = deployment.model.quantization
    capability = deployment.accelerator.compute_capability or (0, 0)
    return scheme is not None and scheme.method == "mxfp4" and capability[0] in {9, 10}
