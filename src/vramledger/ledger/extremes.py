"""The largest and the smallest value that fits, by trying."""

from collections.abc import Callable


def largest(fits: Callable[[int], bool], most: int) -> int:
    """The largest value up to `most` that fits, 0 where none does.

    Doubling probes find every power of two that fits, and bisection the edge above the largest;
    a fitting stretch narrower than a factor of two between two failing probes can be missed.
    """
    if fits(most):
        return most
    probes = [1]
    while probes[-1] * 2 < most:
        probes.append(probes[-1] * 2)
    low = next((probe for probe in reversed(probes) if fits(probe)), 0)
    if low == 0:
        return 0
    high = min(2 * low, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def smallest(fits: Callable[[int], bool], least: int, most: int) -> int | None:
    """The smallest value of the stretch of fitting values that reaches highest, None without one.

    The end of the range need not fit: a utilization above what is free at the start is refused.
    """
    high = next((value for value in range(most, least - 1, -1) if fits(value)), None)
    if high is None:
        return None
    low = least - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high
