"""How many KV blocks a number of requests in flight hold together: a distribution, not a product.

A request met in flight is longer than the average request, because long answers stay longer
(length bias), and it is somewhere between its prompt and its full length. The sum over
independent requests follows from the single one by its Fourier transform: exact up to the grid.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import field
from itertools import accumulate
from math import ceil, fsum, sqrt
from typing import Final

from vramledger.frozen import frozen
from vramledger.plan.lengths import Length
from vramledger.sizing.fourier import inverse, transform

_GRID: Final = 4096
_PHASES: Final = 8
_EVERY: Final = 32  # numbers of requests up to which every one is computed
_AN_OCTAVE: Final = 8  # and so many between doublings above
_REACH: Final = 9.0  # standard deviations of the sum kept on the grid
_GUARD: Final = 64  # cells kept free at the end, so that rounding never wraps around


@frozen
class InFlight:
    """The blocks one request in flight holds: values ascending, with their probabilities."""

    blocks: tuple[int, ...]
    probabilities: tuple[float, ...]
    mean: float = field(init=False, compare=False)
    deviation: float = field(init=False, compare=False)

    def __post_init__(self) -> None:
        pairs = tuple(zip(self.blocks, self.probabilities, strict=True))
        mean = fsum(b * p for b, p in pairs)
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "deviation", sqrt(fsum(p * (b - mean) ** 2 for b, p in pairs)))


def in_flight(lengths: Iterable[Length], blocks_at: Callable[[int], int]) -> InFlight:
    """The distribution of blocks of a request met in flight.

    The chance to meet a request grows with its output tokens (each costs about one step), and the
    tokens it holds are spread evenly between its prompt and its full length.
    """
    weights: dict[int, float] = {}
    for length in lengths:
        share = length.weight * max(1, length.output_tokens) / _PHASES
        for phase in range(_PHASES):
            produced = ceil(length.output_tokens * (phase + 0.5) / _PHASES)
            blocks = blocks_at(length.input_tokens + produced)
            weights[blocks] = weights.get(blocks, 0.0) + share
    whole = sum(weights.values())
    ordered = sorted(weights.items())
    return InFlight(tuple(b for b, _ in ordered), tuple(w / whole for _, w in ordered))


def mixed(parts: Iterable[tuple[InFlight, float]]) -> InFlight:
    """A request met where several kinds are in flight, each with its number of requests."""
    weights: dict[int, float] = {}
    for single, requests in parts:
        for blocks, probability in zip(single.blocks, single.probabilities, strict=True):
            weights[blocks] = weights.get(blocks, 0.0) + probability * requests
    whole = sum(weights.values())
    ordered = sorted(weights.items())
    return InFlight(tuple(b for b, _ in ordered), tuple(w / whole for _, w in ordered))


class Demand:
    """Blocks held by `n` independent requests in flight, at any percentile."""

    def __init__(self, single: InFlight) -> None:
        self.single = single
        self._sums: dict[int, tuple[float, tuple[float, ...]]] = {}
        self._held: dict[tuple[int, float], int] = {}

    def quantile(self, requests: int, share: float) -> int:
        """Blocks that `requests` requests stay under with probability `share` (0..1).

        Numbers above 32 that are not on the grid of `_grid_around` are interpolated per request;
        blocks per request change slowly with their number, so this stays within 0.3 %.
        """
        if requests < 1:
            return 0
        below, above = _grid_around(requests)
        if below == above:
            return self._exact(requests, share)
        per_below = self._exact(below, share) / below
        per_above = self._exact(above, share) / above
        part = (requests - below) / (above - below)
        return ceil(requests * (per_below + part * (per_above - per_below)))

    def _exact(self, requests: int, share: float) -> int:
        width, cumulative = self._sum(requests)
        return ceil(bisect_left(cumulative, share) * width)

    def mean(self, requests: int) -> float:
        """Expected blocks of `requests` requests."""
        return requests * self.single.mean

    def held(self, blocks: int, share: float) -> int:
        """The most requests whose blocks stay within `blocks` with probability `share`."""
        key = (blocks, share)
        if key not in self._held:
            self._held[key] = self._search(blocks, share)
        return self._held[key]

    def _search(self, blocks: int, share: float) -> int:
        if self.quantile(1, share) > blocks:
            return 0
        low, high = self._bracket(blocks, share)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.quantile(middle, share) <= blocks else (low, middle)
        return low

    def _bracket(self, blocks: int, share: float) -> tuple[int, int]:
        """Numbers of requests that fit and that do not, close together: sums are dear to compute.

        The normal approximation says where to look, mean n + z deviation sqrt(n) = blocks.
        """
        from statistics import NormalDist

        spread = NormalDist().inv_cdf(share) * self.single.deviation
        mean = max(self.single.mean, 1e-9)
        root = (sqrt(max(0.0, spread**2 + 4 * mean * blocks)) - spread) / (2 * mean)
        low = max(1, int(root * root))
        step = max(1, low // 16)
        while low > 1 and self.quantile(low, share) > blocks:
            low, step = max(1, low - step), 2 * step
        high, step = low + 1, max(1, low // 16)
        while self.quantile(high, share) <= blocks:
            low, high, step = high, high + step, 2 * step
        return low, high

    def _sum(self, requests: int) -> tuple[float, tuple[float, ...]]:
        if requests not in self._sums:
            self._sums[requests] = self._convolve(requests)
        return self._sums[requests]

    def _convolve(self, requests: int) -> tuple[float, tuple[float, ...]]:
        """Bin width and cumulative probabilities of the sum, from the transform to the n-th power."""
        largest = self.single.blocks[-1]
        spread = _REACH * self.single.deviation * sqrt(requests)
        reach = min(requests * largest, self.mean(requests) + spread + 3 * largest)
        width = max(1.0, reach / (_GRID - _GUARD))
        cells = [0.0] * _GRID
        for blocks, probability in zip(self.single.blocks, self.single.probabilities, strict=True):
            _deposit(cells, blocks / width, probability)
        powered = [value**requests for value in transform(cells)]
        density = [max(0.0, value) for value in inverse(powered)]
        whole = sum(density)
        return width, tuple(accumulate(value / whole for value in density))


def _deposit(cells: list[float], position: float, probability: float) -> None:
    """Share a probability between the two nearest cells, which keeps the mean exact."""
    below = int(position)
    part = position - below
    cells[below] += probability * (1 - part)
    if part:
        cells[below + 1] += probability * part


def _grid_around(requests: int) -> tuple[int, int]:
    """The numbers for which sums are computed, around this one: all up to 32, then eight an octave."""
    if requests <= _EVERY:
        return requests, requests
    step = max(1, (1 << (requests.bit_length() - 1)) // _AN_OCTAVE)
    below = requests - requests % step
    return (below, below) if below == requests else (below, below + step)
