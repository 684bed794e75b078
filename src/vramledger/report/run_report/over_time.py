"""Everything of a run on one clock: load, what is in flight, the server, its GPUs, latency."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

import numpy as np

from vramledger.record.overview.bands import Bands
from vramledger.record.overview.levels import Binned
from vramledger.report.html.axes import Axis, clock, counted, seconds_log, shares
from vramledger.report.html.strips import Chart, Curve, Kind, Strip
from vramledger.report.html.titled_table import Table
from vramledger.report.number import duration, share
from vramledger.report.run_report.gathered import TITLES
from vramledger.report.run_report.model import RunReport
from vramledger.trial.conduct.timeline import ITL, USAGE, Timeline
from vramledger.units import format_seconds, plain

_GIB: Final = 1 << 30
_LISTED: Final = 24  # rows of the table
_FEWEST: Final = 4.0  # of a scale of counts
_LEVELS: Final = {"running": "input + output", "waiting": "output"}
_GPU_ROLES: Final = ("input", "output", "compute", "input + output", "grid")
_PERCENTILES: Final = (("p50", "input", ""), ("p95", "output", ""), ("p99", "grid", "dot"))
_NOT_TOLD: Final = "not recorded"


def over_time(run: RunReport) -> Chart | None:
    """None where there is no request to draw."""
    found = run.timeline
    if found is None:
        return None
    x = clock(float(found.edges_s[0]), float(found.edges_s[-1]))
    strips = tuple(_strips(found))
    absent = _absent(found)
    unseen = f" Not recorded: {', '.join(absent)}." if absent else ""
    return Chart(
        f"{run.key}-time",
        "Over time",
        f"All strips share the run's clock, in bins of {duration(found.bin_s)}. Lines are means of a bin, shaded areas reach from "
        "its lowest to its highest moment, and gaps are times in which nobody looked. TTFT is by when a request was due, ITL by when the "
        f"chunk came; what lies on the upper edge of a strip in seconds failed.{unseen}",
        x,
        f"{x.unit} of the run",
        strips,
        _table(found),
    )


def _strips(found: Timeline) -> Iterator[Strip]:
    edges = found.edges_s.tolist()
    yield _rate_strip(found)
    yield _level_strip("In flight, at the client", "input", edges, found.in_flight)
    for name, role in _LEVELS.items():
        if name in found.levels:
            yield _level_strip(
                f"{name.capitalize()}, at the server", role, edges, found.levels[name]
            )
    if USAGE in found.levels:
        curves = _level("input", edges, found.levels[USAGE])
        yield Strip("KV cache in use", shares(), tuple(curves))
    if found.preempted is not None:
        bars = Curve("in the bin", "limit", Kind.BARS, edges, found.preempted.tolist())
        yield Strip(
            f"Preemptions, {found.preempted.sum():,.0f} in all", _count_axis([bars.y]), (bars,)
        )
    if found.gpu_bytes:
        yield _gpu_strip(edges, found.gpu_bytes)
    for name in ("ttft_s", ITL):
        if name in found.latency:
            yield _latency_strip(TITLES[name], found, found.latency[name])


def _rate_strip(found: Timeline) -> Strip:
    edges = found.rate_edges_s.tolist()
    offered, ended = found.offered_per_s, found.ended_per_s
    curves = (
        Curve(
            "offered, lowest to highest",
            "grid",
            Kind.BAND,
            edges,
            offered.high.tolist(),
            low=offered.low.tolist(),
        ),
        _steps("offered", "grid", edges, offered.mean),
        _steps("ended as asked", "input + output", edges, ended.mean),
    )
    return Strip("Requests a second", _count_axis(each.y for each in curves), curves)


def _level_strip(title: str, role: str, edges: list[float], found: Binned) -> Strip:
    curves = tuple(_level(role, edges, found))
    return Strip(title, _count_axis(each.y for each in curves), curves)


def _level(role: str, edges: list[float], found: Binned) -> Iterator[Curve]:
    yield Curve(
        "lowest to highest", role, Kind.BAND, edges, found.high.tolist(), low=found.low.tolist()
    )
    yield _steps("mean", role, edges, found.mean)


def _gpu_strip(edges: list[float], found: Mapping[str, Binned]) -> Strip:
    curves = tuple(
        _steps(
            name,
            _GPU_ROLES[number % len(_GPU_ROLES)],
            edges,
            each.high / _GIB,
            ("", "dash", "dot")[number // len(_GPU_ROLES) % 3],
        )
        for number, (name, each) in enumerate(found.items())
    )
    return Strip("GPU memory in use, GiB", _count_axis(each.y for each in curves), curves)


def _latency_strip(title: str, found: Timeline, bands: Bands) -> Strip:
    windows = _windows(found, bands)
    edges = np.linspace(found.edges_s[0], found.edges_s[-1], windows + 1)
    whole = {name: _in_windows(bands, values, windows) for name, values in bands.values.items()}
    curves = [
        Curve(name, role, Kind.STEPS, edges.tolist(), whole[name].tolist(), dash=dash)
        for name, role, dash in _PERCENTILES
    ]
    middles = ((edges[1:] + edges[:-1]) / 2).tolist()
    curves.append(Curve("worst", "limit", Kind.DOTS, middles, whole["worst"].tolist()))
    values = [value for each in whole.values() for value in each.tolist()]
    return Strip(title, seconds_log(values), tuple(curves))


def _windows(found: Timeline, bands: Bands) -> int:
    """How many windows the run was cut into, of which `bands` has those with a figure."""
    span, middle = found.edges_s[-1] - found.edges_s[0], bands.at[-1] - found.edges_s[0]
    return round(float((bands.group[-1] + 0.5) * span / middle))


def _in_windows(bands: Bands, values: Any, windows: int) -> Any:
    whole = np.full(windows, np.nan)
    whole[bands.group] = values
    return whole


def _steps(name: str, role: str, edges: list[float], values: Any, dash: str = "") -> Curve:
    return Curve(name, role, Kind.STEPS, edges, values.tolist(), dash=dash)


def _count_axis(values: Iterable[Iterable[float]]) -> Axis:
    return counted((value for each in values for value in each), lambda at: plain(at, 4), _FEWEST)


def _absent(found: Timeline) -> list[str]:
    absent = [name for name in _LEVELS if name not in found.levels]
    absent += [] if USAGE in found.levels else ["KV cache in use"]
    absent += [] if found.preempted is not None else ["preemptions"]
    absent += [] if found.gpu_bytes else ["GPU memory"]
    return absent + [TITLES[name] for name in ("ttft_s", ITL) if name not in found.latency]


def _table(found: Timeline) -> Table:
    """The same in as many rows as a table bears; what is highest in a row stays the highest."""
    bins = len(found.edges_s) - 1
    cuts = np.unique(np.linspace(0, bins, min(_LISTED, bins) + 1).round().astype(int))
    columns = dict(_columns(found))
    rows = [
        (
            duration(float(found.edges_s[low])),
            *(tell(slice(low, high)) for tell in columns.values()),
        )
        for low, high in pairwise(cuts.tolist())
    ]
    head = ("from", *columns)
    return Table("Over time", head, tuple(rows), frozenset(range(1, len(head))))


def _columns(found: Timeline) -> Iterator[tuple[str, Any]]:
    """What each column tells of some bins."""
    yield "offered/s", lambda at: _rate(found, found.offered_per_s, at)
    yield "ended/s", lambda at: _rate(found, found.ended_per_s, at)
    yield "most in flight", lambda at: _most(found.in_flight.high[at])
    for name in _LEVELS:
        if name in found.levels:
            yield f"most {name}", lambda at, of=found.levels[name]: _most(of.high[at])
    if USAGE in found.levels:
        yield "KV, highest", lambda at: _most(found.levels[USAGE].high[at], share)
    if found.preempted is not None:
        preempted = found.preempted
        yield "preempted", lambda at: f"{preempted[at].sum():,.0f}"
    for number, each in enumerate(found.gpu_bytes.values()):
        yield (
            f"GPU {number}, GiB",
            lambda at, of=each: _most(of.high[at] / _GIB, lambda gib: f"{gib:.2f}"),
        )
    for name in ("ttft_s", ITL):
        if name in found.latency:
            for said in ("p50", "worst"):
                yield (
                    f"{TITLES[name]} {said}",
                    lambda at, of=found.latency[name], what=said: _latency(found, of, what, at),
                )


def _rate(found: Timeline, of: Binned, at: slice) -> str:
    """The mean of the bins of rates whose middles lie in these bins, or that hold them."""
    middles = (found.rate_edges_s[1:] + found.rate_edges_s[:-1]) / 2
    from_s, to_s = found.edges_s[at.start], found.edges_s[at.stop]
    inside = (middles >= from_s) & (middles < to_s)
    if not inside.any():
        inside[np.abs(middles - (from_s + to_s) / 2).argmin()] = True
    return f"{of.mean[inside].mean():.3g}"


def _most(values: Any, form: Any = lambda value: f"{value:,.0f}") -> str:
    known = values[~np.isnan(values)]
    return form(float(known.max())) if len(known) else _NOT_TOLD


def _latency(found: Timeline, bands: Bands, what: str, at: slice) -> str:
    """The greatest of the windows that reach into these bins."""
    half = (found.edges_s[-1] - found.edges_s[0]) / _windows(found, bands) / 2
    from_s, to_s = found.edges_s[at.start], found.edges_s[at.stop]
    inside = (bands.at + half > from_s) & (bands.at - half < to_s)
    if not inside.any():
        return "-"
    return latency_words(float(bands.values[what][inside].max()))


def latency_words(value: float) -> str:
    """Seconds; what falls among failures is called so."""
    return "failed" if value == float("inf") else format_seconds(value)
