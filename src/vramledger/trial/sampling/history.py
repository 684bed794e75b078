"""Server rows read back: figures over time, with what was left out filled in and restarts allowed for."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.record.samples import SERVER
from vramledger.trial.sampling.server_page import UP

if TYPE_CHECKING:
    import numpy as np

    from vramledger.record.run import Run

    Floats = np.ndarray[Any, np.dtype[np.float64]]

_COLUMNS: Final = ("t_s", "target", "name", "raw_name", "labels", "value")


@frozen
class History:
    """One series of one target: its value at each page that was read.

    `values` is NaN before the series was first there and after it went.
    """

    raw_name: str
    labels: str
    t_s: "Floats"
    values: "Floats"


def read_histories(run: "Run", name: str, target: str) -> tuple[History, ...]:
    """Every series with that common name, filled in for each page of the target that was read.

    Between two pages, and where pages could not be read, nothing is filled in.

    Raises:
        CannotKnow: the run has no server rows.
        BadInput: they cannot be read.
    """
    return read_many(run, (name,), target).get(name, ())


def read_many(run: "Run", names: Iterable[str], target: str) -> dict[str, tuple[History, ...]]:
    """Every series with one of these common names, as `read_histories`, by name; names without a series are left out.

    Raises:
        CannotKnow: the run has no server rows.
        BadInput: they cannot be read.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    table = run.table(SERVER).read(_COLUMNS)
    wanted = pa.array([*names, UP], pa.string())
    table = table.filter(
        pc.and_(pc.equal(table["target"], target), pc.is_in(table["name"], value_set=wanted))
    )
    called = np.asarray(table["name"])
    t_s, values = table["t_s"].to_numpy(), table["value"].to_numpy()
    pages = np.unique(t_s[called == UP])
    raw_names, labels = np.asarray(table["raw_name"]), np.asarray(table["labels"])
    rows: dict[tuple[str, str, str], list[int]] = {}
    for at in np.flatnonzero(called != UP).tolist():
        rows.setdefault((called[at], raw_names[at], labels[at]), []).append(at)
    found: dict[str, list[History]] = {}
    for (name, raw_name, told), places in rows.items():
        history = _filled((raw_name, told), pages, values[places], t_s[places])
        found.setdefault(name, []).append(history)
    return {name: tuple(histories) for name, histories in found.items()}


def targets_of(run: "Run") -> tuple[str, ...]:
    """The targets that have server rows, in the order of their names.

    Raises:
        CannotKnow: the run has no server rows.
        BadInput: they cannot be read.
    """
    import pyarrow.compute as pc

    table = run.table(SERVER).read(("target",))
    return tuple(sorted(pc.unique(table["target"]).to_pylist()))


def increase(values: "Floats") -> float:
    """By how much a counter grew, restarts allowed for: after a fall it began again at 0.

    NaN are left out. What was counted between the last page before a restart and the restart is unknown and not in it.
    """
    import numpy as np

    told = values[~np.isnan(values)]
    steps = np.diff(told)
    return float(np.where(steps >= 0, steps, told[1:]).sum())


def quantile(q: float, counts: Mapping[float, float]) -> float | None:
    """The q-quantile of a histogram, straight between two edges, as Prometheus' histogram_quantile.

    Args:
        q: 0..1.
        counts: what a time added to the cumulative count of each bucket, by its upper edge; `inf` is one of them.

    Returns:
        None where nothing was counted; the highest finite edge where the quantile lies beyond it, so that it is a
        lower bound.

    Raises:
        BadInput: there is no bucket without an upper edge.
    """
    edges = sorted(counts)
    if not edges or edges[-1] != float("inf"):
        raise BadInput("The histogram has no bucket +Inf; read its page as the server sends it.")
    total = counts[edges[-1]]
    if total <= 0:
        return None
    rank, below, count_below = q * total, 0.0, 0.0
    for edge in edges[:-1]:
        count = max(
            count_below, counts[edge]
        )  # pages of several processes may not be quite monotone
        if count >= rank:
            share = (rank - count_below) / (count - count_below) if count > count_below else 1.0
            return below + (edge - below) * share
        below, count_below = edge, count
    return below


def bucket_counts(histories: Iterable[History]) -> dict[float, float]:
    """What each bucket of a histogram counted over a run, all engines together, by upper edge."""
    import json

    counts: dict[float, float] = {}
    for history in histories:
        edge = json.loads(history.labels).get("le")
        if edge is not None:
            counts[float(edge)] = counts.get(float(edge), 0.0) + increase(history.values)
    return counts


def _filled(key: tuple[str, str], pages: "Floats", values: "Floats", t_s: "Floats") -> History:
    """The last value at or before each page; a row without a value is the end of a series."""
    import numpy as np

    at = np.searchsorted(t_s, pages, side="right") - 1
    filled = np.where(at >= 0, values[np.maximum(at, 0)], np.nan)
    return History(*key, pages, filled)
