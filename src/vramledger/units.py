"""Quantities: bytes, tokens, and the arithmetic of dividing them.

GiB is 2**30 everywhere. Engines disagree about suffixes; `parse_count` follows vLLM's
argument parser, where ``k m g t`` are decimal and ``K M G T`` binary.
"""

import re
from math import isinf
from typing import Final

from vramledger.errors import BadInput

KIB: Final = 1 << 10
MIB: Final = 1 << 20
GIB: Final = 1 << 30

_SUFFIX: Final = {
    "": 1,
    "k": 10**3,
    "m": 10**6,
    "g": 10**9,
    "t": 10**12,
    "K": 1 << 10,
    "M": 1 << 20,
    "G": 1 << 30,
    "T": 1 << 40,
}
_COUNT: Final = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<suffix>[kmgtKMGT]?)(?:i?B)?\Z")
_LARGEST_COUNT: Final = 1 << 62
_WRITTEN_OUT: Final = 1e15
_WHOLE_SECONDS: Final = 1e3


def div_ceil(amount: int, size: int) -> int:
    """How many pieces of `size` hold `amount`; both non-negative, `size` positive."""
    return -(-amount // size)


def round_up(amount: int, multiple: int) -> int:
    """The smallest multiple of `multiple` that is at least `amount`."""
    return div_ceil(amount, multiple) * multiple


def div_even(amount: int, parts: int, what: str) -> int:
    """`amount / parts`, refusing a remainder. `what` names the quantity in the refusal.

    Raises:
        BadInput: `parts` does not divide `amount`.
    """
    if parts < 1 or amount % parts:
        raise BadInput(
            f"{what} ({amount}) cannot be split into {parts} equal parts; "
            f"choose a number that divides {amount}."
        )
    return amount // parts


def gib(amount_bytes: float) -> float:
    """Bytes as GiB."""
    return amount_bytes / GIB


def parse_count(text: str, what: str) -> int:
    """Read ``32768``, ``32k`` (32000), ``32K`` (32768) or ``25.6k``; an optional ``B`` is ignored.

    Raises:
        BadInput: the text is not a count or it is absurdly large; `what` names the quantity.
    """
    match = _COUNT.match(text.strip())
    if match is None:
        raise BadInput(
            f"{what} is {text!r}, which is not a count; write a whole number, or one with a "
            "suffix such as 32k (32000) or 32K (32768)."
        )
    value = float(match["number"]) * _SUFFIX[match["suffix"]]
    if value > _LARGEST_COUNT or value != int(value):
        raise BadInput(f"{what} is {text!r}, which is not a usable whole number.")
    return int(value)


def plain(value: float, digits: int = 10) -> str:
    """A number as people write it: ``1,073,741,824``, ``0.25``; powers of ten only from 1e15."""
    if not abs(value) < _WRITTEN_OUT:  # infinite and undefined ones too
        return f"{value:g}"
    return f"{float(f'{value:.{digits}g}'):,.15g}"


def format_gib(amount_gib: float) -> str:
    """``12.34 GiB``; figures under 0.1 GiB keep three decimals."""
    return f"{amount_gib:.3f} GiB" if 0 < abs(amount_gib) < 0.1 else f"{amount_gib:.2f} GiB"


def format_bytes(amount: int) -> str:
    """Bytes with the binary unit that leaves at most four digits: ``128 KiB``, ``1.5 GiB``."""
    for size, unit in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if amount >= size:
            return f"{amount / size:.4g} {unit}"
    return f"{amount} B"


def format_seconds(seconds: float) -> str:
    """``12.3 ms`` below a second, ``4.56 s`` below a thousand, then whole ones: ``12,345 s``; ``inf``."""
    if isinf(seconds):
        return "inf"
    if seconds < 1:
        return f"{seconds * 1e3:,.4g} ms"
    return f"{seconds:,.4g} s" if seconds < _WHOLE_SECONDS else f"{seconds:,.0f} s"


def format_change(share: float, digits: int = 1) -> str:
    """``+3.1%`` or ``-0.4%``; a change that rounds to nothing has no sign: ``0.0%``."""
    text = f"{share:+.{digits}%}"
    return text[1:] if not text.strip("+-0.%") else text
