"""Trials of a queue whose every rate is known, as records of a run."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recorded_runs import measured_request
from recorded_trials import described, health, standing
from vramledger.plan.read import parse_plan
from vramledger.plan.requirement import Requirement
from vramledger.record.recorded_run import RecordedRun
from vramledger.record.samples import MetricKind, Sample
from vramledger.trial.sampling.server_page import UP

if TYPE_CHECKING:
    from vramledger.record.outcome import Outcome

BEGIN_S = 10.0
PLAN = """
name: small
model: Qwen/Qwen3-32B
workload:
  input_tokens: {{p50: 100, max: 100}}
  output_tokens: {{p50: 3, max: 3}}
  requests_per_s: {rate}
scenarios:
  daily:
    kind: latency
    contract: {contract}
"""


def plan_of(contract: str, rate: float = 9.0) -> Requirement:
    """A plan of one scenario with that contract, in YAML's flow style."""
    return parse_plan(PLAN.format(contract=contract, rate=rate))


def queued(
    arrivals: "np.ndarray[Any, Any]", service_s: float, servers: int, seed: int
) -> "np.ndarray[Any, Any]":
    """When each ends: so many servers, exponential service, first come first served."""
    draw = np.random.default_rng(seed)
    free = np.zeros(servers)
    done = np.empty(len(arrivals))
    for number, due in enumerate(arrivals):
        place = int(np.argmin(free))
        free[place] = max(free[place], due) + draw.exponential(service_s)
        done[number] = free[place]
    return done


def queued_trial(
    folder: Path,
    count: int = 600,
    per_s: float = 10.0,
    service_s: float = 0.5,
    servers: int = 8,
    seed: int = 1,
    *,
    outcomes: "dict[int, Outcome] | None" = None,
    pages: bool = True,
    bottleneck: str | None = None,
    refused_status: int | None = None,
    tenants: int = 1,
    burst: int = 0,
    **about: Any,
) -> Path:
    """A closed trial of Poisson arrivals at that rate; TTFT is half of the time a request stayed.

    `burst` requests more come in the first tenth of the time.
    """
    draw = np.random.default_rng(seed)
    due = np.cumsum(draw.exponential(1 / per_s, count))
    due = np.sort(np.append(due, draw.uniform(0, due[-1] / 10, burst)))
    count += burst
    done = queued(due, service_s, servers, seed + 1)
    given = {"scenario": "daily", "trial": standing().to_json()} | about
    with RecordedRun.start(folder, described(**given)) as run:
        run.note(BEGIN_S, "phase", name="measured", load_zero_s=BEGIN_S, position_s=0.0)
        for number in range(count):
            values: dict[str, Any] = {"tenant": number % tenants}
            if number in (outcomes or {}):
                values |= {"http_status": refused_status}
            run.append(_request(number, due[number], done[number], outcomes or {}, values))
        if pages:
            _pages(run, due, done, servers)
        end = BEGIN_S + float(done.max()) + 1
        run.note(end, "worker_ended", writer="worker-0", how="complete", health=health(bottleneck))
        run.note(end, "phase", name="drained", how="complete")
    return folder


def _request(
    number: int, due: float, done: float, outcomes: "dict[int, Outcome]", values: "dict[str, Any]"
) -> Any:
    stayed, at = done - due, BEGIN_S + due
    told: dict[str, Any] = {
        "dispatched_s": at + min(0.001, stayed / 8),
        "headers_s": at + stayed / 4,
        "first_byte_s": at + stayed / 4,
        "first_content_s": at + stayed / 2,
        "first_answer_s": at + stayed / 2,
        "last_content_s": at + stayed,
        "done_s": at + stayed,
        "input_tokens_asked": 100,
        "input_tokens_got": 100,
        "output_tokens_asked": 3,
    }
    if number in outcomes:
        nothing = ("first_content_s", "first_answer_s", "last_content_s", "chunk_offset_us", "chunk_tokens",
                   "output_tokens_got", "tokens_basis", "input_tokens_got")  # fmt: skip
        told |= dict.fromkeys(nothing) | {"outcome": outcomes[number], "error_class": "http_429"}
    half = int(stayed / 4 * 1e6)
    return measured_request(number, at, (0, half, 2 * half), **told | values)


def _pages(
    run: RecordedRun, due: "np.ndarray[Any, Any]", done: "np.ndarray[Any, Any]", servers: int
) -> None:
    for t_s in np.arange(0.0, float(due[-1]), 0.5):
        present = int((due <= t_s).sum() - (done <= t_s).sum())
        at = BEGIN_S + float(t_s)
        run.append(Sample(at, "target-0", UP, MetricKind.GAUGE, 1.0, 0.01, UP))
        for name, raw, value in (
            ("running", "vllm:num_requests_running", min(present, servers)),
            ("waiting", "vllm:num_requests_waiting", max(present - servers, 0)),
            ("kv_usage", "vllm:kv_cache_usage_perc", min(present, servers) / servers * 0.6),
        ):
            run.append(Sample(at, "target-0", raw, MetricKind.GAUGE, float(value), 0.01, name))
