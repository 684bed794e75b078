"""The tail scenario: the longest requests at their true share, but in runs.

Of n requests the k = ceil(n / 100) with the most input and output tokens are the tail (of equals the
earlier ones). The arrivals stay as they are. They are cut into ceil(k / 10) stretches of as equal
numbers of requests as possible; in each, at a place drawn evenly, one run of consecutive arrivals
takes up to 10 requests of the tail, in a drawn order. The requests that stood there go, in their
order, to the arrivals that the tail left. Nothing is drawn twice or left out, so every length comes as
often as in the log. A request that moved belongs to no session any more (its prefix blocks stay).
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from vramledger.errors import CannotKnow
from vramledger.units import div_ceil
from vramledger.workload.operators.columns import Column, column, read, with_column
from vramledger.workload.operators.draws import generator
from vramledger.workload.operators.subset import Subset, batches, rebased
from vramledger.workload.scenarios import TAIL_RUN, TAIL_SHARE

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from vramledger.workload.operators.columns import Array


def places(total_tokens: "Array", seed: int) -> "Array":
    """The place in the order of arrivals that each request gets: a permutation of 0 .. n - 1."""
    import numpy as np

    count = len(total_tokens)
    tail = np.argsort(-total_tokens, kind="stable")[: div_ceil(count, TAIL_SHARE)]
    draws = generator(seed)
    runs = _runs(count, len(tail), draws)
    tail_set, run_set = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    tail_set[tail], run_set[runs] = True, True
    found = np.arange(count)
    found[draws.permutation(np.flatnonzero(tail_set & ~run_set))] = np.flatnonzero(
        run_set & ~tail_set
    )
    found[np.flatnonzero(run_set & ~tail_set)] = np.flatnonzero(tail_set & ~run_set)
    return found


def _runs(count: int, tail: int, draws: "np.random.Generator") -> "Array":
    """The places of the runs, `tail` of them in all."""
    import numpy as np

    number = div_ceil(tail, TAIL_RUN)
    sizes = np.diff(np.arange(number + 1) * tail // number)
    edges = np.arange(number + 1) * count // number
    starts = edges[:-1] + draws.integers(0, np.diff(edges) - sizes + 1)
    return np.concatenate(
        [np.arange(start, start + size) for start, size in zip(starts, sizes, strict=True)]
    )


def clustered(chosen: Subset, seed: int, notes: list[str]) -> Iterator["pa.RecordBatch"]:
    """The rows kept at their new places, not in order; says in `notes` what moved.

    Raises:
        CannotKnow: no request has a length.
    """
    import numpy as np

    inputs, outputs = (read(chosen.path, name) for name in ("input_tokens", "output_tokens"))
    total = (inputs.values + outputs.values)[chosen.kept]
    if not total.any():
        raise CannotKnow(
            f"{chosen.path} has no scenario tail: no request of it has a length; import the logs "
            "with token counts."
        )
    place = places(total, seed)
    moved = place != np.arange(len(place))
    notes.append(
        f"Requests that changed places: {int(moved.sum()):,}; they belong to no session any more."
    )
    arrival = read(chosen.path, "arrival_s")
    at = Column(arrival.values[chosen.kept], arrival.absent[chosen.kept])
    return _placed(chosen, place, moved, at)


def _placed(
    chosen: Subset, place: "Array", moved: "Array", arrival: Column
) -> Iterator["pa.RecordBatch"]:
    import numpy as np

    for whole in batches(chosen):
        row = column(whole, "row").values
        here, gone = place[row], moved[row]
        none = np.zeros(len(row), np.bool_)
        batch = with_column(whole, "row", Column(here, none))
        batch = with_column(batch, "arrival_s", Column(arrival.values[here], arrival.absent[here]))
        for name in ("session", "turn", "think_s"):
            own = column(whole, name)
            batch = with_column(batch, name, Column(own.values, own.absent | gone))
        retry = column(whole, "retry_of")
        apart = retry.absent | gone | moved[retry.values]
        batch = with_column(batch, "retry_of", Column(place[retry.values], apart))
        yield rebased(batch, chosen.zero_s)
