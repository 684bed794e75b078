"""Plots of lengths: histograms over the fixed bins, the joint heat map, who holds the cache."""

from collections.abc import Iterator
from math import log10
from typing import Any, Final

from vramledger.report.html.figure import Figure
from vramledger.report.html.titled_table import Table
from vramledger.report.number import share_of, tokens
from vramledger.report.workload_bars import bin_position, upper_edge
from vramledger.report.workload_tables import headline
from vramledger.workload.profile.bins import EDGES
from vramledger.workload.profile.profile import Joint, Lengths, Profile

_KINDS: Final = (
    ("input", "input_tokens", True),
    ("output", "output_tokens", True),
    ("input + output", "total_tokens", "legendonly"),
)
_MARKED: Final = (("p50", "p50"), ("p99", "p99"))
_CURVE_ROWS: Final = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0)


def length_histogram(profile: Profile) -> Figure | None:
    """Requests by length; one bar is a bin, so that equal widths are equal ratios."""
    found = [
        (name, getattr(profile, key), visible)
        for name, key, visible in _KINDS
        if getattr(profile, key) is not None and getattr(profile, key).bins
    ]
    if not found:
        return None
    data: list[dict[str, Any]] = []
    for name, lengths, visible in found:
        data += [_bars(name, lengths, visible), *_marks(name, lengths, visible)]
    bins = sorted({index for _, lengths, _ in found for index, _ in lengths.bins})
    counts = {name: dict(lengths.bins) for name, lengths, _ in found}
    rows = tuple(
        (_span(index), *(f"{counts[name].get(index, 0):,}" for name in counts)) for index in bins
    )
    return Figure(
        "lengths",
        "Lengths of requests",
        "Bins grow by a fixed ratio, four to a doubling. Lines mark the median and the 99th "
        "percentile. Input and output together can be switched on in the legend.",
        tuple(data),
        {
            "barmode": "overlay",
            "bargap": 0.04,
            "xaxis": _bin_axis("tokens", bins[0], bins[-1]),
            "yaxis": {"title": {"text": "requests"}, "rangemode": "tozero"},
        },
        Table("Requests by length", ("tokens", *counts), rows, frozenset(range(1, 4))),
    )


def _bars(name: str, lengths: Lengths, visible: object) -> dict[str, Any]:
    return {
        "type": "bar",
        "name": name,
        "meta": name,
        "legendgroup": name,
        "visible": visible,
        "opacity": 0.6,
        "x": [index + 0.5 for index, _ in lengths.bins],
        "y": [requests for _, requests in lengths.bins],
        "customdata": [
            [_span(index), share_of(requests, lengths.count)] for index, requests in lengths.bins
        ],
        "hovertemplate": "%{customdata[0]} tokens: %{y:,} requests (%{customdata[1]})",
    }


def _marks(name: str, lengths: Lengths, visible: object) -> Iterator[dict[str, Any]]:
    top = max(requests for _, requests in lengths.bins)
    for label, key in _MARKED:
        value = getattr(lengths, key)
        said = f"{name} {label} {tokens(value)}"
        yield {
            "type": "scatter",
            "mode": "lines+text",
            "name": said,
            "meta": name,
            "legendgroup": name,
            "showlegend": False,
            "visible": visible,
            "x": [bin_position(value)] * 2,
            "y": [0, top],
            "text": ["", label],
            "textposition": "top left" if name == "input" else "top right",
            "line": {"dash": "dot", "width": 1.5},
            "hovertemplate": f"{said}<extra></extra>",
        }


def joint_map(profile: Profile) -> Figure | None:
    """Requests by input and output bin."""
    joint = profile.joint
    if joint is None or not joint.cells:
        return None
    inputs = range(min(c.input_bin for c in joint.cells), max(c.input_bin for c in joint.cells) + 1)
    outputs = range(
        min(c.output_bin for c in joint.cells), max(c.output_bin for c in joint.cells) + 1
    )
    counts = {(cell.output_bin, cell.input_bin): cell.requests for cell in joint.cells}
    grid = [[counts.get((o, i)) for i in inputs] for o in outputs]
    return Figure(
        "joint",
        "Input and output together",
        "Colour is the number of requests, by powers of ten; empty cells have none. The longest "
        f"request has {joint.longest_input:,} tokens of input and {joint.longest_output:,} of output.",
        (_heat_map(inputs, outputs, grid),),
        {
            "xaxis": _bin_axis("input tokens", inputs[0], inputs[-1]),
            "yaxis": _bin_axis("output tokens", outputs[0], outputs[-1]),
        },
        _cells(joint),
    )


