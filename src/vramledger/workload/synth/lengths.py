"""Input and output lengths, drawn together as a profile has them.

Requests are drawn from a pool of some 10^5 weighted pairs. Each pair lies in a cell of the joint
histogram, at a length within each of the cell's two bins that follows the fine quantiles of that length,
so that atoms (a cap at 7,437 tokens) stay atoms; in a bin too thin for the quantiles (`_THIN`) it lies
evenly around the bin's exact mean. The weights are then fitted (`raking`) to the cells and to the fine
quantiles of input, output and their sum, which between them hold most of what goes on within a cell.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.workload.profile.bins import EDGES
from vramledger.workload.profile.profile import Joint, Lengths, Profile
from vramledger.workload.synth.draws import Shares
from vramledger.workload.synth.quantiles import steps_of
from vramledger.workload.synth.raking import Margin, raked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_POOL: Final = 200_000  # pairs
_POOL_OF_CELL: Final = 16  # at least
_THIN: Final = 0.003  # share of requests in a bin under which 1,001 quantiles say too little of it


@frozen
class DrawnLengths:
    """Lengths of some requests; `has_*` is False where the request has none (its value is 0)."""

    input_tokens: "NDArray[np.int32]"
    output_tokens: "NDArray[np.int32]"
    has_input: "NDArray[np.bool_]"
    has_output: "NDArray[np.bool_]"

    def taken(self, order: "NDArray[np.int64]") -> "DrawnLengths":
        """The same requests in another order."""
        return DrawnLengths(
            self.input_tokens[order],
            self.output_tokens[order],
            self.has_input[order],
            self.has_output[order],
        )


class LengthDraws:
    """Draws lengths like a profile's.

    Raises:
        CannotKnow: the profile has no lengths.
    """

    def __init__(self, profile: Profile) -> None:
        import numpy as np

        self._joint = profile.joint if profile.joint and profile.joint.cells else None
        inputs, outputs = profile.input_tokens, profile.output_tokens
        if inputs is None and outputs is None:
            raise CannotKnow(
                "The profile has no token counts, so no lengths can be drawn from it; import the "
                "log with a tokenizer, or give a profile that has them."
            )
        self._kinds = Shares(np.array(_kinds(profile), float))
        self._input = None if inputs is None else _Marginal(inputs, _bins(self._joint, "input"))
        self._output = None if outputs is None else _Marginal(outputs, _bins(self._joint, "output"))
        self._pool: _Pool | None = None
        self._profile = profile

    def draw(self, rng: "np.random.Generator", count: int) -> DrawnLengths:
        """Lengths of so many requests."""
        import numpy as np

        kinds = self._kinds.draw(rng, count)
        has_input, has_output = np.isin(kinds, (0, 1)), np.isin(kinds, (0, 2))
        inputs, outputs = np.zeros(count, np.int32), np.zeros(count, np.int32)
        both = kinds == 0
        if self._joint is not None and self._input is not None and self._output is not None:
            if self._pool is None:
                self._pool = _pool(self._profile, self._joint, self._input, self._output, rng)
            chosen = self._pool.shares.draw(rng, int(both.sum()))
            inputs[both] = self._pool.input_tokens[chosen]
            outputs[both] = self._pool.output_tokens[chosen]
        for marginal, values, alone in (
            (self._input, inputs, kinds == 1),
            (self._output, outputs, kinds == 2),
        ):
            if marginal is not None and alone.any():
                values[alone] = marginal.anywhere(int(alone.sum()), rng)
        return DrawnLengths(inputs, outputs, has_input, has_output)


@frozen
class _Pool:
    """Weighted pairs of lengths."""

    input_tokens: "NDArray[np.int32]"
    output_tokens: "NDArray[np.int32]"
    shares: Shares


def _pool(
    profile: Profile,
    joint: Joint,
    inputs: "_Marginal",
    outputs: "_Marginal",
    rng: "np.random.Generator",
) -> _Pool:
    import numpy as np

    share = np.array([cell.requests for cell in joint.cells], float) / joint.requests
    each = np.maximum(np.rint(share * _POOL), _POOL_OF_CELL).astype(np.int64)
    cell = np.repeat(np.arange(len(share)), each)
    first = inputs.within(np.array([found.input_bin for found in joint.cells])[cell], rng)
    second = outputs.within(np.array([found.output_bin for found in joint.cells])[cell], rng)
    margins = [
        _margin(values, lengths)
        for values, lengths in (
            (first, profile.input_tokens),
            (second, profile.output_tokens),
            (first + second, profile.total_tokens),
        )
        if lengths is not None and lengths.quantiles and lengths.count == joint.requests
    ]
    weights = raked((share / each)[cell], [*margins, Margin(cell, share)])
    return _Pool(first.astype(np.int32), second.astype(np.int32), Shares(weights))


def _margin(values: "NDArray[np.float64]", lengths: Lengths) -> Margin:
    """The steps between the fine quantiles, and nothing below the least or above the most."""
    import numpy as np

    steps = steps_of(lengths.quantiles)
    group = np.searchsorted(steps.points, values) + 1
    group[values < steps.points[0]] = 0
    return Margin(group, np.concatenate(([0.0], steps.shares, [0.0])))


def _kinds(profile: Profile) -> tuple[int, int, int, int]:
    """Requests with both lengths, with input alone, with output alone, with neither."""
    both = profile.joint.requests if profile.joint else 0
    with_input = profile.input_tokens.count if profile.input_tokens else 0
    with_output = profile.output_tokens.count if profile.output_tokens else 0
    one = (max(0, with_input - both), max(0, with_output - both))
    return both, *one, max(0, profile.requests - both - sum(one))


@frozen
class _BinTotal:
    requests: int
    tokens: int


def _bins(joint: Joint | None, side: str) -> Mapping[int, _BinTotal]:
    """Requests and exact tokens of each bin of one side."""
    requests: dict[int, int] = defaultdict(int)
    tokens: dict[int, int] = defaultdict(int)
    for cell in joint.cells if joint else ():
        place = cell.input_bin if side == "input" else cell.output_bin
        requests[place] += cell.requests
        tokens[place] += cell.input_total if side == "input" else cell.output_total
    return {place: _BinTotal(requests[place], tokens[place]) for place in requests}


class _Marginal:
    """One length: drawn within given bins, or over all."""

    def __init__(self, lengths: Lengths, bins: Mapping[int, _BinTotal]) -> None:
        import numpy as np

        self._quantiles = np.array(lengths.quantiles or _coarse(lengths), float)
        self._shares = (
            np.linspace(0, 1, len(self._quantiles)) if lengths.quantiles else np.array(_COARSE)
        )
        edges = np.array((*EDGES, _END), float)
        self._low = self._share_below(edges[:-1])
        self._width = self._share_below(edges[1:]) - self._low
        self._least = np.maximum(edges[:-1], lengths.min)
        self._most = np.maximum(np.minimum(edges[1:] - 1, lengths.max), self._least)
        self._mean = (self._least + self._most) / 2
        for place, total in bins.items():
            self._mean[place] = total.tokens / total.requests
        self._half = np.maximum(
            np.minimum(self._mean - self._least, self._most - self._mean) + 0.49, 0
        )

    def _share_below(self, tokens: "NDArray[np.float64]") -> "NDArray[np.float64]":
        """The share of requests shorter than so many tokens; lengths are whole, so half a token less."""
        import numpy as np

        return np.interp(tokens - 0.5, self._quantiles, self._shares, left=0.0, right=1.0)

    def within(
        self, bins: "NDArray[np.int64]", rng: "np.random.Generator"
    ) -> "NDArray[np.float64]":
        """A length in each of the bins."""
        import numpy as np

        place = rng.random(len(bins))
        fine = np.interp(self._low[bins] + place * self._width[bins], self._shares, self._quantiles)
        even = self._mean[bins] + self._half[bins] * (2 * place - 1)
        found = np.rint(np.where(self._width[bins] < _THIN, even, fine))
        clipped: NDArray[np.float64] = np.clip(found, self._least[bins], self._most[bins])
        return clipped

    def anywhere(self, count: int, rng: "np.random.Generator") -> "NDArray[np.float64]":
        """Lengths over the whole distribution."""
        import numpy as np

        found: NDArray[np.float64] = np.interp(rng.random(count), self._shares, self._quantiles)
        return np.rint(found)


_END: Final = 1 << 31  # of the last bin, which has no edge of its own: what 32 bits hold
_COARSE: Final = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0)


def _coarse(lengths: Lengths) -> tuple[float, ...]:
    """The percentiles that every profile states, at the shares of `_COARSE`."""
    return (
        lengths.min,
        lengths.p10,
        lengths.p25,
        lengths.p50,
        lengths.p75,
        lengths.p90,
        lengths.p95,
        lengths.p99,
        lengths.p999,
        lengths.max,
    )
