"""A workload's profile drawn in a terminal: histograms, the rate of arrivals, and its tables."""

from typing import Final

from vramledger.report.html.titled_table import Table
from vramledger.report.number import duration, rate
from vramledger.report.table import table
from vramledger.report.workload_bars import histogram, level, sparkline
from vramledger.report.workload_tables import (
    SYNTHETIC,
    headline,
    opening,
    origin,
    tables,
    unknown,
)
from vramledger.workload.profile.profile import Burst, Lengths, Profile

NARROWEST: Final = 60
_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_SHADES: Final = " ░▒▓█"
_HOURS: Final = 24
_BURSTS: Final = 3  # shown; the profile has more


def to_text(profile: Profile, width: int) -> str:
    """The whole report, at most `width` columns in its drawings; tables may be wider."""
    lines = [SYNTHETIC] if profile.synthetic else []
    lines += [opening(profile), headline(profile)]
    for title, found in (
        ("Input tokens", profile.input_tokens),
        ("Output tokens", profile.output_tokens),
        ("Input + output", profile.total_tokens),
    ):
        if found is not None:
            lines += ["", _titled(title, profile), *_drawn(found, width)]
    lines += _arrivals(profile, width)
    for each in tables(profile):
        lines += ["", *_table(each, profile)]
    lines += _listed("Where it comes from", origin(profile))
    lines += _listed("Not known", unknown(profile))
    return "\n".join(lines)


def _titled(title: str, profile: Profile) -> str:
    return f"{title} (synthetic)" if profile.synthetic else title


def _drawn(lengths: Lengths, width: int) -> list[str]:
    return histogram(lengths, width) if lengths.bins else ["  Its histogram is not in the profile."]


def _arrivals(profile: Profile, width: int) -> list[str]:
    arrival = profile.arrival
    if not arrival.per_step:
        return []
    spark = sparkline(arrival, width - 4)
    column = duration(60 * spark.minutes) if spark.minutes > 1 else "a minute"
    lines = [
        "",
        _titled("Arrivals", profile),
        f"  {spark.line}",
        f"  A column is {column}; the fullest has {spark.fullest:,} requests, the last may be cut short.",
    ]
    if arrival.dispersion:
        said = ", ".join(
            f"{value:.3g} at {window} s" for window, value in arrival.dispersion.items()
        )
        lines.append(f"  Variance of counts over their mean (1 for Poisson): {said}.")
    if arrival.quantum_s is not None:
        lines.append(f"  The log's times come in steps of {duration(arrival.quantum_s)}.")
    bursts = [_burst(each) for each in arrival.bursts[:_BURSTS]]
    return [*lines, *bursts, *_week(profile)]


def _burst(each: Burst) -> str:
    return (
        f"  Burst from {duration(each.start_s)}: {each.requests:,} requests in "
        f"{duration(each.seconds)} ({rate(each.per_s)})."
    )


def _week(profile: Profile) -> list[str]:
    """A row a weekday, a column an hour; days without requests are left out."""
    counts = profile.arrival.hour_of_week
    if not counts:
        return []
    most = max(counts)
    lines = ["", _titled("Hour of the week", profile), "       0     6     12    18"]
    for day, name in enumerate(_DAYS):
        hours = counts[day * _HOURS : (day + 1) * _HOURS]
        if any(hours):
            shades = "".join(_SHADES[level(count, most, len(_SHADES) - 1)] for count in hours)
            lines.append(f"  {name}  {shades}|".rstrip())
    zone = "" if profile.time_zone is None else f" Time zone {profile.time_zone}."
    return [*lines, f"  The darkest hour has {most:,} requests.{zone}"]


def _table(each: Table, profile: Profile) -> list[str]:
    lines = table(each.head, each.rows, each.right)
    return [_titled(each.title, profile), *(f"  {line}" for line in [*lines, *each.notes])]


def _listed(title: str, sentences: list[str]) -> list[str]:
    return ["", title, *(f"  {sentence}" for sentence in sentences)] if sentences else []
