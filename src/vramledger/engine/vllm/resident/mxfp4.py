"""MXFP4 experts in memory: each kernel pads and reorders them its own way.

Sources: vLLM's ``quantization/mxfp4.py`` and ``fused_moe/oracle/mxfp4.py`` for the choice of kernel
and the sizes it rounds to; ``triton_kernels/tensor_details/layout_details/hopper_{value,scale}.py``
for the layout on Hopper.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.resident.parameter import Parameter
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Vendor
from vramledger.model.dtype import DType
from vramledger.model.quantization.encoding import Tiled
from vramledger.model.tensor import Role
from vramledger.units import round_up

BLOCK: Final = 32  # inputs that share a scale
_HOPPER: Final = (9, 0)
_VALUE_TILE: Final = 64  # rows, and bytes of a row
_SCALE_ROWS: Final = 256  # 8 warps x 32 rows
_SCALE_COLUMNS: Final = 2
_GPT_OSS: Final = "gpt_oss"


class Kernel(Enum):
    """Kernels that run MXFP4 experts."""

    TRITON = "Triton"
    MARLIN = "Marlin"
    FLASHINFER = "FlashInfer TRT-LLM"
    FLASHINFER_CUTLASS = "FlashInfer CUTLASS"
    ROCM = "ROCm"


@frozen
class Alignment:
    """Multiples to which an expert's dimensions are rounded."""

    hidden: int
    intermediate: int


_ALIGNMENTS: Final[Mapping[Kernel, Alignment]] = {
    Kernel.TRITON: Alignment(hidden=1, intermediate=64),
    Kernel.MARLIN: Alignment(hidden=256, intermediate=128),
    Kernel.FLASHINFER: Alignment(hidden=256, intermediate=256),
    Kernel.FLASHINFER_CUTLASS: Alignment(hidden=128, intermediate=128),
    Kernel.ROCM: Alignment(hidden=256, intermediate=256),
}
# Switches that name a kernel, in the order the engine looks at them.
_FORCED: Final = (
    ("VLLM_MXFP4_USE_MARLIN", Kernel.MARLIN),
    ("VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8_CUTLASS", Kernel.FLASHINFER_CUTLASS),
    ("VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8", Kernel.FLASHINFER),
)


def kernel_for(deployment: Deployment) -> Kernel:
    """The kernel that the engine picks for the experts on this accelerator."""
    if deployment.accelerator.vendor is Vendor.AMD:
        return Kernel.ROCM
    for switch, kernel in _FORCED:
        if deployment.environment.get(switch) == "1":
            return kernel
    capability = deployment.accelerator.compute_capability or (0, 0)
    if deployment.environment.get("VLLM_USE_FLASHINFER_MOE_MXFP4_BF16") == "1":
        return Kernel.FLASHINFER_CUTLASS if capability == _HOPPER else Kernel.FLASHINFER
    if capability[0] == 10:
        return Kernel.FLASHINFER
    plain = deployment.model.model_type == _GPT_OSS and deployment.lora is None
    return Kernel.TRITON if capability == _HOPPER and plain else Kernel.MARLIN


def alignment_for(deployment: Deployment) -> Alignment:
    """Multiples of the kernel that runs there."""
    kernel = kernel_for(deployment)
    if kernel is Kernel.FLASHINFER and deployment.rules.mxfp4_trtllm_128:
        return Alignment(hidden=256, intermediate=128)
    return _ALIGNMENTS[kernel]


def allocations(parameter: Parameter, _encoding: Tiled, deployment: Deployment) -> tuple[int, ...]:
    """Values and scales of all experts, padded; Triton before 0.26 keeps the first scales too."""
    kernel = kernel_for(deployment)
    outs, inp = _padded(parameter, alignment_for(deployment))
    out = sum(outs)
    values, scales = out * inp // 2, out * inp // BLOCK
    if kernel is not Kernel.TRITON:
        return parameter.copies * values, parameter.copies * scales
    if deployment.rules.mxfp4_pads_values:
        values = round_up(out, _VALUE_TILE) * round_up(inp // 2, _VALUE_TILE)
    swizzled = round_up(out, _SCALE_ROWS) * round_up(inp // BLOCK, _SCALE_COLUMNS)
    kept = (scales,) if deployment.rules.mxfp4_keeps_scales else ()
    return tuple(parameter.copies * size for size in (values, swizzled, *kept))


def is_expert_bias(parameter: Parameter, deployment: Deployment) -> bool:
    """Whether the parameter is a bias of MXFP4 experts, which kernels pad like the weights."""
    quantization = deployment.model.quantization
    return (
        parameter.vector
        and parameter.role is Role.EXPERT
        and quantization is not None
        and quantization.method == "mxfp4"
    )


def bias_bytes(parameter: Parameter, deployment: Deployment) -> int:
    """Bytes of the biases; Triton keeps them in float32."""
    kernel = kernel_for(deployment)
    dtype = DType.FLOAT32 if kernel is Kernel.TRITON else parameter.dtype
    alignment = alignment_for(deployment)
    multiple = alignment.hidden if parameter.name.endswith("down_proj.bias") else 1
    return parameter.copies * round_up(parameter.out, multiple) * dtype.nbytes


def _padded(parameter: Parameter, alignment: Alignment) -> tuple[tuple[int, ...], int]:
    """Outputs of each piece and inputs after rounding; a row-split matrix has hidden outputs."""
    if parameter.row:
        outs = tuple(round_up(out, alignment.hidden) for out in parameter.outs)
        return outs, round_up(parameter.inp, alignment.intermediate)
    outs = tuple(round_up(out, alignment.intermediate) for out in parameter.outs)
    return outs, round_up(parameter.inp, alignment.hidden)
