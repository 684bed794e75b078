"""What simulations say of a candidate: lines of text, and JSON."""

from collections.abc import Iterator
from math import isinf
from typing import Any, Final

from vramledger.report.number import share
from vramledger.sizing.candidate import Candidate
from vramledger.sizing.simulated.result import ScenarioRun, Seen, Simulated
from vramledger.units import format_seconds

_VERDICTS: Final = {True: "PASS", False: "FAIL", None: "not checked"}


def simulated_lines(candidate: Candidate) -> Iterator[str]:
    """A line a scenario, and one a line of its contract; each says that it is simulated."""
    found = candidate.simulated
    if found is None:
        return
    for run in found.runs:
        yield f"  SIMULATED {run.scenario} ({run.load}): {_seen(run.main)}"
        if run.slow is not None:
            yield f"    at the slow end of the step times: {_seen(run.slow)}"
        if run.without_hits is not None:
            yield f"    without prefix hits: {_seen(run.without_hits)}"
        yield from _contract_lines(run)
    for note in dict.fromkeys(note for run in found.runs for note in run.notes):
        yield f"    {note}"


def _contract_lines(run: ScenarioRun) -> Iterator[str]:
    """Every line of the contract as expected, with the slow end's figure beside it."""
    slow = {} if run.slow is None else {line.asked: line for line in run.slow.lines}
    for line in run.main.lines:
        pessimistic = slow.get(line.asked)
        beside = "" if pessimistic is None else f" ({pessimistic.found} at the slow end)"
        yield f"    {_VERDICTS[line.holds]} {line.asked}: {line.found}{beside}"


def _seen(seen: Seen) -> str:
    hourly = "" if seen.goodput_per_hour is None else f", goodput {seen.goodput_per_hour:,.0f}/h"
    kv = "" if seen.kv_p99 is None else f", KV use p99 {share(seen.kv_p99)}"
    drains = "drains" if seen.queue_drains else "grows while requests arrive"
    return (
        f"p95 of TTFT {_time(seen.ttft_p95_s)}, TPOT {_time(seen.tpot_p95_s)}, queue "
        f"{_time(seen.queue_p95_s)}, E2E {_time(seen.e2e_p95_s)}{kv}, {seen.preemptions:,} preemptions{hourly}; "
        f"the queue {drains}"
    )


def _time(value: float | None) -> str:
    return "-" if value is None else format_seconds(value)


def simulated_json(found: Simulated | None) -> dict[str, Any] | None:
    """The object of one candidate; null where it was not simulated."""
    if found is None:
        return None
    return {
        "scenarios": [_run(run) for run in found.runs],
        "fails": list(found.fails),
        "not_simulated": list(found.not_played),
    }


def _run(run: ScenarioRun) -> dict[str, Any]:
    without = run.without_hits
    return {
        "scenario": run.scenario,
        "origin": "simulated",
        "basis": run.basis,
        "load": run.load,
        **_figures(run.main),
        "slow_end": None if run.slow is None else _figures(run.slow),
        "without_prefix_hits": None if without is None else _figures(without),
        "fails": list(run.fails),
        "notes": list(run.notes),
    }


def _figures(seen: Seen) -> dict[str, Any]:
    seconds = {
        "ttft_p95_s": seen.ttft_p95_s,
        "tpot_p95_s": seen.tpot_p95_s,
        "queue_p95_s": seen.queue_p95_s,
        "e2e_p95_s": seen.e2e_p95_s,
    }
    return {
        **{
            key: "inf" if value is not None and isinf(value) else value
            for key, value in seconds.items()
        },
        "kv_usage_p99": seen.kv_p99,
        "goodput_per_hour": seen.goodput_per_hour,
        "queue_drains": seen.queue_drains,
        "preemptions": seen.preemptions,
        "requests": dict(seen.requests),
        "contract": [
            {"asked": line.asked, "found": line.found, "holds": line.holds} for line in seen.lines
        ],
        "stuck": seen.stuck or None,
    }
