"""The columns of a sweep's tables."""

from collections.abc import Callable
from math import isinf
from typing import Any, Final

from vramledger.frozen import frozen
from vramledger.methods.knee.search import Ending
from vramledger.methods.sweep.prices import Prices
from vramledger.methods.sweep.row import Row
from vramledger.report.number import rate, share
from vramledger.units import format_seconds

ARRIVALS: Final = "arrivals"  # in place of a throughput per GPU that only they limit


@frozen
class Column:
    """A column of a table: its head, and what it says of a row simulated with a prefix."""

    head: str
    say: Callable[[Row, str], str]


def figure(head: str, name: str, say: Callable[[float], str]) -> Column:
    """A figure of one of the two simulations."""
    return Column(head, lambda row, prefix: said(row.figure(name, prefix), say))


def said(value: Any, say: Callable[[float], str]) -> str:
    """A figure in words: a dash where there is none."""
    if value is None:
        return "-"
    return "inf" if isinf(value) else say(value)


def count(value: float) -> str:
    return f"{value:,.0f}"


def columns(rows: tuple[Row, ...], prices: Prices) -> tuple[Column, ...]:
    """Those that these rows have something for."""
    contract = any(row.verdict for row in rows)
    kind, head = ("goodput", "goodput/h") if contract else ("ok", "answered/h")
    found = [figure(head, f"{kind}_per_hour", count), _per_gpu(f"{kind}_per_gpu_hour")]
    if any(row.columns.get("saturation_per_s") is not None for row in rows):
        found.append(Column("saturates", _saturation))
    if any(row.columns.get("knee") is not None for row in rows):
        found.append(Column("holds to", _knee))
    if any(prices.of(row) is not None for row in rows):
        found.append(Column(f"{prices.currency} per hour".strip(), _cost(prices)))
    return (*found, *_REST)


def _per_gpu(name: str) -> Column:
    def say(row: Row, prefix: str) -> str:
        if row.columns.get("limited_by_arrivals"):
            return ARRIVALS
        return said(row.figure(name, prefix), count)

    return Column("per GPU", say)


def _saturation(row: Row, _prefix: str) -> str:
    return said(row.columns.get("saturation_per_s"), rate)


def _knee(row: Row, _prefix: str) -> str:
    ending, level = row.columns.get("knee"), row.columns.get("knee_level")
    if ending is None:
        return "-"
    if level is None:
        return "no load"
    beyond = ">= " if ending == Ending.NEVER_REACHED else ""
    per_s = row.columns.get("knee_per_s")
    return (
        f"{beyond}{level:,.0f} in flight"
        if per_s is None
        else f"{beyond}{rate(per_s)} (x{level:.4g})"
    )


def _cost(prices: Prices) -> Callable[[Row, str], str]:
    return lambda row, _prefix: said(prices.of(row), lambda value: f"{value:,.2f}")


_REST: Final = (
    figure("TTFT p95", "ttft_p95_s", format_seconds),
    figure("TPOT p95", "tpot_p95_s", format_seconds),
    figure("E2E p95", "e2e_p95_s", format_seconds),
    figure("queue p95", "queue_p95_s", format_seconds),
    figure("KV p99", "kv_usage_p99", share),
    figure("preempted", "preemptions", count),
)
