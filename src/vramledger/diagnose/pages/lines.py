"""Each figure of a page in one line: what it is, its unit, per what it is counted, and since when."""

from datetime import UTC, datetime
from math import inf, isfinite
from typing import Final

from vramledger.diagnose.pages.page import Family, Histogram, MetricsPage, started_at
from vramledger.frozen import frozen

_PER: Final = {
    "itl_s": "per output event, when it comes",
    "ttft_s": "per request, at its first token",
    "iteration_tokens": "per step of the engine",
}
_AT_ITS_END: Final = "per request, once it has ended"
_SHARES: Final = ((0.5, "half"), (0.95, "95 %"))


@frozen
class Line:
    """One figure. `value` is None where it is a histogram, which has `count`, `mean` and the bounds of percentiles."""

    raw_name: str
    name: str
    kind: str
    unit: str
    value: float | None
    message: str
    count: float | None = None
    mean: float | None = None


def lines_of(page: MetricsPage) -> tuple[Line, ...]:
    """Every known figure of a page, in the order of the vocabulary."""
    since = _since(page)
    return tuple(_line(each, since) for each in page.families)


def _since(page: MetricsPage) -> str:
    began = started_at(page)
    if began is None:
        return "since the server's last start, of which the page does not say when it was"
    return f"since the process began at {datetime.fromtimestamp(began, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _line(family: Family, since: str) -> Line:
    common = family.common
    if family.histogram is not None:
        return _histogram_line(family, family.histogram, since)
    summed = f"; of {family.series} series" if family.series > 1 else ""
    value = family.value if isfinite(family.value) else None
    if common.shape == "info":
        text = "its labels carry the figures, its value is always 1"
    elif value is None:
        text = "no number now"
    elif common.shape == "counter":
        text = f"{value:,.0f} {common.unit} {since}{summed}"
    elif common.unit == "0..1":
        text = f"{100 * value:.1f} % now (the page says {value:g}, a fraction{' in spite of its name' if 'perc' in family.raw_name else ''}){summed}"
    elif common.name == "process_start_s":
        text = f"that was {since.removeprefix('since the process began at ')}"
    else:
        text = f"{_figure(value)} {common.unit} now{summed}".replace("  ", " ")
    return Line(
        family.raw_name,
        common.name,
        common.shape,
        common.unit,
        value,
        f"{common.meaning} {text[:1].upper()}{text[1:]}.",
    )


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value.is_integer() else f"{value:,.4g}"


def _histogram_line(family: Family, histogram: Histogram, since: str) -> Line:
    common = family.common
    per = _PER.get(common.name, _AT_ITS_END)
    if histogram.count <= 0:
        text = f"Nothing was counted {since}"
        return Line(
            family.raw_name,
            common.name,
            common.shape,
            common.unit,
            None,
            f"{common.meaning} {text}; it is counted {per}.",
            0.0,
        )
    said = [f"{histogram.count:,.0f} counted {since}, {per}"]
    if histogram.total > 0:
        said.append(f"mean {histogram.mean:.3g} {common.unit}")
    for share, word in _SHARES:
        bounds = histogram.bounds(share)
        if bounds is not None:
            said.append(f"{word} at most {_ends(bounds, common.unit)}")
    mean = histogram.mean if histogram.total > 0 else None
    return Line(
        family.raw_name,
        common.name,
        common.shape,
        common.unit,
        None,
        f"{common.meaning} {'; '.join(said)}.",
        histogram.count,
        mean,
    )


def _ends(bounds: tuple[float, float], unit: str) -> str:
    lower, upper = bounds
    if upper == inf:
        return f"more than {lower:g} {unit} (beyond the last bucket)"
    return f"{lower:g} to {upper:g} {unit}"
