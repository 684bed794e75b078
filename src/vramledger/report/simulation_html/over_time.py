"""One time axis: offered load, running, waiting, KV use, preemptions, latency."""

from collections.abc import Iterator
from typing import Any, Final

from vramledger.frozen import frozen
from vramledger.record.overview.bands import Bands
from vramledger.record.overview.overview import OverTime
from vramledger.report.html.figure import Figure
from vramledger.report.html.series import across, band, line, positive, series
from vramledger.report.html.titled_table import Table
from vramledger.report.number import duration, rate, share
from vramledger.report.simulation import LATENCIES
from vramledger.report.simulation_html.shown import Shown, Side
from vramledger.units import format_seconds

_ROWS: Final = (
    ("requests/s", 0.08),
    ("tokens/s", 0.09),
    ("running", 0.09),
    ("waiting", 0.09),
    ("KV use", 0.14),
    ("preempted", 0.08),
    ("TTFT", 0.155),
    ("E2E", 0.155),
)
_GAP: Final = 0.0171
_UNITS: Final = ((7200.0, 3600.0, "hours"), (180.0, 60.0, "minutes"), (0.0, 1.0, "seconds"))
_HEIGHT: Final = 1240  # pixels


@frozen
class _Axis:
    """The unit of the time axis: from so many seconds on, seconds in it, its name."""

    scale: float
    name: str


def over_time(shown: Shown) -> Iterator[Figure]:
    """A figure a side."""
    for side in shown.sides:
        yield _figure(shown, side)


def _figure(shown: Shown, side: Side) -> Figure:
    found = side.overview.over_time
    axis = _axis(float(found.edges_s[-1]))
    return Figure(
        f"time-{side.key}",
        f"Over time, {side.title}",
        f"All rows share one time axis, in bins of {duration(found.bin_s)}; drag to zoom, double-click to "
        f"go back. Lines are means of a bin, areas reach from its lowest to its highest moment; latency is "
        f"by time of arrival. Headroom: {shown.headroom_said}.",
        tuple(_traces(shown, found, axis)),
        _layout(axis),
        _table(side.overview.listed, side.title),
    )


def _traces(shown: Shown, found: OverTime, axis: _Axis) -> Iterator[dict[str, Any]]:
    at = series(found.starts_s, axis.scale)
    stairs = {"line": {"shape": "hv", "width": 1.2}}
    said = "%{y:.4g}"
    yield line(
        "requests offered",
        "grid",
        at,
        series(found.requests_per_s),
        said,
        **stairs,
        **_row("requests/s"),
    )
    for name, values in (
        ("input", found.input_tokens_per_s),
        ("output", found.output_tokens_per_s),
    ):
        yield line(
            f"{name} tokens offered", name, at, series(values), said, **stairs, **_row("tokens/s")
        )
    for name, role, level in (
        ("running", "input + output", found.running),
        ("waiting", "output", found.waiting),
    ):
        row = _row(name)
        yield from band(
            f"{name}, lowest to highest", role, at, series(level.low), series(level.high), **row
        )
        yield line(name, role, at, series(level.mean), said, **stairs, **row)
    use = found.kv_usage
    yield from band(
        "KV use, lowest to highest",
        "input",
        at,
        series(use.low),
        series(use.high),
        **_row("KV use"),
    )
    yield line("KV use", "input", at, series(use.mean), "%{y:.1%}", **stairs, **_row("KV use"))
    ends = (0.0, _last(found, axis))
    kept = f"safe load: {share(shown.headroom)} headroom"
    yield across(kept, "limit", ends, 1.0 - shown.headroom, **_row("KV use"))
    yield _bars("preempted in the bin", at, series(found.preempted))
    for name, bands in found.latency.items():
        yield from _latency(LATENCIES[name], bands, axis)


