"""What a card reaches of its sheet figures, as effective bytes and flops a second."""

from collections.abc import Mapping
from typing import Final

from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator
from vramledger.simulate.timing.arithmetic import Arithmetic, Format
from vramledger.simulate.timing.coefficients import Coefficients

DENSE_SHARES: Final[Mapping[Format, str]] = {
    Format.BF16: "matmul_bf16",
    Format.FP8: "matmul_fp8",
    Format.FP4: "matmul_fp4",
    Format.INT8: "matmul_int8",
    Format.WEIGHT_ONLY: "matmul_weight_only",
    Format.MXFP4: "matmul_weight_only",
    Format.MXFP4_FP8: "matmul_weight_only",
}
_EXPERTS: Final[Mapping[Format, str]] = {
    Format.BF16: "experts_bf16",
    Format.FP8: "experts_fp8",
    Format.FP4: "experts_fp4",
    Format.INT8: "experts_fp8",
    Format.WEIGHT_ONLY: "experts_weight_only",
    Format.MXFP4: "experts_mxfp4",
    Format.MXFP4_FP8: "experts_mxfp4_fp8",
}
_UNPACKED: Final = (Format.WEIGHT_ONLY, Format.MXFP4)


@frozen
class Rate:
    """Effective rates of one group of matrices."""

    bytes_per_s: float
    flops_per_s: float


def dense_rate(how: Arithmetic, bandwidth: float, card: Accelerator, c: Coefficients) -> Rate:
    """Rates of dense products."""
    read = c.dense_read * (c.fp4_read if how.format is Format.FP4 else 1.0)
    return Rate(
        bandwidth * read, how.peak * getattr(c, DENSE_SHARES[how.format]) * _generation(card, c)
    )


def expert_rate(how: Arithmetic, bandwidth: float, card: Accelerator, c: Coefficients) -> Rate:
    """Rates of grouped products."""
    share = getattr(c, _EXPERTS[how.format])
    read = c.expert_read * (c.weight_only_read if how.format in _UNPACKED else 1.0)
    return Rate(bandwidth * read, how.peak * share * _generation(card, c))


def prompt_attention_rate(peak: float, card: Accelerator, c: Coefficients) -> float:
    """Flops a second of a prompt's attention."""
    return peak * c.prompt_attention * _generation(card, c)


def _generation(card: Accelerator, c: Coefficients) -> float:
    return c.blackwell_compute if is_blackwell(card) else 1.0


def is_blackwell(card: Accelerator) -> bool:
    """Cards whose shares of the sheet differ from those of the generation before."""
    return card.architecture.startswith("Blackwell")
