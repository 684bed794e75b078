"""Work space of fused expert kernels while a batch passes through a mixture of experts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.units import div_ceil

_OLD_CHUNK: Final = 32 * 1024  # tokens the kernels took at once before the shared work space


@dataclass(frozen=True, slots=True)
class ExpertShape:
    """Widths per routed token on one rank."""

    gate_up: int
    product: int
    hidden: int


_Elements = Callable[[ExpertShape], int]


def _general(shape: ExpertShape) -> int:
    """Triton, CUTLASS and DeepGEMM kernels: two buffers, each as wide as its widest use."""
    return max(shape.product, shape.hidden) + max(shape.gate_up, shape.hidden)


def _marlin(shape: ExpertShape) -> int:
    """Marlin kernels for 4-bit weights: the same two buffers under other names."""
    return max(shape.product, shape.hidden) + max(shape.gate_up, shape.hidden)


def _inside_kernel(_shape: ExpertShape) -> int:
    """MXFP4 kernels keep their scratch to themselves and give it back."""
    return 0


_KERNELS: Final[dict[str, _Elements]] = {
    "mxfp4": _inside_kernel,
    "awq": _marlin,
    "gptq": _marlin,
}


def expert_workspace(deployment: Deployment) -> int:
    """Bytes of work space on one rank, 0 in a dense model.

    Every chosen expert of every token of the batch has a row: tokens x experts per token.
    """
    experts = deployment.model.text.experts
    if experts is None:
        return 0
    split = 1 if deployment.layout.expert_parallel else deployment.layout.tp
    product = div_ceil(experts.intermediate, split)
    shape = ExpertShape(2 * product, product, deployment.model.text.hidden)
    scheme = deployment.model.quantization
    elements = _KERNELS.get(scheme.method if scheme else "", _general)(shape)
    tokens = deployment.max_num_batched_tokens.value
    if not deployment.rules.moe_workspace_kept:
        tokens = min(tokens, _OLD_CHUNK)
    return tokens * experts.per_token * elements * deployment.dtype.value.nbytes
