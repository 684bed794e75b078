"""The plots of a run: everything on one time axis, and how latencies are distributed."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from vramledger.record.overview.bands import Bands
from vramledger.record.overview.levels import Binned
from vramledger.report.html.figure import Figure
from vramledger.report.html.series import band, line, positive, series
from vramledger.report.html.titled_table import Table
from vramledger.report.number import duration, rate, share
from vramledger.trial.conduct.timeline import Timeline
from vramledger.units import format_seconds

_GIB: Final = 1 << 30
_TITLES: Final = {"ttft_s": "TTFT", "tpot_s": "TPOT", "e2e_s": "E2E"}
_LEVELS: Final = {"running": "running", "waiting": "waiting", "kv_usage": "KV use"}
_LISTED: Final = 24  # rows of the table
_ROW_PX: Final = 130
_GAP: Final = 0.02


def figures(key: str, name: str, found: Timeline) -> Iterator[Figure]:
    """Two of a run; `key` tells their ids from those of other runs."""
    yield _over_time(key, name, found)
    yield _distributions(key, name, found)


def _over_time(key: str, name: str, found: Timeline) -> Figure:
    panels = list(_panels(found))
    traces = [
        {**trace, "xaxis": "x", "yaxis": _axis(number)}
        for number, (_, each) in enumerate(panels)
        for trace in each
    ]
    absent = [title for each, title in _LEVELS.items() if each not in found.levels]
    absent += [] if found.preempted is not None else ["preempted"]
    absent += [] if found.gpu_bytes else ["GPU memory"]
    unseen = f" Not recorded: {', '.join(absent)}." if absent else ""
    width = float(found.edges_s[1] - found.edges_s[0])
    return Figure(
        f"time-{key}",
        f"Over time, run {name}",
        f"All rows share the run's clock, in bins of {duration(width)}. Lines are means of a bin, areas reach from its "
        f"lowest to its highest moment; latency is by when a request was due.{unseen}",
        tuple(traces),
        _layout([title for title, _ in panels]),
        _table(name, found),
    )


def _panels(found: Timeline) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    at = series(found.edges_s[:-1])
    yield (
        "requests/s",
        [line("requests offered", "grid", at, series(found.requests_per_s), "%{y:.4g}")],
    )
    yield "in flight", list(_level("in flight", "input", at, found.in_flight))
    for name, title in _LEVELS.items():
        if name in found.levels:
            yield title, list(_level(title, "output", at, found.levels[name]))
    if found.preempted is not None:
        yield (
            "preempted",
            [line("preempted in the bin", "limit", at, series(found.preempted), "%{y:,}")],
        )
    if found.gpu_bytes:
        yield (
            "GPU GiB",
            [
                line(uuid, "input", at, series(each.high, _GIB), f"{uuid}: %{{y:.4g}} GiB")
                for uuid, each in found.gpu_bytes.items()
            ],
        )
    for name, bands in found.latency.items():
        if name != "e2e_s":
            yield f"{_TITLES[name]} (s)", list(_latency(_TITLES[name], bands))


def _level(title: str, role: str, at: list[float | None], found: Binned) -> Iterator[dict[str, Any]]:
    yield from band(f"{title}, lowest to highest", role, at, series(found.low), series(found.high))
    yield line(title, role, at, series(found.mean), "%{y:.4g}")


def _latency(title: str, bands: Bands) -> Iterator[dict[str, Any]]:
    at = series(bands.at)
    for name, role in (("p50", "input"), ("p95", "output"), ("worst", "limit")):
        said = f"{title} {name}: %{{y:.3g}} s"
        yield line(f"{title} {name}", role, at, positive(bands.values[name]), said)


def _axis(number: int) -> str:
    return "y" if number == 0 else f"y{number + 1}"


def _layout(titles: list[str]) -> Mapping[str, Any]:
    layout: dict[str, Any] = {
        "height": _ROW_PX * len(titles) + 120,
        "hovermode": "x unified",
        "legend": {"orientation": "h", "y": 1.01, "yanchor": "bottom", "font": {"size": 11}},
        "margin": {"l": 70, "r": 20, "t": 20, "b": 50},
        "xaxis": {"title": {"text": "seconds of the run"}, "anchor": _axis(len(titles) - 1)},
    }
    high = 1.0 / len(titles)
    for number, title in enumerate(titles):
        scale = {"type": "log"} if title.endswith("(s)") else {"rangemode": "tozero"}
        percent = {"tickformat": ".0%"} if title == "KV use" else {}
        domain = [max(1.0 - (number + 1) * high + _GAP, 0.0), 1.0 - number * high]
        layout["yaxis" if number == 0 else f"yaxis{number + 1}"] = {
            "title": {"text": title}, "domain": domain, **scale, **percent,
        }  # fmt: skip
    return layout


def _table(name: str, found: Timeline) -> Table:
    """Every so many bins, so that there are some rows."""
    every = max((len(found.edges_s) - 1) // _LISTED, 1)
    heads = [title for each, title in _LEVELS.items() if each in found.levels]
    rows = []
    for at in range(0, len(found.edges_s) - 1, every):
        told = [
            share(float(each.high[at : at + every].max()))
            if title == "KV use"
            else f"{each.high[at : at + every].max():,.0f}"
            for title, each in ((_LEVELS[n], found.levels[n]) for n in _LEVELS if n in found.levels)
        ]
        rows.append(
            (
                format_seconds(float(found.edges_s[at])),
                rate(float(found.requests_per_s[at : at + every].mean())),
                f"{found.in_flight.high[at : at + every].max():,.0f}",
                *told,
            )
        )
    head = ("from", "requests", "most in flight", *(f"highest {title}" for title in heads))
    return Table(f"Over time, run {name}", head, tuple(rows), frozenset(range(1, len(head))))


def _distributions(key: str, name: str, found: Timeline) -> Figure:
    roles = dict(zip(_TITLES, ("input", "output", "grid"), strict=True))
    traces = tuple(
        line(
            _TITLES[each],
            roles[each],
            positive(one.values),
            series(one.shares),
            f"{_TITLES[each]}: %{{y:.2%}} within %{{x:.3g}} s",
        )
        for each, one in found.distributions.items()
    )
    rows = tuple(
        (_TITLES[each], *(_at(one.shares, one.values, part) for part in (0.5, 0.95, 0.99, 1.0)))
        for each, one in found.distributions.items()
    )
    layout = {
        "height": 420,
        "xaxis": {"type": "log", "title": {"text": "seconds"}},
        "yaxis": {"tickformat": ".0%", "title": {"text": "share of requests"}, "range": [0, 1.01]},
        "legend": {"orientation": "h", "y": 1.01, "yanchor": "bottom"},
        "margin": {"l": 70, "r": 20, "t": 20, "b": 50},
    }
    return Figure(
        f"latency-{key}",
        f"Latencies, run {name}",
        "The share of all requests offered that had their answer within so many seconds since they were due; failures never "
        "have, so a curve that ends below 100 % had some.",
        traces,
        layout,
        Table(f"Latencies, run {name}", ("", "p50", "p95", "p99", "max"), rows, frozenset({1, 2, 3, 4})),
    )  # fmt: skip


def _at(shares: Any, values: Any, part: float) -> str:
    found = float(values[min(int(shares.searchsorted(part - 1e-12)), len(values) - 1)])
    return "failed" if found == float("inf") else format_seconds(found)
