"""How requests came to the servers, and what prefill and decode servers did, as lines of text."""

from vramledger.report.number import share
from vramledger.report.table import table
from vramledger.simulate.binding import IDLE
from vramledger.simulate.percentiles import Percentiles
from vramledger.simulate.serving import Serving
from vramledger.simulate.split_figures import SplitFigures
from vramledger.units import format_seconds

_HEAD = ("pool", "engines", "busy", "KV use p95", "running p95", "waiting p95")
_RIGHT = frozenset({1, 2, 3, 4, 5})


def serving_line(serving: Serving, replicas: int) -> str:
    """One line on router, closed loop and prefill servers; empty for servers in turn and the workload's times."""
    parts = []
    if serving.split is not None:
        parts.append(f"{serving.split.prefill} prefill and {replicas} decode servers")
    if not serving.is_plain:
        parts.append(f"router {serving.router}")
    if serving.closed is not None:
        requests = "request" if serving.closed == 1 else "requests"
        parts.append(f"closed loop of {serving.closed:,} {requests}")
    return ", ".join(parts)


def pool_lines(found: SplitFigures | None) -> list[str]:
    """A table of the pools and a line on the transfers; nothing where every server does both."""
    if found is None:
        return []
    rows = [
        (
            name,
            f"{found.servers[name]}",
            share(1 - levels.binding[IDLE]),
            _share(levels.kv_usage),
            _count(levels.running),
            _count(levels.waiting),
        )
        for name, levels in found.levels.items()
    ]
    transfer = found.transfer_s
    took = (
        "transfers   none"
        if transfer.p50 is None or transfer.p99 is None
        else f"transfers   {format_seconds(transfer.p50)} at p50, "
        f"{format_seconds(transfer.p99)} at p99"
    )
    return ["", "SIMULATED pools", *table(_HEAD, rows, _RIGHT), took]


def _share(found: Percentiles) -> str:
    return "-" if found.p95 is None else share(found.p95)


def _count(found: Percentiles) -> str:
    return "-" if found.p95 is None else f"{found.p95:,.0f}"
