"""A live trial in words: what it decides, and what to look at in the server's log, metrics and answers."""

from typing import Final

from vramledger.methods.sweep.trials import BASE, BEST, RUNNER_UP, Trial
from vramledger.report.number import share
from vramledger.units import format_seconds

_DECIDES: Final = {
    BEST: "decides whether the contract holds in fact",
    RUNNER_UP: "decides whether the order is right where the choice differs most",
    BASE: "shows how far the simulation is off on what you have, against what the change brings",
}
_TIMES: Final = (
    ("TTFT p95", "ttft_p95_s"),
    ("TPOT p95", "tpot_p95_s"),
    ("E2E p95", "e2e_p95_s"),
)


def decides(trial: Trial) -> str:
    """What is known after it."""
    changes = ", ".join(
        f"{one.name} {one.here} in place of {one.there}" for one in trial.differences
    )
    verdict = trial.row.verdict or "no verdict"
    return f"{_DECIDES[trial.role]}{': ' + changes if changes else ''}. Simulated: {verdict}."


def watched(trial: Trial) -> str:
    """Figures to compare, each with what was simulated and where vLLM says it."""
    row = trial.row
    parts = [
        f"{title} (simulated {format_seconds(row.figure(name))})"
        for title, name in _TIMES
        if row.figure(name) is not None
    ]
    if trial.pool_tokens is not None:
        tokens = f"{trial.pool_tokens:,} tokens or more"
        parts.append(f'"GPU KV cache size" of the start-up log ({tokens})')
    use = row.figure("kv_usage_p99")
    parts += [] if use is None else [f"vllm:kv_cache_usage_perc (p99 {share(use)})"]
    parts += [
        f"vllm:num_preemptions_total ({row.figure('preemptions'):,.0f})",
        f"vllm:num_requests_waiting (p95 {row.figure('waiting_p95'):,.0f})",
    ]
    return ", ".join(parts)
