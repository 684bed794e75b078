"""How a parameter lies in memory once its kernel has repacked it: one size an allocation.

A format whose kernels keep the stored layout has no row in `LAYOUTS`.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.resident import mxfp4
from vramledger.engine.vllm.resident.parameter import Parameter
from vramledger.hardware.accelerator import Vendor
from vramledger.model.quantization.encoding import WHOLE, Family, Flat, Part, Tiled
from vramledger.model.tensor import Role
from vramledger.units import div_ceil, round_up

_SCALE_BITS: Final = 32  # engines keep FP8 and INT8 scales in float32
_ROCM_STRIDE: Final = 512  # rows of a multiple of this are padded on AMD
_ROCM_PADDING: Final = 256
_HOPPER: Final = (9, 0)
_BLACKWELL: Final = (10, 0)
_MACHETE_INPUTS: Final = 64
_MACHETE_OUTPUTS: Final = 128
_NVFP4_SCALE_ROWS: Final = 128
_NVFP4_SCALE_COLUMNS: Final = 4


def allocations(parameter: Parameter, deployment: Deployment) -> tuple[int, ...]:
    """Bytes of each allocation that holds the parameter on one rank."""
    if mxfp4.is_expert_bias(parameter, deployment):
        return (mxfp4.bias_bytes(parameter, deployment),)
    encoding = parameter.encoding
    if encoding is None:
        return (_plain(parameter, deployment),)
    if isinstance(encoding, Tiled):
        return LAYOUTS.get(encoding.family, as_stored)(parameter, encoding, deployment)
    if isinstance(encoding, Flat):
        return (_flat(parameter, encoding, deployment),)
    return (parameter.copies * encoding.nbytes((parameter.out, parameter.inp)),)


def as_stored(parameter: Parameter, encoding: Tiled, _deployment: Deployment) -> tuple[int, ...]:
    """Every stored array as it is."""
    return tuple(part_bytes(parameter, part) for part in encoding.parts)


def part_bytes(parameter: Parameter, part: Part) -> int:
    """One array for all experts; fused pieces keep scales of their own and share an input index."""
    shared = part.out_tile == WHOLE and part.in_tile != WHOLE
    outs = (parameter.out,) if shared else parameter.outs
    return parameter.copies * sum(part.nbytes(out, parameter.inp) for out in outs)


def _plain(parameter: Parameter, deployment: Deployment) -> int:
    row = parameter.inp * parameter.dtype.nbytes
    if parameter.role is Role.EXPERT and not parameter.vector:
        row = _padded_row(row, deployment, "VLLM_ROCM_MOE_PADDING")
    return parameter.copies * parameter.out * row


def _padded_row(row_bytes: int, deployment: Deployment, switch: str) -> int:
    """AMD kernels keep rows apart that would fall on the same memory channel."""
    applies = (
        deployment.accelerator.vendor is Vendor.AMD
        and row_bytes % _ROCM_STRIDE == 0
        and deployment.environment.get(switch, "1") != "0"
    )
    return row_bytes + _ROCM_PADDING if applies else row_bytes


def _flat(parameter: Parameter, encoding: Flat, deployment: Deployment) -> int:
    """Doubly quantised scales of a checkpoint are unfolded to float32 by the newer loaders."""
    online = deployment.quantization.value is not None and deployment.quantization.given
    stored = encoding
    if encoding.nested_block and deployment.rules.bnb_unfolds_scales and not online:
        stored = replace(encoding, nested_block=0)
    return parameter.copies * sum(stored.nbytes((out, parameter.inp)) for out in parameter.outs)


def _float32_scales(
    parameter: Parameter, encoding: Tiled, deployment: Deployment
) -> tuple[int, ...]:
    weight, *scales = encoding.parts
    row = _padded_row(parameter.inp, deployment, "VLLM_ROCM_FP8_PADDING")
    values = part_bytes(parameter, weight) // parameter.inp * row
    wide = (replace(part, bits=max(part.bits, _SCALE_BITS)) for part in scales)
    return (values, *(part_bytes(parameter, part) for part in wide))


def _gptq(parameter: Parameter, encoding: Tiled, deployment: Deployment) -> tuple[int, ...]:
    """Marlin keeps no zeros of symmetric weights and an index only under act-order.

    Under act-order a row-split layer holds the scales of all inputs, because its inputs belong to
    groups anywhere, and a second index that sorts them. Machete keeps what was stored.
    """
    ordered = "act-order" in encoding.name
    if _runs_machete(parameter, deployment, ordered=ordered):
        return as_stored(parameter, encoding, deployment)
    kept = []
    for part in encoding.parts:
        if part.name == "qzeros" and "asymmetric" not in encoding.name:
            continue
        if part.name == "g_idx":
            kept += [part_bytes(parameter, part)] * (2 if ordered else 0)
        elif part.name != "qweight" and ordered and parameter.row:
            kept.append(part_bytes(replace(parameter, inp=parameter.full_inp), part))
        else:
            kept.append(part_bytes(parameter, part))
    return tuple(kept)


def _runs_machete(parameter: Parameter, deployment: Deployment, *, ordered: bool) -> bool:
    """``kernels/linear/mixed_precision/machete.py``: Hopper, dense, no act-order over ranks."""
    return (
        deployment.rules.machete
        and deployment.accelerator.compute_capability == _HOPPER
        and parameter.role is not Role.EXPERT
        and not (ordered and parameter.inp != parameter.full_inp)
        and parameter.inp % _MACHETE_INPUTS == 0
        and parameter.out % _MACHETE_OUTPUTS == 0
    )


def _nvfp4(parameter: Parameter, encoding: Tiled, deployment: Deployment) -> tuple[int, ...]:
    """Blackwell kernels pad the block scales to tiles of 128 rows by 4 scales."""
    capability = deployment.accelerator.compute_capability or (0, 0)
    sizes = []
    for part in encoding.parts:
        if part.name == "weight_scale" and capability >= _BLACKWELL:
            rows = round_up(parameter.out, _NVFP4_SCALE_ROWS)
            columns = round_up(div_ceil(parameter.inp, part.in_tile), _NVFP4_SCALE_COLUMNS)
            sizes.append(parameter.copies * rows * columns)
        else:
            sizes.append(part_bytes(parameter, part))
    return tuple(sizes)


Layout = Callable[[Parameter, Tiled, Deployment], tuple[int, ...]]
LAYOUTS: Final[Mapping[Family, Layout]] = {
    Family.FP8: _float32_scales,
    Family.INT8: _float32_scales,
    Family.GPTQ: _gptq,
    Family.NVFP4: _nvfp4,
    Family.MXFP4: mxfp4.allocations,
}
