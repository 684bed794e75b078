"""The lengths of requests as a joint distribution of input and output tokens.

Plans are made with distributions because the few longest requests decide; an average alone is
refused. A distribution is a list of weighted cells: small enough to convolve, fine enough in the
tail, and with the longest request as a cell of its own.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import fsum, isfinite, log
from typing import Final

from vramledger.errors import BadInput
from vramledger.evidence import Basis
from vramledger.frozen import frozen
from vramledger.units import plain

LONGEST: Final = 1 << 30  # tokens; longer than any context
_BODY_BINS: Final = 8  # below the lowest percentile
_STEP_BINS: Final = 4  # between two percentiles, or within one bin of a histogram
_AT_THE_END: Final = 0.02  # of a step's requests, counted at its upper end


@frozen
class Length:
    """One cell: requests of about this many tokens, and their share of all requests."""

    input_tokens: int
    output_tokens: int
    weight: float

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens


@frozen
class LengthDistribution:
    """Joint lengths; weights add up to one."""

    cells: tuple[Length, ...]
    basis: Basis
    source: str

    @property
    def mean_input(self) -> float:
        return fsum(cell.input_tokens * cell.weight for cell in self.cells)

    @property
    def mean_output(self) -> float:
        return fsum(cell.output_tokens * cell.weight for cell in self.cells)

    @property
    def mean_total(self) -> float:
        return self.mean_input + self.mean_output

    @property
    def longest(self) -> int:
        """Tokens of the longest request, input and output together."""
        return max(cell.total_tokens for cell in self.cells)

    def input_at(self, share: float) -> int:
        """Input tokens that this share (0..1) of the requests stays within."""
        return _quantile([(cell.input_tokens, cell.weight) for cell in self.cells], share)

    def output_at(self, share: float) -> int:
        """Output tokens that this share (0..1) of the requests stays within."""
        return _quantile([(cell.output_tokens, cell.weight) for cell in self.cells], share)

    def total_at(self, share: float) -> int:
        """Input plus output tokens that this share (0..1) of the requests stays within."""
        return _quantile([(cell.total_tokens, cell.weight) for cell in self.cells], share)

    def share_above(self, tokens: int) -> float:
        """The share of requests whose full length exceeds `tokens`."""
        return fsum(cell.weight for cell in self.cells if cell.total_tokens > tokens)


@frozen
class Marginal:
    """The distribution of one length: (tokens, weight), ascending, weights adding up to one."""

    cells: tuple[tuple[int, float], ...]
    assumed: str = ""  # a sentence on the part that was not stated


def from_cells(
    cells: Iterable[tuple[float, float, float]], basis: Basis, source: str
) -> LengthDistribution:
    """From (input tokens, output tokens, weight); weights may be counts or shares.

    Raises:
        BadInput: there is none, or a length or weight is not one that requests can have.
    """
    given = list(cells)
    for tokens in (length for row in given for length in row[:2]):
        _check_tokens(tokens, source)
    whole = fsum(weight for _, _, weight in given)
    if not isfinite(whole) or whole <= 0 or any(weight < 0 for _, _, weight in given):
        raise BadInput(
            f"{source}: the shares add up to {plain(whole)}; give each row a share or count of 0 or "
            "more, and at least one above 0."
        )
    merged: dict[tuple[int, int], float] = {}
    for inputs, outputs, weight in given:
        key = (round(inputs), round(outputs))
        merged[key] = merged.get(key, 0.0) + weight / whole
    kept = sorted((key, weight) for key, weight in merged.items() if weight > 0)
    return LengthDistribution(
        tuple(Length(inputs, outputs, weight) for (inputs, outputs), weight in kept), basis, source
    )


def independent(
    inputs: Marginal, outputs: Marginal, basis: Basis, source: str
) -> LengthDistribution:
    """Every input length with every output length: what is known without a joint histogram."""
    return from_cells(
        (
            (in_tokens, out_tokens, in_weight * out_weight)
            for in_tokens, in_weight in inputs.cells
            for out_tokens, out_weight in outputs.cells
        ),
        basis,
        source,
    )


def from_percentiles(points: Mapping[float, float], what: str) -> Marginal:
    """One length from its percentiles: share (0..1) -> tokens, 1.0 being the longest.

    Below the lowest percentile the quantile function is a straight line from `points[0.0]`, above
    it is a straight line in the logarithm, as right-skewed lengths are. Without `points[0.0]` the
    shorter part is taken on its long side: as long as the lowest percentile where the next one
    equals it, else from half of it (the lower half of a lognormal of deviation 1 has its mean at half
    of the median, so that this errs towards more memory). Cells
    carry the mean of their part; the last cell before a percentile carries the percentile itself,
    so that every given percentile, and the longest length, reads back exactly.

    Raises:
        BadInput: the longest or a middle is missing, or the percentiles do not rise.
    """
    shares = sorted(points)
    for share in shares:
        _check_tokens(points[share], what)
    if 1.0 not in points:
        raise BadInput(
            f"{what} has no max; give the longest that may occur, because the few longest "
            "requests decide."
        )
    if not any(0 < share < 1 for share in shares):
        raise BadInput(f"{what} has no percentiles; give at least p50 and, better, p95 and p99.")
    values = [points[share] for share in shares]
    for (lower, low), (upper, high) in pairwise(zip(shares, values, strict=True)):
        if high < low:
            raise BadInput(
                f"{what}: {_percentile_name(upper)} is {plain(high)}, less than "
                f"{_percentile_name(lower)} at {plain(low)}; percentiles rise."
            )
    knots = {share: points[share] for share in shares}
    if 0.0 in knots:
        return Marginal(tuple(_bins(knots)))
    floor = values[0] if values[0] == values[1] else values[0] / 2
    return Marginal(tuple(_bins({0.0: floor} | knots)), _below(what, shares[0], floor, values[0]))


def _below(what: str, share: float, floor: float, lowest: float) -> str:
    """What was assumed of the lengths below the lowest percentile."""
    spread = f"{lowest:,.0f}" if floor == lowest else f"{floor:,.0f} to {lowest:,.0f}"
    return (
        f"{what} below {_percentile_name(share)} is not stated and taken as {spread} tokens, on the "
        "long side (assumed); state min or a lower percentile."
    )


def from_bins(bins: Sequence[tuple[float, float]], what: str) -> Marginal:
    """One length from a histogram: (upper edge in tokens, share or count), edges rising.

    Requests of a bin are spread evenly between its edges; the last edge is the longest length.

    Raises:
        BadInput: there is no bin, edges do not rise, or no share is above zero.
    """
    if not bins:
        raise BadInput(f"{what} has no bins; give rows of up_to (tokens) and share.")
    edges = [0.0, *(edge for edge, _ in bins)]
    for edge in edges[1:]:
        _check_tokens(edge, what)
    if any(high <= low for low, high in pairwise(edges)):
        raise BadInput(f"{what}: the upper edges do not rise; order the bins by up_to.")
    weights = [weight for _, weight in bins]
    whole = fsum(weights)
    if not isfinite(whole) or whole <= 0 or any(weight < 0 for weight in weights):
        raise BadInput(
            f"{what}: the shares add up to {plain(whole)}; give each bin a share or count of 0 or more, "
            "and at least one above 0."
        )
    last_edge = edges[max(index for index, weight in enumerate(weights) if weight > 0) + 1]
    cells: list[tuple[int, float]] = []
    for (low, high), weight in zip(pairwise(edges), weights, strict=True):
        for start, end in pairwise(_edges(_STEP_BINS)):
            longest = high == last_edge and end == 1.0
            tokens = high if longest else low + (high - low) * (start + end) / 2
            cells.append((max(1, round(tokens)), weight / whole * (end - start)))
    return Marginal(tuple((tokens, weight) for tokens, weight in cells if weight > 0))


def _bins(knots: Mapping[float, float]) -> Iterator[tuple[int, float]]:
    for lower, upper in pairwise(sorted(knots)):
        low, high = knots[lower], knots[upper]
        straight = lower == 0.0
        for start, end in pairwise(_edges(_BODY_BINS if straight else _STEP_BINS)):
            if end == 1.0:
                tokens = high
            elif straight:
                tokens = low + (high - low) * (start + end) / 2
            else:
                tokens = _log_mean(low, high, start, end)
            yield max(1, round(tokens)), (upper - lower) * (end - start)


def _edges(parts: int) -> list[float]:
    """Equal parts of 0..1, with a thin last one that stands for the upper end itself."""
    return [*(part / parts for part in range(parts)), 1 - _AT_THE_END, 1.0]


def _log_mean(low: float, high: float, start: float, end: float) -> float:
    """The mean of ``low * (high / low) ** u`` for u from `start` to `end`."""
    if high <= low or low <= 0:
        return low + (high - low) * (start + end) / 2
    rate = log(high / low)
    return float(low * ((high / low) ** end - (high / low) ** start) / (rate * (end - start)))


def _quantile(pairs: list[tuple[int, float]], share: float) -> int:
    pairs.sort()
    reached: list[float] = []
    seen = 0.0
    for _, weight in pairs:
        seen += weight
        reached.append(seen)
    index = bisect_right(reached, share * seen * (1 - 1e-12))
    return pairs[min(index, len(pairs) - 1)][0]


def _check_tokens(tokens: float, what: str) -> None:
    if not isfinite(tokens) or not 0 <= tokens <= LONGEST:
        raise BadInput(
            f"{what} has a length of {plain(tokens)} tokens; a length is between 0 and {LONGEST:,}."
        )


def _percentile_name(share: float) -> str:
    return {0.0: "min", 1.0: "max"}.get(share, f"p{share * 100:g}")
