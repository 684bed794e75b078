"""A trial that runs, on one line."""

from vramledger.report.number import duration, rate, share
from vramledger.trial.conduct.watch import Snapshot
from vramledger.units import format_seconds


def live_line(found: Snapshot) -> str:
    """Time, rate, in flight, TTFT of the last seconds, failures, KV use; what is not known is left out."""
    bad = sum(found.ended.values()) - found.ended.get("ok", 0)
    parts = [
        duration(found.t_s),
        *(() if not found.to_go_s else (f"{duration(found.to_go_s)} to go",)),
        f"{found.sent:,} sent",
        rate(found.sent_per_s),
        f"{found.in_flight:,} in flight",
        f"{found.tokens_per_s:,.0f} tokens/s",
    ]
    if found.ttft_p50_s is not None and found.ttft_p95_s is not None:
        parts.append(
            f"TTFT p50 {format_seconds(found.ttft_p50_s)}, p95 {format_seconds(found.ttft_p95_s)}"
        )
    parts.append(f"{bad:,} not ok")
    if found.kv_usage is not None:
        parts.append(f"KV {share(found.kv_usage)}")
    if found.waiting:
        parts.append(f"{found.waiting:,.0f} waiting")
    return "  ".join(parts)


def length_line(found: Snapshot) -> str | None:
    """How long requests will still be sent, None where that is not known."""
    left = found.to_go_s
    return None if left is None else f"the last request is due in {duration(left)}"
