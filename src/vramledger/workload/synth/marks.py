"""What a request has beside times and lengths: outcome, model, thinking tokens, limit on the answer.

Outcomes and models are drawn by their shares, independently. Thinking tokens and limits come at their
share and in the rank of the answer's length, because long answers are those that think long.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vramledger.record.outcome import Outcome
from vramledger.workload.profile.profile import Lengths, Profile
from vramledger.workload.synth.draws import Shares
from vramledger.workload.synth.lengths import DrawnLengths

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


class MarkDraws:
    """Draws marks like a profile's, as Arrow columns by name."""

    def __init__(self, profile: Profile) -> None:
        self._outcomes = _Labels(profile.outcomes, profile.requests, Outcome.UNKNOWN.value)
        self._models = _Labels(profile.models, profile.requests, None)
        self._thinking = _Ranked.of(profile.thinking_tokens, profile.requests)
        self._limit = _Ranked.of(profile.max_output_tokens, profile.requests)

    def draw(self, lengths: DrawnLengths, rng: "np.random.Generator") -> "Mapping[str, pa.Array]":
        """Columns of the schema for requests of these lengths."""
        import numpy as np
        import pyarrow as pa

        outputs, count = lengths.output_tokens, len(lengths.output_tokens)
        found = {"outcome": self._outcomes.draw(count, rng), "model": self._models.draw(count, rng)}
        if self._thinking is not None:
            drawn = self._thinking.draw(outputs, rng)
            found["thinking_tokens"] = pa.array(
                np.minimum(drawn.values, outputs).astype(np.int32), mask=~drawn.has
            )
        if self._limit is not None:
            drawn = self._limit.draw(outputs, rng)
            found["max_output_tokens"] = pa.array(
                np.maximum(drawn.values, outputs).astype(np.int32), mask=~drawn.has
            )
        return found


class _Labels:
    def __init__(self, counts: Mapping[str, int], requests: int, rest: str | None) -> None:
        import numpy as np

        self._names: list[str | None] = [*sorted(counts), rest]
        held = [counts[name] for name in sorted(counts)]
        left = max(0, requests - sum(held))
        self._shares = Shares(np.array([*held, left if requests else 1], float))

    def draw(self, count: int, rng: "np.random.Generator") -> "pa.Array":
        import pyarrow as pa

        return pa.array(self._names, pa.string()).take(pa.array(self._shares.draw(rng, count)))


class _Drawn:
    def __init__(self, values: "NDArray[np.float64]", has: "NDArray[np.bool_]") -> None:
        self.values, self.has = values, has


class _Ranked:
    """A length drawn at the rank that another has among its peers."""

    def __init__(self, quantiles: "NDArray[np.float64]", share: float) -> None:
        self._quantiles, self._share = quantiles, share

    @classmethod
    def of(cls, lengths: Lengths | None, requests: int) -> "_Ranked | None":
        import numpy as np

        if lengths is None or not lengths.count or not requests or not lengths.quantiles:
            return None
        return cls(np.array(lengths.quantiles, float), min(1.0, lengths.count / requests))

    def draw(self, other: "NDArray[np.int32]", rng: "np.random.Generator") -> _Drawn:
        import numpy as np

        has = rng.random(len(other)) < self._share
        values = np.zeros(len(other))
        chosen = other[has]
        order: Any = np.lexsort((rng.random(len(chosen)), chosen))
        rank = np.empty(len(chosen))
        rank[order] = (np.arange(len(chosen)) + rng.random(len(chosen))) / max(len(chosen), 1)
        grid = np.linspace(0, 1, len(self._quantiles))
        values[has] = np.rint(np.interp(rank, grid, self._quantiles))
        return _Drawn(values, has)
