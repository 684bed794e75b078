"""In which number format a card multiplies a matrix, given how its weights are stored."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator
from vramledger.model.quantization.encoding import Family
from vramledger.model.tensor import Encoding

_TERA: Final = 1e12


class Format(StrEnum):
    """What the multiplying units are given; weight-only formats are unpacked to 16 bits first."""

    BF16 = "bf16"
    FP8 = "fp8"
    FP4 = "fp4"
    INT8 = "int8"
    WEIGHT_ONLY = "weight_only"
    MXFP4 = "mxfp4"  # weight-only on cards without FP4 units
    MXFP4_FP8 = "mxfp4_fp8"  # FP8 activations on cards with them


@frozen
class Arithmetic:
    """A format on one card."""

    format: Format
    peak: float  # dense flop/s of the units that compute

    @property
    def quantises(self) -> bool:
        """Whether activations are quantised by a kernel of their own before each product."""
        return self.format in (Format.FP8, Format.FP4, Format.INT8)


# Family of the weights -> formats in the order of preference; the first whose units the card has.
_WANTED: Final[Mapping[Family, tuple[Format, ...]]] = {
    Family.FP8: (Format.FP8,),
    Family.MXFP8: (Format.FP8,),
    Family.INT8: (Format.INT8,),
    Family.NVFP4: (Format.FP4,),
    Family.MXFP4: (Format.MXFP4_FP8, Format.MXFP4),
}
# Format -> (units whose peak counts, units the card must have for it).
_UNITS: Final[Mapping[Format, tuple[str, str]]] = {
    Format.FP8: ("fp8", "fp8"),
    Format.FP4: ("fp4", "fp4"),
    Format.INT8: ("int8", "int8"),
    Format.MXFP4_FP8: ("fp8", "fp4"),
    Format.MXFP4: ("bf16", "bf16"),
}


def arithmetic_of(encoding: Encoding | None, accelerator: Accelerator) -> Arithmetic:
    """The format in which weights of that encoding are multiplied.

    Raises:
        CannotKnow: the card's 16-bit peak is not known.
    """
    plain = plain_peak(accelerator)
    if encoding is None:
        return Arithmetic(Format.BF16, plain)
    family = getattr(encoding, "family", None)
    for wanted in _WANTED.get(family, ()) if family is not None else ():
        counted, needed = _UNITS[wanted]
        if accelerator.dense_tflops.get(needed):
            return Arithmetic(wanted, accelerator.dense_tflops[counted] * _TERA)
    return Arithmetic(Format.WEIGHT_ONLY, plain)


def plain_peak(accelerator: Accelerator) -> float:
    """Dense flop/s of 16-bit products.

    Raises:
        CannotKnow: the catalogue does not have it.
    """
    rates = accelerator.dense_tflops
    peak = rates.get("bf16") or rates.get("fp16")
    if not peak:
        raise CannotKnow(
            f"The catalogue has no 16-bit peak of {accelerator.name}, so no step can be timed on it; "
            "choose another card or calibrate on this one."
        )
    return peak * _TERA
