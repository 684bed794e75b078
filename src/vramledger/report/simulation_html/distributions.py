"""How latencies are distributed, against the contract's limits; who holds the KV cache; latency by length."""

from collections.abc import Iterator
from typing import Any, Final

from vramledger.record.overview.bands import Bands
from vramledger.record.overview.distribution import Distribution
from vramledger.record.overview.overview import BY_LENGTH
from vramledger.report.html.figure import Figure
from vramledger.report.html.series import band, line, positive, series
from vramledger.report.html.titled_table import Table
from vramledger.report.number import share
from vramledger.report.simulation import HEAD, LATENCIES, RIGHT, percentile_rows
from vramledger.report.simulation_html.shown import Shown, Side
from vramledger.units import format_seconds, plain

_MEANS: Final = {
    "ttft_s": "Time to the first token.",
    "tpot_s": "Mean time per output token after the first, one figure a request.",
    "itl_s": "Time between two output tokens, one figure a token.",
    "queue_s": "Wait in the engine's queue until first scheduled.",
    "e2e_s": "Time to the end of the request.",
}
_LENGTHS: Final = {"ttft_s": "input tokens", "e2e_s": "output tokens"}


def latencies(shown: Shown) -> Iterator[Figure]:
    """The cumulative distribution of every latency."""
    for name, title in LATENCIES.items():
        sides = [side for side in shown.sides if name in side.overview.distributions]
        if sides:
            yield _distribution(shown, sides, name, title)


def _distribution(shown: Shown, sides: list[Side], name: str, title: str) -> Figure:
    limits = list(_limits(shown, name))
    told = (
        " Red crosses are the contract's limits: a curve must pass above or left of them."
        if limits
        else ""
    )
    curves = [_curve(side, side.overview.distributions[name]) for side in sides]
    return Figure(
        f"{name.removesuffix('_s')}-distribution",
        f"{title[0].upper()}{title[1:]}",
        f"{_MEANS[name]} The curve is the share that took no longer; it ends below 100 % where requests "
        f"failed.{told}",
        (*curves, *limits),
        {
            "xaxis": {"type": "log", "title": {"text": f"{title} (s)"}},
            "yaxis": {"title": {"text": "share"}, "tickformat": ".0%", "range": [0, 1.02]},
        },
        Table(
            f"{title} at p50 to max",
            HEAD,
            tuple(_percentiles(side, title) for side in sides),
            RIGHT,
        ),
    )


def _percentiles(side: Side, title: str) -> tuple[str, ...]:
    """The row that the table of all latencies has, under the side's name."""
    row = next(row for row in percentile_rows(side.answers) if row[0] == title)
    return (side.title, *row[1:])


def _curve(side: Side, found: Distribution) -> dict[str, Any]:
    style = {"dash": side.dash, "width": 2}
    said = "%{y:.2%} within %{x:.4g} s"
    return line(side.title, "input", positive(found.values), series(found.shares), said, line=style)


def _limits(shown: Shown, name: str) -> Iterator[dict[str, Any]]:
    """A cross at every limit of the contract on that latency."""
    limits = () if shown.contract is None else shown.contract.latency.get(name, ())
    for limit in limits:
        reach = "" if limit.is_of_all else f",{limit.reach}"
        for at, most in limit.percentiles.items():
            said = f"p{at * 100:g} <= {plain(most)} s{reach}"
            mark = {"mode": "markers", "marker": {"symbol": "x", "size": 10}}
            yield line(said, "limit", [most], [at], f"{said}<extra></extra>", **mark)


def held(shown: Shown) -> Iterator[Figure]:
    """KV GiB-seconds by percentile of the requests."""
    sides = [side for side in shown.sides if side.overview.held is not None]
    if not sides:
        return
    yield Figure(
        "kv-held",
        "KV cache held by a request",
        "GiB-seconds of KV cache over all GPUs of its engine, requests with most first; blocks that are "
        f"shared count in full. The hundredth with most takes "
        f"{share(shown.main.answers.holding.longest_share)} of all.",
        tuple(
            _held_curve(side, side.overview.held)
            for side in sides
            if side.overview.held is not None
        ),
        {
            "xaxis": {
                "type": "log",
                "title": {"text": "share of requests, those with most first"},
                "tickformat": "~%",
                "autorange": "reversed",
            },
            "yaxis": {"type": "log", "title": {"text": "GiB-seconds"}},
        },
        Table(
            "KV GiB-s at p50 to max",
            HEAD,
            tuple(_percentiles(side, "KV GiB-s") for side in sides),
            RIGHT,
        ),
    )


def _held_curve(side: Side, found: Distribution) -> dict[str, Any]:
    style = {"dash": side.dash, "width": 2}
    said = "%{x:.3%} hold %{y:.4g} GiB-s or more"
    values = positive(found.values)
    return line(side.title, "input", positive(found.from_the_top), values, said, line=style)


def by_length(shown: Shown) -> Iterator[Figure]:
    """Latency against the length that drives it, of the main side."""
    for name in BY_LENGTH:
        bands, title = shown.main.overview.by_length[name], LATENCIES[name]
        if not len(bands.at):
            continue
        yield Figure(
            f"{name.removesuffix('_s')}-by-length",
            f"{title} by {_LENGTHS[name]}, {shown.main.title}",
            "Requests in bins of like length, two to a doubling. The area reaches from the median to the "
            "95th percentile; diamonds are the worst of each bin.",
            tuple(_by_length(bands, title)),
            {
                "xaxis": {"type": "log", "title": {"text": _LENGTHS[name]}},
                "yaxis": {"type": "log", "title": {"text": f"{title} (s)"}},
            },
            _length_table(bands, title, _LENGTHS[name]),
        )


def _by_length(bands: Bands, title: str) -> Iterator[dict[str, Any]]:
    at, values = series(bands.at), {name: positive(each) for name, each in bands.values.items()}
    counts = [int(count) for count in bands.count]
    yield from band("p50 to p95", "input", at, values["p50"], values["p95"])
    yield line("p50", "input", at, values["p50"], "%{y:.3g} s at %{x:,.0f} tokens")
    yield line("p95", "output", at, values["p95"], "%{y:.3g} s at %{x:,.0f} tokens")
    said = f"worst {title} of %{{customdata:,}} requests: %{{y:.3g}} s"
    mark = {"mode": "markers", "marker": {"size": 6, "symbol": "diamond"}}
    yield {**line("worst", "limit", at, values["worst"], said, **mark), "customdata": counts}


def _length_table(bands: Bands, title: str, length: str) -> Table:
    rows = tuple(
        (
            f"about {at:,.0f}",
            f"{bands.count[i]:,}",
            *(format_seconds(float(each[i])) for each in bands.values.values()),
        )
        for i, at in enumerate(bands.at)
    )
    head = (length, "requests", *bands.values)
    return Table(f"{title} by {length}", head, rows, frozenset(range(len(head))))
