"""What a server's metrics pages told, by window: gauges as means, counters as growth a second, histograms as means of what was counted."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.diagnose.seen.moments import Moments
from vramledger.diagnose.seen.windows import Windows
from vramledger.frozen import frozen
from vramledger.trial.sampling.history import History, read_many, targets_of

if TYPE_CHECKING:
    from vramledger.record.run import Run

    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_SUMMED: Final = ("running", "waiting", "swapped", "paused", "front_end_waiting")
_LARGEST: Final = ("kv_usage", "process_resident_bytes")
_COUNTERS: Final = (
    "preemptions", "prompt_tokens", "prompt_tokens_computed", "prompt_tokens_cached", "generation_tokens", "prefix_queries",
    "prefix_hits", "process_cpu_s", "requests_finished", "spec_drafts", "http_requests", "requests_rejected",
)  # fmt: skip
_HISTOGRAMS: Final = (
    "ttft_s",
    "itl_s",
    "queue_s",
    "prefill_s",
    "decode_s",
    "e2e_s",
    "iteration_tokens",
)
_REASONS: Final = "waiting_by_reason"
_CONFIG: Final = "cache_config"
_SCRAPE: Final = "scrape"
_CLIENT: Final = {
    "host_cpu": "client_cpu",
    "host_cpu_busiest": "client_cpu_busiest",
    "host_memory_used_bytes": "client_memory",
}
NAMES: Final = (
    *_SUMMED, *_LARGEST, *_COUNTERS, _REASONS, _CONFIG, *(f"{each}{part}" for each in _HISTOGRAMS for part in ("_sum", "_count")),
)  # fmt: skip


@frozen
class Pages:
    """`series` has a row a window under the common name; `NAME_per_s` for counters, `server_NAME` for histograms' means.

    `config` are the labels of the server's cache configuration; `interval_s` is the usual time between two pages.
    """

    series: Mapping[str, "Floats"]
    moments: Moments | None
    config: Mapping[str, str]
    targets: int
    interval_s: float
    longest_gap_s: float
    restarts: int


def read_pages(run: "Run", windows: Windows) -> Pages | None:
    """The pages of all servers of a run, None where no page was read.

    Raises:
        BadInput: the table is damaged.
    """
    from vramledger.record.samples import SERVER

    if SERVER.name not in run.tables:
        return None
    found = [
        read_many(run, NAMES, target) for target in targets_of(run) if target.startswith("target")
    ]
    found = [each for each in found if any(name in each for name in NAMES)]
    return pages_of(found, windows) if found else None


def pages_of(servers: "list[dict[str, tuple[History, ...]]]", windows: Windows) -> Pages:
    """The pages of servers, each the series of `NAMES` by name."""
    series: dict[str, Floats] = {}
    for name in (*_SUMMED, *_LARGEST):
        add_up = np.nanmax if name in _LARGEST else np.nansum
        _put(
            series,
            name,
            [windows.mean(each.t_s, each.values) for each in _all(servers, name)],
            add_up,
        )
    for name in _COUNTERS:
        _put(series, f"{name}_per_s", [windows.rate(each.t_s, each.values) for each in _all(servers, name)], np.nansum)  # fmt: skip
    for name in _HISTOGRAMS:
        _put_histogram(series, servers, name, windows)
    _put_reasons(series, servers, windows)
    pages = max((each.t_s for server in servers for rows in server.values() for each in rows), key=len)  # fmt: skip
    apart = np.diff(pages)
    return Pages(
        series=series,
        moments=_moments(servers),
        config=_config(servers),
        targets=len(servers),
        interval_s=float(np.median(apart)) if len(apart) else 0.0,
        longest_gap_s=float(apart.max()) if len(apart) else 0.0,
        restarts=_restarts(servers),
    )


def read_scrapes(run: "Run", windows: Windows) -> "dict[str, Floats]":
    """How long each page took to come, and what the client's own machine told.

    Raises:
        BadInput: the table is damaged.
    """
    import pyarrow.compute as pc

    from vramledger.record.samples import SERVER

    if SERVER.name not in run.tables:
        return {}
    table = run.table(SERVER).read(("t_s", "scrape_s", "target", "name", "value"))
    up = table.filter(
        pc.and_(pc.equal(table["name"], "up"), pc.starts_with(table["target"], "target"))
    )
    found = {"scrape_s": windows.mean(_numbers(up["t_s"]), _numbers(up["scrape_s"]))}
    client = table.filter(pc.equal(table["target"], "client"))
    for name, called in _CLIENT.items():
        rows = client.filter(pc.equal(client["name"], name))
        found[called] = windows.mean(_numbers(rows["t_s"]), _numbers(rows["value"]))
    rows = client.filter(pc.equal(client["name"], "host_tcp_retransmits"))
    found["retransmits_per_s"] = windows.rate(_numbers(rows["t_s"]), _numbers(rows["value"]))
    return {name: values for name, values in found.items() if np.isfinite(values).any()}


def _numbers(column: Any) -> "Floats":
    import pyarrow as pa

    return np.asarray(column.cast(pa.float64()).to_numpy(), np.float64)


def _all(servers: "list[dict[str, tuple[History, ...]]]", name: str) -> "list[History]":
    return [each for server in servers for each in server.get(name, ())]


def _put(series: "dict[str, Floats]", name: str, rows: "list[Floats]", add_up: Any) -> None:
    """One series of several; windows in which none of them was seen stay NaN."""
    if not rows:
        return
    values = np.array(rows)
    told = np.isfinite(values).any(axis=0)
    combined = np.full(values.shape[1], np.nan)
    combined[told] = add_up(values[:, told], axis=0)
    if told.any():
        series[name] = combined


def _put_histogram(
    series: "dict[str, Floats]", servers: "list[dict[str, tuple[History, ...]]]", name: str, windows: Windows
) -> None:  # fmt: skip
    parts: dict[str, Floats] = {}
    for part in ("_sum", "_count"):
        rows = [windows.rate(each.t_s, each.values) for each in _all(servers, name + part)]
        _put(parts, part, rows, np.nansum)
    if len(parts) < 2:
        return
    sums, counts = parts["_sum"], parts["_count"]
    with np.errstate(invalid="ignore"):
        series[f"server_{name}"] = np.divide(sums, counts, out=windows.nothing, where=counts > 0)
    series[f"server_{name}_per_s"] = counts


def _put_reasons(
    series: "dict[str, Floats]", servers: "list[dict[str, tuple[History, ...]]]", windows: Windows
) -> None:
    import json

    rows: dict[str, list[Floats]] = {}
    for each in _all(servers, _REASONS):
        reason = str(json.loads(each.labels).get("reason", ""))
        rows.setdefault(f"waiting_{reason}", []).append(windows.mean(each.t_s, each.values))
    for name, values in rows.items():
        _put(series, name, values, np.nansum)


def _moments(servers: "list[dict[str, tuple[History, ...]]]") -> Moments | None:
    """The gauges of one page beside each other: page by page of each server, all its engines together."""
    rows = []
    for server in servers:
        if "running" not in server or "waiting" not in server:
            continue
        t_s = server["running"][0].t_s
        running, waiting = (
            _over_engines(server[name], np.nansum) for name in ("running", "waiting")
        )
        usage = _over_engines(server["kv_usage"], np.nanmax) if "kv_usage" in server else np.full(len(t_s), np.nan)  # fmt: skip
        rows.append((t_s, running, waiting, usage, float(len(server["running"]))))
    if not rows:
        return None
    t_s, running, waiting, usage = (
        np.concatenate([row[place] for row in rows]) for place in range(4)
    )
    return Moments(
        t_s=t_s,
        running=running,
        waiting=waiting,
        kv_usage=usage,
        weights=np.ones(len(t_s)),
        engines=max(row[4] for row in rows),
    )


def _over_engines(histories: "tuple[History, ...]", add_up: Any) -> "Floats":
    values = np.array([each.values for each in histories])
    told = np.isfinite(values).any(axis=0)
    found = np.full(values.shape[1], np.nan)
    found[told] = add_up(values[:, told], axis=0)
    return found


def _config(servers: "list[dict[str, tuple[History, ...]]]") -> dict[str, str]:
    import json

    for each in _all(servers, _CONFIG):
        return {str(name): str(value) for name, value in json.loads(each.labels).items()}
    return {}


def _restarts(servers: "list[dict[str, tuple[History, ...]]]") -> int:
    """How often the counters of a server fell: the most that one of its series did."""
    falls = [0]
    for server in servers:
        for name in ("generation_tokens", "prompt_tokens", "requests_finished"):
            for each in server.get(name, ()):
                told = each.values[np.isfinite(each.values)]
                falls.append(int((np.diff(told) < 0).sum()))
    return max(falls)
