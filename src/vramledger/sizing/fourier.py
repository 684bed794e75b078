"""The discrete Fourier transform, for sums of independent requests; radix 2, no dependency."""

import cmath
from collections.abc import Sequence
from functools import cache


def transform(values: Sequence[complex], *, inverse: bool = False) -> list[complex]:
    """The (inverse) transform of a power-of-two number of values.

    The inverse is scaled, so that it undoes the transform.

    Raises:
        ValueError: the number of values is not a power of two.
    """
    size = len(values)
    if size == 0 or size & (size - 1):
        message = f"a radix-2 transform needs a power of two of values, not {size}"
        raise ValueError(message)
    result = [values[i] for i in _bit_reversed(size)]
    span = 1
    while span < size:
        roots = _roots(span, inverse=inverse)
        for start in range(0, size, 2 * span):
            for k in range(span):
                even = result[start + k]
                odd = result[start + k + span] * roots[k]
                result[start + k] = even + odd
                result[start + k + span] = even - odd
        span *= 2
    return [value / size for value in result] if inverse else result


@cache
def _bit_reversed(size: int) -> tuple[int, ...]:
    bits = size.bit_length() - 1
    return tuple(int(f"{i:0{bits}b}"[::-1], 2) if bits else 0 for i in range(size))


@cache
def _roots(span: int, *, inverse: bool) -> tuple[complex, ...]:
    sign = 1 if inverse else -1
    return tuple(cmath.exp(sign * 1j * cmath.pi * k / span) for k in range(span))
