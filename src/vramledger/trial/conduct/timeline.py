"""A measured run over time, in bins of one clock, extremes kept: load, what is in flight, the server, its GPUs, latency."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.record.latency import BY_NAME, with_failures
from vramledger.record.overview.bands import Bands, by_time
from vramledger.record.overview.distribution import Distribution, distribution
from vramledger.record.overview.levels import Binned, Level, binned, envelope, total
from vramledger.record.samples import GPU
from vramledger.trial.conduct.latencies import Measured, measured
from vramledger.trial.conduct.watch import SERVER
from vramledger.trial.sampling.history import read_histories

if TYPE_CHECKING:
    from vramledger.record.run import Run

    Floats = np.ndarray[Any, np.dtype[np.float64]]

BINS: Final = 400
LATENCIES: Final = ("ttft_s", "tpot_s", "e2e_s")
_SUMMED: Final = ("running", "waiting")  # over engines; of shares the mean, with the extremes of any


@frozen
class Timeline:
    """Arrays with a row a bin of the run's seconds; `edges_s` has one more.

    `levels` has running, waiting and kv_usage (0..1) where the server told; `preempted` counts a bin, None where it did not
    tell. `gpu_bytes` is by UUID. `latency` is by when a request was due, failures infinite.
    """

    edges_s: "Floats"
    requests_per_s: "Floats"
    in_flight: Binned
    levels: Mapping[str, Binned]
    preempted: "Floats | None"
    gpu_bytes: Mapping[str, Binned]
    latency: Mapping[str, Bands]
    distributions: Mapping[str, Distribution]


def timeline_of(run: "Run", bins: int = BINS) -> Timeline:
    """Of a trial with any measured request, over its measured part.

    Raises:
        CannotKnow: it has none.
        BadInput: a table is damaged.
    """
    found = measured(run)
    if not len(found):
        raise CannotKnow(f"{run.path} has no measured request, so nothing can be drawn of it.")
    due = found.columns["due_s"]
    last = max(float(np.nanmax(found.columns["done_s"], initial=due.max())), float(due.max()))
    edges = np.linspace(float(due.min()), max(last, float(due.min()) + 1e-3), bins + 1)
    latency = {
        name: with_failures(BY_NAME[name].of(found.columns), found.outcome) for name in LATENCIES
    }
    each = {name: distribution(values) for name, values in latency.items()}
    return Timeline(
        edges,
        np.histogram(due, bins=edges)[0] / np.diff(edges),
        binned(_in_flight(found, last), edges),
        _levels(run, edges),
        _preempted(run, edges),
        _gpu(run, edges),
        {name: by_time(due, values, edges[:: max(bins // 50, 1)]) for name, values in latency.items()},
        {name: one for name, one in each.items() if one is not None},
    )  # fmt: skip


def _in_flight(found: Measured, last_s: float) -> Level:
    """Requests sent and not ended; one that never ended stays to the end."""
    sent = found.columns["dispatched_s"]
    ended = np.where(np.isnan(found.columns["done_s"]), last_s, found.columns["done_s"])
    was = ~np.isnan(sent)
    at = np.concatenate((sent[was], ended[was]))
    step = np.concatenate((np.ones(int(was.sum())), -np.ones(int(was.sum()))))
    order = np.argsort(at, kind="stable")
    return _level(at[order], np.cumsum(step[order]))


def _level(at_s: "Floats", value: "Floats") -> Level:
    """At least one moment, as `binned` wants."""
    return Level(at_s, value) if len(at_s) else Level(np.zeros(1), np.zeros(1))


def _levels(run: "Run", edges: "Floats") -> dict[str, Binned]:
    found = {}
    for name in (*_SUMMED, "kv_usage"):
        told = _told(run, name)
        if told:
            summed = name in _SUMMED
            found[name] = (
                binned(total(told), edges) if summed else envelope([binned(e, edges) for e in told])
            )
    return found


def _told(run: "Run", name: str) -> list[Level]:
    """A level for each engine that told."""
    try:
        histories = read_histories(run, name, SERVER)
    except CannotKnow:
        return []
    known = ((each.t_s, each.values, ~np.isnan(each.values)) for each in histories)
    return [Level(t_s[is_], values[is_]) for t_s, values, is_ in known if is_.any()]


def _preempted(run: "Run", edges: "Floats") -> "Floats | None":
    told = _told(run, "preemptions")
    if not told:
        return None
    counts = np.zeros(len(edges) - 1)
    for each in told:
        grown = np.diff(each.value)
        grown = np.where(grown < 0, each.value[1:], grown)  # the server began again at 0
        counts += np.histogram(each.at_s[1:], bins=edges, weights=grown)[0]
    return counts


def _gpu(run: "Run", edges: "Floats") -> dict[str, Binned]:
    if GPU.name not in run.tables:
        return {}
    rows = run.table(GPU).read(("t_s", "gpu_uuid", "used_bytes"))
    names = np.asarray(rows["gpu_uuid"].to_pylist(), dtype=object)
    numbers = run.table(GPU).numbers("t_s", "used_bytes")
    found = {}
    for name in sorted(set(names)):
        mine = (names == name) & ~np.isnan(numbers["used_bytes"])
        if mine.any():
            found[name] = binned(Level(numbers["t_s"][mine], numbers["used_bytes"][mine]), edges)
    return found
