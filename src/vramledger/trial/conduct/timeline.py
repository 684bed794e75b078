"""A run over time, in bins of one clock with the extremes kept: load, what is in flight, the server, its GPUs, latency.

It is made of whatever the run has: a measured one of its requests and of the pages that were read meanwhile, a simulated
one of its steps. What was not recorded is missing in it, and a time in which nobody looked is a hole.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.record.document import Origin
from vramledger.record.latency import BY_NAME, with_failures
from vramledger.record.outcome import Outcome
from vramledger.record.overview.bands import Bands, by_time
from vramledger.record.overview.columns import StepColumns, columns_of
from vramledger.record.overview.distribution import Distribution, distribution
from vramledger.record.overview.levels import Binned, Level, binned, envelope, stepped, total
from vramledger.record.samples import GPU, SERVER, STEPS
from vramledger.trial.conduct.itl_windows import itl_windows
from vramledger.trial.conduct.watch import SERVER as TARGET
from vramledger.trial.sampling.history import read_histories

if TYPE_CHECKING:
    from vramledger.record.run import Run

    Floats = np.ndarray[Any, np.dtype[np.float64]]

BINS: Final = 480
LATENCIES: Final = ("ttft_s", "tpot_s", "e2e_s", "queue_s")
ITL: Final = "itl_s"
SUMMED: Final = ("running", "waiting")  # over engines; of shares the mean, with the extremes of any
USAGE: Final = "kv_usage"
_WINDOWS: Final = (20, 240)  # fewest and most windows of latency
_A_WINDOW: Final = 30  # requests, at the mean
_RATE_BINS: Final = 20  # at least; else a second or more each
_BLIND: Final = 5.0  # usual times between two samples, after which a level is not known any more
_COLUMNS: Final = (
    "due_s", "dispatched_s", "first_content_s", "last_content_s", "done_s", "output_tokens_got", "queue_s", "row",
)  # fmt: skip


@frozen
class Timeline:
    """Arrays with a row a bin of the run's seconds; `edges_s` has one more.

    Rates have bins of their own, a second long or longer; their lowest and highest are of about a second.
    `levels` has running, waiting and kv_usage (0..1) as far as they were told, NaN where nobody looked; `preempted` counts a
    bin, None where nobody told. `gpu_bytes` is by UUID. `latency` is by when a request was due (ITL: by when the chunk came),
    failures infinite; `distributions` are of the whole run.
    """

    edges_s: "Floats"
    rate_edges_s: "Floats"
    offered_per_s: Binned
    ended_per_s: Binned  # as asked
    in_flight: Binned
    levels: Mapping[str, Binned]
    preempted: "Floats | None"
    gpu_bytes: Mapping[str, Binned]
    latency: Mapping[str, Bands]
    distributions: Mapping[str, Distribution]

    @property
    def bin_s(self) -> float:
        """How long a bin is."""
        return float(self.edges_s[1] - self.edges_s[0])


@frozen
class _Requests:
    columns: "Mapping[str, Floats]"
    outcome: "np.ndarray[Any, Any]"
    rows_only: bool


def timeline_of(run: "Run", bins: int = BINS) -> Timeline:
    """Of a run with any request; the warm-up is not in it.

    Raises:
        CannotKnow: it has none.
        BadInput: a table is damaged.
    """
    found = _requests(run)
    if not len(found.outcome):
        raise CannotKnow(f"{run.path} has no request that counts, so nothing can be drawn of it.")
    due, done = found.columns["due_s"], found.columns["done_s"]
    begin, end = np.min(due), max(np.max(due), np.nanmax(done, initial=-np.inf))
    edges = np.linspace(begin, max(end, begin + 1e-3), bins + 1)
    rate_bins = int(np.clip(edges[-1] - edges[0], _RATE_BINS, bins))
    rate_edges = np.linspace(edges[0], edges[-1], rate_bins + 1)
    ok = (found.outcome == Outcome.OK.value) & ~np.isnan(done)
    latency, distributions = _latencies(run, found, edges)
    engines = _engines(run)
    return Timeline(
        edges,
        rate_edges,
        _rate(due, rate_edges),
        _rate(done[ok], rate_edges),
        binned(_in_flight(found, float(edges[-1])), edges),
        _of_steps(engines, edges) if engines else _levels(run, edges),
        _step_preemptions(engines, edges) if engines else _preempted(run, edges),
        _gpu(run, edges),
        latency,
        distributions,
    )


def _latencies(
    run: "Run", found: _Requests, edges: "Floats"
) -> tuple[dict[str, Bands], dict[str, Distribution]]:
    """By window of time and over the whole, of those that the run tells."""
    windows = max(_WINDOWS[0], min(_WINDOWS[1], len(found.outcome) // _A_WINDOW))
    wide = np.linspace(edges[0], edges[-1], windows + 1)
    latency, distributions = {}, {}
    for name in LATENCIES:
        values = with_failures(BY_NAME[name].of(found.columns), found.outcome)
        whole = distribution(values)
        if whole is not None and (np.isfinite(values).any() or name == LATENCIES[0]):
            latency[name] = by_time(found.columns["due_s"], values, wide)
            distributions[name] = whole
    gaps = itl_windows(run, wide, rows_only=found.rows_only)
    if gaps is not None:
        latency[ITL], distributions[ITL] = gaps.bands, gaps.distribution
    return latency, distributions


def _rate(at_s: "Floats", edges: "Floats") -> Binned:
    """Of events, in cells of about a second within the bins."""
    each = max(round(float(edges[1] - edges[0])), 1)
    cells = np.linspace(edges[0], edges[-1], (len(edges) - 1) * each + 1)
    rates = (np.histogram(at_s, bins=cells)[0] / np.diff(cells)).reshape(-1, each)
    return Binned(rates.mean(axis=1), rates.min(axis=1), rates.max(axis=1))


def _requests(run: "Run") -> _Requests:
    """Those of the workload where the run tells which they are, else all."""
    columns = run.requests.numbers(*_COLUMNS)
    outcome = np.asarray(run.requests.read(("outcome",))["outcome"].to_pylist(), dtype=object)
    kept = ~np.isnan(columns["due_s"])
    rows = ~np.isnan(columns["row"])
    rows_only = run.description.origin is not Origin.SIMULATED
    if rows_only:
        kept &= rows
    return _Requests({name: each[kept] for name, each in columns.items()}, outcome[kept], rows_only)


def _in_flight(found: _Requests, last_s: float) -> Level:
    """Requests sent and not ended; one that never ended stays to the end."""
    sent = found.columns["dispatched_s"]
    ended = np.where(np.isnan(found.columns["done_s"]), last_s, found.columns["done_s"])
    was = ~np.isnan(sent)
    ended = np.maximum(ended, sent)[was]  # a clock that was set back makes no negative request
    at = np.concatenate((sent[was], ended))
    change = np.concatenate((np.ones(len(ended)), -np.ones(len(ended))))
    order = np.argsort(at, kind="stable")
    if not len(order):
        return Level(np.zeros(1), np.zeros(1))
    at, value = at[order], np.cumsum(change[order])
    last = np.append(at[1:] != at[:-1], True)  # of those at one moment
    return Level(at[last], value[last])


def _levels(run: "Run", edges: "Floats") -> dict[str, Binned]:
    found = {}
    for name in (*SUMMED, USAGE):
        told = _told(run, name)
        if told:
            whole = (
                binned(total(told), edges)
                if name in SUMMED
                else envelope([binned(each, edges) for each in told])
            )
            found[name] = _with_holes(whole, _sampled(told), edges)
    return found


def _engines(run: "Run") -> list[StepColumns]:
    """Of a simulated run, those that made a step."""
    if STEPS.name not in run.tables:
        return []
    return [each for each in columns_of(run).engines if len(each.start_s)]


def _of_steps(engines: list[StepColumns], edges: "Floats") -> dict[str, Binned]:
    def levels(name: str) -> list[Level]:
        return [
            stepped(each.start_s, each.end_s, np.nan_to_num(getattr(each, name)))
            for each in engines
        ]

    found = {name: binned(total(levels(name)), edges) for name in SUMMED}
    return found | {USAGE: envelope([binned(each, edges) for each in levels(USAGE)])}


def _step_preemptions(engines: list[StepColumns], edges: "Floats") -> "Floats":
    counts = [
        np.histogram(each.start_s, bins=edges, weights=np.nan_to_num(each.preempted))[0]
        for each in engines
    ]
    found: Floats = np.sum(counts, axis=0)
    return found


def _told(run: "Run", name: str) -> list[Level]:
    """A level for each engine that told."""
    if SERVER.name not in run.tables:
        return []
    known = (
        (each.t_s, each.values, ~np.isnan(each.values))
        for each in read_histories(run, name, TARGET)
    )
    return [Level(t_s[is_], values[is_]) for t_s, values, is_ in known if is_.any()]


def _sampled(told: list[Level]) -> "Floats":
    return np.unique(np.concatenate([each.at_s for each in told]))


def _with_holes(found: Binned, at_s: "Floats", edges: "Floats") -> Binned:
    """NaN in bins before the first sample, and in those that no sample is near."""
    usual = float(np.median(np.diff(at_s))) if len(at_s) > 1 else np.inf
    before = np.searchsorted(at_s, edges[1:], side="left") - 1
    since = edges[:-1] - at_s[np.maximum(before, 0)]
    hole = (before < 0) | (since > max(_BLIND * usual, 0.0))
    return Binned(*(np.where(hole, np.nan, part) for part in (found.mean, found.low, found.high)))


def _preempted(run: "Run", edges: "Floats") -> "Floats | None":
    told = _told(run, "preemptions")
    if not told:
        return None
    found = np.zeros(len(edges) - 1)
    for each in told:
        grown = np.diff(each.value)
        grown = np.where(grown < 0, each.value[1:], grown)  # the server began again at 0
        found += np.histogram(each.at_s[1:], bins=edges, weights=grown)[0]
    return found


def _gpu(run: "Run", edges: "Floats") -> dict[str, Binned]:
    if GPU.name not in run.tables:
        return {}
    names = np.asarray(run.table(GPU).read(("gpu_uuid",))["gpu_uuid"].to_pylist(), dtype=object)
    numbers = run.table(GPU).numbers("t_s", "used_bytes")
    found = {}
    for name in sorted(set(names.tolist())):
        mine = (names == name) & ~np.isnan(numbers["used_bytes"])
        if mine.any():
            level = Level(numbers["t_s"][mine], numbers["used_bytes"][mine])
            found[str(name)] = _with_holes(binned(level, edges), level.at_s, edges)
    return found