def _latency(title: str, bands: Bands, axis: _Axis) -> Iterator[dict[str, Any]]:
    at, row = series(bands.at, axis.scale), _row(title)
    values = {name: positive(each) for name, each in bands.values.items()}
    yield from band(f"{title} p50 to p95", "input", at, values["p50"], values["p95"], **row)
    for name, role, dash in (
        ("p50", "input", "solid"),
        ("p95", "output", "solid"),
        ("p99", "grid", "dot"),
    ):
        style = {"dash": dash, "width": 1.3}
        yield line(f"{title} {name}", role, at, values[name], "%{y:.3g} s", line=style, **row)
    worst = {"mode": "markers", "marker": {"size": 3, "symbol": "diamond"}}
    counts = [[int(n), int(failed)] for n, failed in zip(bands.count, bands.failed, strict=True)]
    said = "%{y:.3g} s (%{customdata[0]:,} requests, %{customdata[1]:,} failed)"
    marked = line(f"{title} worst", "limit", at, values["worst"], said, **worst, **row)
    yield {**marked, "customdata": counts}


def _bars(name: str, x: list[float | None], y: list[float | None]) -> dict[str, Any]:
    return {
        "type": "bar", "name": name, "meta": "limit", "x": x, "y": y, "offset": 0,
        "hovertemplate": "%{y:,}", **_row("preempted"),
    }  # fmt: skip


def _row(title: str) -> dict[str, str]:
    number = [name for name, _ in _ROWS].index(title)
    return {"yaxis": "y" if number == 0 else f"y{number + 1}", "xaxis": "x"}


def _last(found: OverTime, axis: _Axis) -> float:
    return float(found.edges_s[-1]) / axis.scale


def _layout(axis: _Axis) -> dict[str, Any]:
    layout: dict[str, Any] = {
        "height": _HEIGHT,
        "hovermode": "x unified",
        "bargap": 0,
        "legend": {"orientation": "h", "y": 1.01, "yanchor": "bottom", "font": {"size": 11}},
        "margin": {"l": 70, "r": 20, "t": 20, "b": 50},
        "xaxis": {
            "title": {"text": f"{axis.name} since the first arrival (simulated)"},
            "anchor": f"y{len(_ROWS)}",
            "rangemode": "tozero",
        },
    }
    top = 1.0
    for number, (title, high) in enumerate(_ROWS):
        scale = {"type": "log"} if title in LATENCIES.values() else {"rangemode": "tozero"}
        unit = " (s)" if title in LATENCIES.values() else ""
        percent = {"tickformat": ".0%"} if title == "KV use" else {}
        layout["yaxis" if number == 0 else f"yaxis{number + 1}"] = {
            "title": {"text": f"{title}{unit}"}, "domain": [max(top - high, 0.0), top], **scale, **percent,
        }  # fmt: skip
        top -= high + _GAP
    return layout


def _axis(span_s: float) -> _Axis:
    return next(_Axis(scale, name) for least, scale, name in _UNITS if span_s >= least)


def _table(found: OverTime, title: str) -> Table:
    at_ttft = _by_bin(found.latency["ttft_s"])
    rows = tuple(
        (
            duration(float(start)),
            rate(float(found.requests_per_s[i])),
            f"{found.input_tokens_per_s[i]:,.0f}",
            f"{found.output_tokens_per_s[i]:,.0f}",
            f"{found.running.mean[i]:,.1f}",
            f"{found.waiting.mean[i]:,.1f}",
            f"{found.waiting.high[i]:,.0f}",
            share(float(found.kv_usage.mean[i])),
            share(float(found.kv_usage.high[i])),
            f"{found.preempted[i]:,.0f}",
            at_ttft.get(i, "-"),
        )
        for i, start in enumerate(found.starts_s)
    )
    head = (
        "from", "requests", "input tokens/s", "output tokens/s", "running", "waiting", "most waiting",
        "KV use", "highest", "preempted", "TTFT p95",
    )  # fmt: skip
    return Table(f"Over time, {title}", head, rows, frozenset(range(1, len(head))))


def _by_bin(bands: Bands) -> dict[int, str]:
    """The 95th percentile of each bin that has one, in words."""
    found = zip(bands.group, bands.values["p95"], strict=True)
    return {int(group): format_seconds(float(value)) for group, value in found}
