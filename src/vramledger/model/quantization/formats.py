"""The storage formats of quantised matrices, by the names engines use.

Sources: the checkpoint layouts that AutoGPTQ, AutoAWQ, compressed-tensors, ModelOpt, bitsandbytes
and the OCP microscaling specification document. Scales of two bytes follow the model's 16-bit type.
"""

from vramledger.model.quantization.encoding import WHOLE, Family, Flat, Packing, Part, Tiled

_BNB_BLOCK = 64  # elements that share a scale
_BNB_NESTED_BLOCK = 256  # scales that share a scale of their own
_BNB_CODE_BYTES = 16 * 4  # the sixteen values of NF4 or FP4 as float32
_BNB_NESTED_CODE_BYTES = 256 * 4 + 4  # the 256 values of the scales' type, and their offset


def fp8_tensor(*, static_activations: bool = False) -> Tiled:
    """FP8 with one float32 scale a matrix, and one for its input when that is static."""
    parts = [Part("weight", 8), Part("weight_scale", 32, WHOLE, WHOLE)]
    if static_activations:
        parts.append(Part("input_scale", 32, WHOLE, WHOLE))
    return Tiled("fp8 per tensor", Family.FP8, tuple(parts))


def fp8_channel(*, scale_bits: int = 16, static_activations: bool = False) -> Tiled:
    """FP8 with one scale an output."""
    parts = [Part("weight", 8), Part("weight_scale", scale_bits, 1, WHOLE)]
    if static_activations:
        parts.append(Part("input_scale", scale_bits, WHOLE, WHOLE))
    return Tiled("fp8 per channel", Family.FP8, tuple(parts))


def fp8_block(out_tile: int, in_tile: int, *, scale_bits: int = 32) -> Tiled:
    """FP8 with one scale a block: float32, or eight bits where scales are powers of two."""
    scale = Part("weight_scale_inv", scale_bits, out_tile, in_tile)
    return Tiled(f"fp8 per {out_tile}x{in_tile} block", Family.FP8, (Part("weight", 8), scale))


def int8_channel(*, scale_bits: int = 16) -> Tiled:
    """INT8 with one scale an output."""
    return Tiled(
        "int8 per channel",
        Family.INT8,
        (Part("weight", 8), Part("weight_scale", scale_bits, 1, WHOLE)),
    )


def int8_tensor(*, scale_bits: int = 16) -> Tiled:
    """INT8 with one scale a matrix."""
    return Tiled(
        "int8 per tensor",
        Family.INT8,
        (Part("weight", 8), Part("weight_scale", scale_bits, WHOLE, WHOLE)),
    )


def gptq(bits: int, group: int, *, symmetric: bool, act_order: bool) -> Tiled:
    """GPTQ: words packed along inputs, zeros packed along outputs, one group index an input.

    Zeros and group indices are stored whether or not the weights need them.
    """
    order = " act-order" if act_order else ""
    sign = "" if symmetric else " asymmetric"
    return Tiled(
        f"gptq int{bits} {_group_name(group)}{sign}{order}",
        Family.GPTQ,
        (
            Part("qweight", bits, packing=Packing.INPUTS),
            Part("scales", 16, 1, group),
            Part("qzeros", bits, 1, group, packing=Packing.OUTPUTS),
            Part("g_idx", 32, WHOLE, 1),
        ),
    )


def awq(bits: int, group: int, *, zeros: bool) -> Tiled:
    """AWQ: words packed along outputs, zeros packed the same way."""
    parts = [
        Part("qweight", bits, packing=Packing.OUTPUTS),
        Part("scales", 16, 1, group),
    ]
    if zeros:
        parts.append(Part("qzeros", bits, 1, group, packing=Packing.OUTPUTS))
    return Tiled(f"awq int{bits} {_group_name(group)}", Family.AWQ, tuple(parts))


def packed_int(bits: int, group: int, *, symmetric: bool, act_order: bool) -> Tiled:
    """compressed-tensors ``pack-quantized``: words along inputs, the shape stored as two int64."""
    parts = [
        Part("weight_packed", bits, packing=Packing.INPUTS),
        Part("weight_scale", 16, 1, group),
        Part("weight_shape", 128, WHOLE, WHOLE),
    ]
    if not symmetric:
        parts.append(Part("weight_zero_point", bits, 1, group, packing=Packing.OUTPUTS))
    if act_order:
        parts.append(Part("weight_g_idx", 32, WHOLE, 1))
    return Tiled(f"int{bits} {_group_name(group)}", Family.PACKED_INT, tuple(parts))


def mxfp4() -> Tiled:
    """OCP MXFP4: e2m1 values, one e8m0 scale for 32 inputs."""
    return Tiled("mxfp4", Family.MXFP4, (Part("blocks", 4), Part("scales", 8, 1, 32)))


def mxfp6() -> Tiled:
    """OCP MXFP6: six-bit values, one e8m0 scale for 32 inputs."""
    return Tiled("mxfp6", Family.MXFP6, (Part("weight", 6), Part("weight_scale", 8, 1, 32)))


def mxfp8() -> Tiled:
    """OCP MXFP8: e4m3 values, one e8m0 scale for 32 inputs."""
    return Tiled("mxfp8", Family.MXFP8, (Part("weight", 8), Part("weight_scale", 8, 1, 32)))


def nvfp4(group: int = 16, *, input_scale: bool = True) -> Tiled:
    """NVFP4: e2m1 values, one e4m3 scale a group of inputs, one float32 scale a matrix."""
    parts = [
        Part("weight", 4),
        Part("weight_scale", 8, 1, group),
        Part("weight_scale_2", 32, WHOLE, WHOLE),
    ]
    if input_scale:
        parts.append(Part("input_scale", 32, WHOLE, WHOLE))
    return Tiled("nvfp4", Family.NVFP4, tuple(parts))


def bnb4(*, double: bool) -> Flat:
    """Bitsandbytes NF4 or FP4: blocks of 64 elements, their scales quantised again or not."""
    if double:
        tables = _BNB_CODE_BYTES + _BNB_NESTED_CODE_BYTES
        return Flat(
            "bitsandbytes 4-bit double", Family.BNB4, 4, _BNB_BLOCK, _BNB_NESTED_BLOCK, tables
        )
    return Flat("bitsandbytes 4-bit", Family.BNB4, 4, _BNB_BLOCK, fixed_bytes=_BNB_CODE_BYTES)


def bnb8() -> Tiled:
    """Bitsandbytes INT8: one float32 scale an output."""
    return Tiled("bitsandbytes 8-bit", Family.BNB8, (Part("weight", 8), Part("SCB", 32, 1, WHOLE)))


def _group_name(group: int) -> str:
    return f"group {group}" if group else "per channel"
