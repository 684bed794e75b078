"""The load client beside a server that logs true times: its errors, its capacity on one core, its memory.

The server (tests/trial/truth_server.c) runs on core 0, the client on core 1, as a worker process that keeps its
whole record. Peers are measured the same way where they are installed: `vllm bench serve` in the engine's environment
of `make live`, AIPerf and GuideLLM in those of `make peers`. Each figure of ours is the median of `--repeat` runs,
each of a peer that of `--repeat-peers`. On a machine that others use, `--prefer` (root only) gives server and client
more of a core than others, `--realtime` (root only) all of it.
Exit 1 when a limit is not met.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from bench_peers import beside_peers
from client_questions import (
    ACCURACY,
    CAPACITY,
    CLIENT_CORE,
    REQUESTS_ONE,
    SERVER_CORE,
    STREAMS_256,
    TOKENS,
    Question,
    p99,
    prefix,
    rate_of,
)
from truth_server import TrueRequest, truth_server
from vramledger.record.requests import REQUESTS
from vramledger.record.segments import segments, whole_batches
from vramledger.trial.client.job import WorkerJob
from vramledger.trial.client.orders import Orders, Reports
from vramledger.trial.client.worker import prepare_process, run_worker
from vramledger.trial.planned import PlannedRequest
from vramledger.trial.wire.target import Target

BODY = {
    "model": "truth",
    "messages": [{"role": "user", "content": "hello " * 48}],
    "stream": True,
    "stream_options": {"include_usage": True},
}
TTFT_MS, ITL_P99_MS, TOKENS_S, REQUESTS_S, MEMORY_MIB = 5.0, 2.0, 100_000, 8_000, 300


@dataclass(frozen=True)
class Seen:
    """One run, by the client's record and by the server's log; `sent_s` are requests a second by the log alone."""

    ttft_error_ms: float
    itl_p99_error_ms: float
    lost: int
    seconds: float
    tokens_s: float
    requests_s: float
    sent_s: float
    cpu_s: float
    memory_mib: float
    bottleneck: str | None


def main() -> int:
    """Measure everything and say what does not hold."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--repeat", type=int, default=5)
    asked.add_argument("--repeat-peers", type=int, default=1)
    asked.add_argument("--prefer", action="store_true")
    asked.add_argument("--realtime", action="store_true")
    asked.add_argument("--no-peers", action="store_true")
    asked.add_argument("--worker", help=argparse.SUPPRESS)
    options = asked.parse_args()
    if options.worker:
        return be_worker(json.loads(options.worker))
    print(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    failures = [*accuracy(options), *capacity(options)]
    for failure in failures:
        print(f"does not hold: {failure}")
    return 1 if failures else 0


def accuracy(options: argparse.Namespace) -> Iterator[str]:
    """The errors of the client's figures; yields what exceeds a limit."""
    print(f"{'':32}{'TTFT ms':>9}{'ITL p99 ms':>12}{'lost':>6}{'CPU s':>7}{'MiB':>6}  (errors)")
    for question, arguments in ACCURACY.items():
        runs = [once(question, arguments, options) for _ in range(options.repeat)]
        ttft, itl = median(runs, "ttft_error_ms"), median(runs, "itl_p99_error_ms")
        memory, lost = median(runs, "memory_mib"), sum(run.lost for run in runs)
        said = sum(run.bottleneck is not None for run in runs)
        print(
            f"{question.name:32}{ttft:9.2f}{itl:12.2f}{lost:6}{median(runs, 'cpu_s'):7.2f}{memory:6.0f}"
            f"  called itself the bottleneck in {said} of {len(runs)}"
        )
        confessed = question is not STREAMS_256 and said > len(runs) / 2
        if (ttft > TTFT_MS or itl > ITL_P99_MS) and not confessed:
            yield f"{question.name}: TTFT within {TTFT_MS:g} ms and ITL p99 within {ITL_P99_MS:g} ms"
        if lost:
            yield f"{question.name}: no chunk lost or doubled"
        if memory > MEMORY_MIB:
            yield f"{question.name}: {MEMORY_MIB} MiB"


def capacity(options: argparse.Namespace) -> Iterator[str]:
    """What one core carries, beside peers; yields what falls short of a limit."""
    print(f"\n{'':32}{'tokens/s':>10}{'requests/s':>12}{'CPU s':>7}{'MiB':>6}")
    ours: dict[Question, Seen] = {}
    for question, arguments in CAPACITY.items():
        runs = [once(question, arguments, options) for _ in range(options.repeat)]
        ours[question] = best = sorted(runs, key=lambda run: run.requests_s)[len(runs) // 2]
        print(
            f"{question.name:32}{best.tokens_s:10,.0f}{best.requests_s:12,.0f}{best.cpu_s:7.2f}{best.memory_mib:6.0f}"
        )
    if ours[TOKENS].tokens_s < TOKENS_S:
        yield f"{TOKENS_S:,} tokens/s on one core"
    if ours[REQUESTS_ONE].requests_s < REQUESTS_S:
        yield f"{REQUESTS_S:,} one-token requests/s on one core"
    if not options.no_peers:
        yield from beside_peers(lambda *asked: once(*asked).sent_s, options)


def once(question: Question, arguments: tuple[str, ...], options: argparse.Namespace) -> Seen:
    """One run of our client, judged by the server's log."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "truth.csv"
        with truth_server(log, *arguments, prefix=prefix(SERVER_CORE, options)) as server:
            said = worked(server.url, question, Path(folder), options)
        rows = recorded(Path(folder))
        return judged(rows, server.requests(), said, question)


def worked(
    url: str, question: Question, folder: Path, options: argparse.Namespace
) -> dict[str, Any]:
    """A worker process plays the question; the last of everything that it reported."""
    job = WorkerJob(Target(url), "", str(folder), time.monotonic_ns(), closed=question.streams)
    told = {"job": job.to_json(), "requests": question.requests, "tokens": question.tokens}
    command = [
        *prefix(CLIENT_CORE, options),
        sys.executable,
        __file__,
        "--worker",
        json.dumps(told),
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        said: dict[str, Any] = {}
        for line in process.stdout or ():
            report = json.loads(line)
            said |= report
            if report["event"] == "ready" and process.stdin is not None:
                process.stdin.write(b"start %d\n" % (time.monotonic_ns() + 100_000_000))
                process.stdin.flush()
    return said


def be_worker(told: dict[str, Any]) -> int:
    """The worker of a trial, with equal requests for a load."""
    body = json.dumps(BODY | {"max_tokens": told["tokens"]}).encode()
    load = (
        PlannedRequest(number, number, None, body, None, told["tokens"])
        for number in range(told["requests"])
    )
    reports = Reports(1)
    prepare_process(None)
    run_worker(WorkerJob.from_json(told["job"]), load, Orders(0), reports)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    reports.tell({"event": "usage", "memory_mib": usage.ru_maxrss / 1024})
    return 0


def recorded(folder: Path) -> list[dict[str, Any]]:
    """The rows that the worker wrote."""
    paths = segments(folder, REQUESTS.name)
    return [row for batch in whole_batches(REQUESTS, paths) for row in batch.to_pylist()]


def judged(
    rows: list[dict[str, Any]],
    true: dict[str, TrueRequest],
    said: dict[str, Any],
    question: Question,
) -> Seen:
    """The record held against the log."""
    errors, gaps, true_gaps, lost = [], [], [], abs(len(rows) - len(true))
    for row in rows:
        told = true[row["server_request_id"]]
        ttft_s = row["first_content_s"] - row["dispatched_s"]
        errors.append(ttft_s * 1e3 - (told.first_ns - told.received_ns) / 1e6)
        gaps += [b - a for a, b in pairwise(row["chunk_offset_us"])]
        true_gaps += [b - a for a, b in pairwise(told.offsets_us)]
        lost += abs(len(row["chunk_offset_us"]) - len(told.offsets_us))
    seconds = max(row["done_s"] for row in rows) - min(row["due_s"] for row in rows)
    tokens = sum(row["output_tokens_got"] for row in rows)
    return Seen(
        ttft_error_ms=abs(statistics.fmean(errors)),
        itl_p99_error_ms=abs(p99(gaps) - p99(true_gaps)) / 1e3,
        lost=lost,
        seconds=seconds,
        tokens_s=tokens / seconds,
        requests_s=len(rows) / seconds,
        sent_s=rate_of(true.values(), question),
        cpu_s=said["health"]["cpu_s"],
        memory_mib=said["memory_mib"],
        bottleneck=said["health"]["bottleneck"],
    )


def median(runs: list[Seen], name: str) -> float:
    """The median of one figure."""
    return float(statistics.median(getattr(run, name) for run in runs))


if __name__ == "__main__":
    sys.exit(main())
