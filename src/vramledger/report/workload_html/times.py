"""Plots over time: arrivals, hours of the week, requests in flight."""

from typing import Any, Final

from vramledger.report.html.figure import Figure
from vramledger.report.html.titled_table import Table
from vramledger.report.number import duration, tokens
from vramledger.report.workload_bars import sparkline
from vramledger.workload.profile.profile import Profile

DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_HOURS: Final = 24
_COLUMNS: Final = 1_440  # of the plot; a table row covers several
_ROWS: Final = 60


def arrivals(profile: Profile) -> Figure | None:
    """Requests over time, in columns of whole minutes; bursts are marked."""
    arrival = profile.arrival
    if not arrival.per_step:
        return None
    plot, listed = sparkline(arrival, _COLUMNS), sparkline(arrival, _ROWS)
    width = duration(60 * plot.minutes) if plot.minutes > 1 else "1 min"
    shaded = " Bursts are shaded." if profile.arrival.bursts else ""
    rows = tuple(
        (duration(60 * listed.minutes * column), f"{count:,}")
        for column, count in enumerate(listed.counts)
    )
    return Figure(
        "arrivals",
        "Arrivals",
        f"Requests in each {width} from the first one; the fullest has {plot.fullest:,}, the last may "
        f"be cut short.{shaded}",
        (
            {
                "type": "scatter",
                "mode": "lines",
                "name": "requests",
                "meta": "input",
                "x": [column * plot.minutes / 60 for column in range(len(plot.counts))],
                "y": list(plot.counts),
                "line": {"shape": "hv", "width": 1.5},
                "fill": "tozeroy",
                "hovertemplate": "%{x:.2f} h: %{y:,} requests<extra></extra>",
            },
        ),
        {
            "xaxis": {"title": {"text": "hours since the first request"}},
            "yaxis": {"title": {"text": f"requests in {width}"}, "rangemode": "tozero"},
            "shapes": [_shade(each.start_s, each.seconds) for each in profile.arrival.bursts],
        },
        Table("Requests over time", ("from", "requests"), rows, frozenset({1})),
    )


def _shade(start_s: int, seconds: int) -> dict[str, Any]:
    return {
        "type": "rect",
        "yref": "paper",
        "x0": start_s / 3600,
        "x1": (start_s + seconds) / 3600,
        "y0": 0,
        "y1": 1,
        "line": {"width": 0},
        "opacity": 0.2,
        "fillcolor": "#d1633c",
        "layer": "below",
    }


def hours_of_week(profile: Profile) -> Figure | None:
    """Requests by weekday and hour; None without a clock."""
    counts = profile.arrival.hour_of_week
    if not counts:
        return None
    days = [list(counts[day * _HOURS : (day + 1) * _HOURS]) for day in range(len(DAYS))]
    zone = "" if profile.time_zone is None else f" Time zone: {profile.time_zone}."
    rows = tuple(
        (name, *(f"{count:,}" for count in day)) for name, day in zip(DAYS, days, strict=True)
    )
    return Figure(
        "week",
        "Hours of the week",
        f"Requests by weekday and hour, all weeks together.{zone}",
        (
            {
                "type": "heatmap",
                "meta": "heat",
                "x": list(range(_HOURS)),
                "y": list(DAYS),
                "z": days,
                "zmin": 0,
                "hovertemplate": "%{y} %{x}:00: %{z:,} requests<extra></extra>",
                "colorbar": {"title": {"text": "requests"}},
            },
        ),
        {
            "xaxis": {"title": {"text": "hour"}, "dtick": 3},
            "yaxis": {"autorange": "reversed", "automargin": True},
        },
        Table(
            "Requests by hour of the week",
            ("day", *(str(hour) for hour in range(_HOURS))),
            rows,
            frozenset(range(1, _HOURS + 1)),
        ),
    )


def in_flight(profile: Profile) -> Figure | None:
    """Requests at once; None where durations are not known."""
    found = profile.concurrency
    if found is None:
        return None
    values = {
        "mean": found.mean,
        "p50": found.p50,
        "p95": found.p95,
        "p99": found.p99,
        "max": found.max,
    }
    return Figure(
        "in-flight",
        "Requests in flight",
        "Requests at once, at whole seconds, on the server that wrote the log; another server "
        f"will hold more or fewer. {found.requests:,} requests have a duration.",
        (
            {
                "type": "bar",
                "orientation": "h",
                "name": "requests in flight",
                "meta": "input",
                "x": list(values.values()),
                "y": list(values),
                "text": [tokens(value) for value in values.values()],
                "textposition": "outside",
                "cliponaxis": False,
                "hovertemplate": "%{y}: %{x:,} requests<extra></extra>",
            },
        ),
        {
            "xaxis": {"title": {"text": "requests"}, "rangemode": "tozero"},
            "yaxis": {"autorange": "reversed"},
        },
        Table(
            "Requests in flight",
            tuple(values),
            (tuple(tokens(value) for value in values.values()),),
            frozenset(range(5)),
        ),
    )
