"""Schemes that engines apply while loading a plain checkpoint (``--quantization NAME``)."""

from collections.abc import Callable, Mapping
from typing import Final

from vramledger.model.model import Quantization
from vramledger.model.quantization import bitsandbytes, formats
from vramledger.model.quantization.scheme import Scheme, coverable
from vramledger.model.tensor import Encoding, Role, Tensor


def _scheme(
    method: str,
    detail: str,
    encoding: Encoding,
    *,
    weight_bits: float,
    activation_bits: int,
    roles: frozenset[Role] | None = None,
    block: tuple[int, int] | None = None,
) -> Scheme:
    """Every linear weight (of these roles) in one encoding."""

    def encode(tensor: Tensor) -> Encoding | None:
        covered = coverable(tensor, towers=True) and (roles is None or tensor.role in roles)
        return encoding if covered else None

    record = Quantization(method, detail, weight_bits, activation_bits, block=block)
    return Scheme(record, encode)


def _fp8_tensor() -> Scheme:
    return _scheme(
        "fp8",
        "Linear weights quantised to FP8 while loading, one scale a matrix.",
        formats.fp8_tensor(),
        weight_bits=8.0,
        activation_bits=8,
    )


def _fp8_block() -> Scheme:
    return _scheme(
        "fp8",
        "Linear weights quantised to FP8 while loading, one scale a 128x128 block.",
        formats.fp8_block(128, 128),
        weight_bits=8.0,
        activation_bits=8,
        block=(128, 128),
    )


def _fp8_channel() -> Scheme:
    return _scheme(
        "fp8",
        "Linear weights quantised to FP8 while loading, one scale an output.",
        formats.fp8_channel(scale_bits=32),
        weight_bits=8.0,
        activation_bits=8,
    )


def _bitsandbytes() -> Scheme:
    """Four bits; the quantiser compresses the scales too."""
    return bitsandbytes.scheme(eight=False, double=True, listed=(), where="--quantization")


def _experts_int8() -> Scheme:
    return _scheme(
        "experts_int8",
        "Routed experts quantised to INT8 while loading, one scale an output.",
        formats.int8_channel(scale_bits=32),
        weight_bits=8.0,
        activation_bits=16,
        roles=frozenset({Role.EXPERT}),
    )


def _mxfp8() -> Scheme:
    return _scheme(
        "mxfp8",
        "Linear weights quantised to MXFP8 while loading, one scale for 32 inputs.",
        formats.mxfp8(),
        weight_bits=8.25,
        activation_bits=8,
    )


def _nvfp4_experts() -> Scheme:
    return _scheme(
        "nvfp4",
        "Routed experts quantised to NVFP4 while loading, one scale for 16 inputs.",
        formats.nvfp4(),
        weight_bits=4.5,
        activation_bits=4,
        roles=frozenset({Role.EXPERT}),
    )


SCHEMES: Final[Mapping[str, Callable[[], Scheme]]] = {
    "fp8": _fp8_tensor,
    "fp8_per_tensor": _fp8_tensor,
    "fp8_per_block": _fp8_block,
    "fp8_per_channel": _fp8_channel,
    "ptpc_fp8": _fp8_channel,
    "fbgemm_fp8": _fp8_channel,
    "bitsandbytes": _bitsandbytes,
    "experts_int8": _experts_int8,
    "int8_per_channel_weight_only": _experts_int8,
    "mxfp8": _mxfp8,
    "nvfp4_per_token": _nvfp4_experts,
}
