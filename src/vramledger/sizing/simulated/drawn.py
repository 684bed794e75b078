"""Requests drawn at random where no recorded ones are at hand: lengths of a distribution, Poisson arrivals."""

from pathlib import Path
from typing import Any, Final

from vramledger.frozen import frozen
from vramledger.plan.lengths import LengthDistribution

_FEWEST: Final = 2_000  # requests; a p99 rests on twenty of them
_MOST: Final = 50_000
_SECONDS: Final = 1_800.0  # of arrivals that are drawn at least, within the most requests
_ROUNDS: Final = 20  # of a closed loop: each place serves about so many requests


@frozen
class Drawn:
    """What is drawn: at a rate, or for a closed loop whose requests need no times of their own."""

    lengths: LengthDistribution
    rate_per_s: float | None
    in_flight: int | None

    @property
    def requests(self) -> int:
        """How many."""
        wanted = (
            self.rate_per_s * _SECONDS
            if self.rate_per_s is not None
            else float((self.in_flight or 1) * _ROUNDS)
        )
        return int(min(max(wanted, _FEWEST), _MOST))


def write_drawn(drawn: Drawn, path: Path, seed: int) -> Path:
    """A stored workload of such requests; equal arguments give equal bytes.

    Raises:
        BadInput: it cannot be written.
    """
    import numpy as np
    import pyarrow as pa

    from vramledger.workload.metadata import Metadata
    from vramledger.workload.schema import arrow_schema
    from vramledger.workload.store import write_workload

    draw, count, cells = np.random.default_rng(seed), drawn.requests, drawn.lengths.cells
    weights = np.array([cell.weight for cell in cells])
    chosen = draw.choice(len(cells), size=count, p=weights / weights.sum())
    gaps = draw.exponential(1.0 / (drawn.rate_per_s or 1.0), count)
    known: dict[str, Any] = {
        "row": np.arange(count),
        "arrival_s": np.cumsum(gaps) - gaps[0],
        "input_tokens": np.array([max(cell.input_tokens, 1) for cell in cells])[chosen],
        "output_tokens": np.array([max(cell.output_tokens, 1) for cell in cells])[chosen],
        "outcome": ["unknown"] * count,
    }
    schema = arrow_schema()
    columns = [
        pa.array(known[field.name], field.type)
        if field.name in known
        else pa.nulls(count, field.type)
        for field in schema
    ]
    batch = pa.RecordBatch.from_arrays(columns, schema=schema)
    said = (
        f"Drawn at random from {drawn.lengths.source} (seed {seed}); arrivals as a Poisson process."
    )
    metadata = Metadata(synthetic=True, history=(said,))
    return write_workload([batch], metadata, path, ordered=True).path
