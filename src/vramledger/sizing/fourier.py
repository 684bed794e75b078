"""The discrete Fourier transform of real values, for sums of independent requests; radix 2."""

import cmath
from collections.abc import Sequence
from functools import cache


def transform(values: Sequence[float]) -> list[complex]:
    """The first ``n/2 + 1`` of the transform's `n` values; the others are their conjugates.

    Raises:
        ValueError: `n` is not a power of two of at least 4.
    """
    size = len(values)
    _check(size)
    half = size // 2
    packed = [complex(a, b) for a, b in zip(values[::2], values[1::2], strict=True)]
    mixed = _transform(packed, inverse=False)
    mixed.append(mixed[0])
    back = mixed[::-1]
    turns = (*_roots(half, inverse=False), -1 + 0j)
    return [
        (a + b.conjugate()) / 2 - 0.5j * turn * (a - b.conjugate())
        for a, b, turn in zip(mixed, back, turns, strict=True)
    ]


def inverse(spectrum: Sequence[complex]) -> list[float]:
    """The `n` real values whose transform begins with these ``n/2 + 1``.

    Raises:
        ValueError: `n` is not a power of two of at least 4.
    """
    half = len(spectrum) - 1
    _check(2 * half)
    turns = _roots(half, inverse=True)
    packed = [
        a + b.conjugate() + 1j * turn * (a - b.conjugate())
        for a, b, turn in zip(spectrum, spectrum[:0:-1], turns, strict=False)
    ]
    values: list[float] = []
    for value in _transform(packed, inverse=True):
        values += (value.real / (2 * half), value.imag / (2 * half))
    return values


def _check(size: int) -> None:
    if size < 4 or size & (size - 1):
        message = f"a radix-2 transform needs a power of two of values, not {size}"
        raise ValueError(message)


def _transform(values: Sequence[complex], *, inverse: bool) -> list[complex]:
    """Even and odd places apart, then joined; unscaled."""
    if len(values) == 2:
        return [values[0] + values[1], values[0] - values[1]]
    if len(values) == 4:
        return _four(values, 1j if inverse else -1j)
    even = _transform(values[::2], inverse=inverse)
    odd = _transform(values[1::2], inverse=inverse)
    turned = [a * b for a, b in zip(odd, _roots(len(odd), inverse=inverse), strict=True)]
    pairs = list(zip(even, turned, strict=True))
    return [a + b for a, b in pairs] + [a - b for a, b in pairs]


def _four(values: Sequence[complex], quarter: complex) -> list[complex]:
    """Four values at once; `quarter` is the root of a quarter turn."""
    first, second, third, fourth = values
    a, b, c, d = first + third, first - third, second + fourth, quarter * (second - fourth)
    return [a + c, b + d, a - c, b - d]


@cache
def _roots(span: int, *, inverse: bool) -> tuple[complex, ...]:
    sign = 1 if inverse else -1
    return tuple(cmath.exp(sign * 1j * cmath.pi * k / span) for k in range(span))
