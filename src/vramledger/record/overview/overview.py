"""The overview of a run: what happened over time, distributions, latency by length."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.frozen import frozen
from vramledger.record.overview.bands import Bands, by_length, by_time
from vramledger.record.overview.columns import LATENCIES, RequestColumns, RunColumns, StepColumns
from vramledger.record.overview.distribution import Distribution, distribution
from vramledger.record.overview.levels import Binned, binned, envelope, stepped, total

if TYPE_CHECKING:
    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

BINS: Final = 600  # of the time axis
LISTED: Final = 24  # rows of the same as a table
_BANDS: Final = (20, 300)  # fewest and most bins of latency
_A_BAND: Final = 30  # requests, at the mean
OVER_TIME: Final = ("ttft_s", "e2e_s")
ITL: Final = "itl_s"
BY_LENGTH: Final = {"ttft_s": "input_tokens", "e2e_s": "output_tokens"}


@frozen
class OverTime:
    """Arrays with a row a bin of time; `edges_s` has one more. Rates are per second.

    `running` and `waiting` are of all engines together; `kv_usage` is the mean over engines, with
    the lowest and highest of any. `preempted` are counts. `latency` is by time of arrival.
    """

    edges_s: "Floats"
    requests_per_s: "Floats"
    input_tokens_per_s: "Floats"
    output_tokens_per_s: "Floats"
    running: Binned
    waiting: Binned
    kv_usage: Binned
    preempted: "Floats"
    latency: Mapping[str, Bands]

    @property
    def starts_s(self) -> "Floats":
        """Where each bin begins."""
        return self.edges_s[:-1]

    @property
    def bin_s(self) -> float:
        """How long a bin is."""
        return float(self.edges_s[1] - self.edges_s[0])


@frozen
class Overview:
    """All of it. `distributions` are by name of the latency, `held` of GiB-seconds of KV cache.

    `listed` is `over_time` in as few bins as a table has rows.
    """

    over_time: OverTime
    listed: OverTime
    distributions: Mapping[str, Distribution]
    by_length: Mapping[str, Bands]
    held: Distribution | None


def overview_of(run: RunColumns) -> Overview:
    """The overview of a run with at least one request and one engine."""
    requests = run.requests
    found = {name: distribution(requests.latency[name]) for name in LATENCIES}
    if run.gaps is not None:
        found[ITL] = distribution(run.gaps.seconds, run.gaps.counts)
    held = None if requests.kv_gib_s is None else distribution(requests.kv_gib_s)
    return Overview(
        _over_time(run, BINS, max(_BANDS[0], min(_BANDS[1], len(requests.due_s) // _A_BAND))),
        _over_time(run, LISTED, LISTED),
        {name: each for name, each in found.items() if each is not None},
        {
            name: by_length(getattr(requests, length), requests.latency[name])
            for name, length in BY_LENGTH.items()
        },
        held,
    )


def _over_time(run: RunColumns, bins: int, bands: int) -> OverTime:
    """In so many bins of time, with latency in so many."""
    requests = run.requests
    edges, wide = _edges(run, bins), _edges(run, bands)
    width = edges[1] - edges[0]
    return OverTime(
        edges,
        _per_s(requests.due_s, np.ones(len(requests.due_s)), edges),
        _per_s(requests.due_s, np.nan_to_num(requests.input_tokens), edges),
        _per_s(requests.due_s, np.nan_to_num(requests.output_tokens), edges),
        binned(total([_level(one, "running") for one in run.engines]), edges),
        binned(total([_level(one, "waiting") for one in run.engines]), edges),
        envelope([binned(_level(one, "kv_usage"), edges) for one in run.engines]),
        sum(_per_s(one.start_s, one.preempted, edges) for one in run.engines) * width,
        {name: by_time(requests.due_s, requests.latency[name], wide) for name in OVER_TIME},
    )


def _edges(run: RunColumns, bins: int) -> "Floats":
    last = max(_last(run.requests), *(float(one.end_s.max(initial=0.0)) for one in run.engines))
    return np.linspace(0.0, max(last, 1e-9), bins + 1)


def _last(requests: RequestColumns) -> float:
    return float(np.max(requests.due_s, initial=0.0))


def _level(engine: StepColumns, name: str) -> Any:
    return stepped(engine.start_s, engine.end_s, np.nan_to_num(getattr(engine, name)))


def _per_s(at_s: "Floats", amounts: "Floats", edges: "Floats") -> "Floats":
    """Amounts per second in each bin."""
    found, _ = np.histogram(at_s, bins=edges, weights=np.nan_to_num(amounts))
    return found / np.diff(edges)
