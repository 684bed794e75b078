"""What a reader must know of the arrivals: times too coarse to tell a queue."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from vramledger.simulate.offered import Offered

_FEWEST: Final = 10  # different moments; fewer are a burst that somebody meant
_SHARE: Final = 0.5  # of the requests that come at the very moment of another


def load_remarks(offered: "Offered") -> Iterator[str]:
    """Arrivals that share their moments are bursts of the log's clock, which queue as no real ones do."""
    moments, counts = np.unique(offered.due_ns, return_counts=True)
    together = float(counts[counts > 1].sum()) / len(offered)
    if len(moments) < _FEWEST or together <= _SHARE:
        return
    apart = float(np.median(np.diff(moments))) / 1e9
    yield (
        f"{together:.0%} of the requests arrive at the very moment of another, up to {int(counts.max()):,} at once, on "
        f"moments {apart:.3g} s apart (median): the workload's clock is coarse, and such bursts make TTFT and queue "
        "longer than they were. vram workload import --spread draws the times between its ticks."
    )