def _heat_map(inputs: range, outputs: range, grid: list[list[int | None]]) -> dict[str, Any]:
    most = max(count for line in grid for count in line if count)
    ticks = range(int(log10(most)) + 1)
    return {
        "type": "heatmap",
        "meta": "heat",
        "x": [index + 0.5 for index in inputs],
        "y": [index + 0.5 for index in outputs],
        "z": [[None if count is None else log10(count) for count in line] for line in grid],
        "customdata": [
            [[_span(i), _span(o), count] for i, count in zip(inputs, line, strict=True)]
            for o, line in zip(outputs, grid, strict=True)
        ],
        "zmin": 0,
        "hoverongaps": False,
        "hovertemplate": "input %{customdata[0]}<br>output %{customdata[1]}<br>"
        "%{customdata[2]:,} requests<extra></extra>",
        "colorbar": {
            "title": {"text": "requests"},
            "tickvals": list(ticks),
            "ticktext": [f"{10**tick:,}" for tick in ticks],
        },
    }


def _cells(joint: Joint) -> Table:
    rows = tuple(
        (
            _span(cell.input_bin),
            _span(cell.output_bin),
            f"{cell.requests:,}",
            f"{cell.input_total:,}",
            f"{cell.output_total:,}",
        )
        for cell in joint.cells
    )
    head = ("input", "output", "requests", "input tokens", "output tokens")
    return Table("Requests by input and output", head, rows, frozenset({2, 3, 4}))


def holding_curve(profile: Profile) -> Figure | None:
    """Share of token-steps held by the longest requests."""
    holding = profile.holding
    if holding is None:
        return None
    points = [(requests, held) for requests, held in holding.curve if requests > 0]
    if not points:
        return None
    chosen = {min(points, key=lambda point: abs(point[0] - wanted)) for wanted in _CURVE_ROWS}
    rows = tuple((f"{requests:.3%}", f"{held:.2%}") for requests, held in sorted(chosen))
    return Figure(
        "holding",
        "KV cache held by the longest requests (steps assumed equally long)",
        f"{headline(profile)} A request of i input and o output tokens holds "
        "o x i + o x (o + 1) / 2 token-steps. The dotted line is where all hold the same.",
        (
            _curve("longest requests", "input", points, "solid"),
            _curve("all the same", "grid", [(x, x) for x in _dense(points[0][0])], "dot"),
        ),
        {
            "xaxis": {
                "type": "log",
                "title": {"text": "share of requests, longest first"},
                "tickformat": "~%",
                "dtick": 1,
            },
            "yaxis": {
                "title": {"text": "share of token-steps"},
                "tickformat": ".0%",
                "range": [0, 1.02],
            },
        },
        Table("Share held", ("longest requests", "share held"), rows, frozenset({0, 1})),
    )


def _dense(first: float) -> list[float]:
    """Shares from `first` to 1, so close that a straight line stays one on a logarithmic axis."""
    return [first ** (1 - step / 100) for step in range(101)]


def _curve(name: str, role: str, points: list[tuple[float, float]], dash: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "meta": role,
        "x": [x for x, _ in points],
        "y": [y for _, y in points],
        "line": {"dash": dash, "width": 2},
        "hovertemplate": "the longest %{x:.2%} hold %{y:.1%}<extra></extra>",
    }


def _bin_axis(title: str, first: int, last: int) -> dict[str, Any]:
    """An axis in bins whose ticks are the powers of two at their lower ends, at most about ten."""
    reached = range(first, min(last + 2, len(EDGES)))
    powers = [i for i in reached if EDGES[i] & (EDGES[i] - 1) == 0]
    every = max(1, round(len(powers) / 9))
    shown = powers[::every]
    return {
        "title": {"text": title},
        "range": [first - 0.3, last + 1.3],
        "tickvals": shown,
        "ticktext": [f"{EDGES[i]:,}" for i in shown],
    }


def _span(index: int) -> str:
    low, high = EDGES[index], upper_edge(index) - 1
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
