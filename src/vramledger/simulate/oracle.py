"""Answer cases step by step, in the format of a harness around vLLM's own scheduler.

    python -m vramledger.simulate.oracle [--loop | --fast] < cases.jsonl

`--loop`, the default, answers with the plain scheduler, `--fast` with the compiled one.
A case is one JSON object a line: ``num_blocks`` (the null block included), ``block_size``,
``max_num_batched_tokens``, ``max_num_seqs``, ``max_model_len``, ``prefix_caching`` and ``requests`` of
``id``, ``arrival_step``, ``prompt`` (token ids), ``output_len`` and, by priority, ``priority``; optional are ``groups``
(``"full"``, ``{"window": N}``), ``policy`` (``fcfs``, ``priority``), ``long_prefill_token_threshold``
and ``max_steps``. Beyond the harness: ``{"state": N, "checkpoint": A}`` is a group of recurrent states with N for drafts,
``chunked_prefill``, ``watermark`` (a share of the pool) and ``max_num_scheduled_tokens`` are vLLM's arguments,
``async_scheduling`` keeps two steps in flight, ``retention`` is prefix_cache_retention_interval, ``speculation`` has the
fields of `settings.Speculation` with ``seed``, and a request may have ``abort_step``. The answer is one object a line: ``steps``, each with ``scheduled``, ``preempted``,
``running``, ``waiting``, ``kv_usage`` and ``finished``; ``done``, and ``error`` where a case is refused.
The n-th token that a request generates has the id n + 6, so answers are prefixes too.
"""

import json
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol

from vramledger.errors import VramError
from vramledger.simulate.conservation import check_step
from vramledger.simulate.oracle_cases import Case, read_case
from vramledger.simulate.request import Arrival, Request
from vramledger.simulate.scheduler import Scheduler
from vramledger.simulate.step import Step


class Run(Protocol):
    """A case under way; empty steps are in flight like others, as the harness has them."""

    @property
    def is_over(self) -> bool:
        """Whether every request has come and ended."""

    def step(self, number: int) -> dict[str, Any]:
        """Schedule a step, settle the oldest in flight once enough are, and tell what happened."""


def answer_case(document: Any, run_of: Callable[[Case], Run] | None = None) -> dict[str, Any]:
    """What a scheduler does with one case: the plain one, or what `run_of` makes of the case."""
    try:
        case = read_case(document)
        run = (run_of or _LoopRun)(case)
    except VramError as refused:
        return {"steps": [], "done": False, "error": str(refused)}
    steps: list[dict[str, Any]] = []
    while not run.is_over and len(steps) < case.most_steps:
        steps.append(run.step(len(steps)))
    return {"steps": steps, "done": run.is_over}


class _LoopRun:
    """The plain scheduler at work on a case."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.scheduler = Scheduler(case.settings, seed=case.seed)
        self.arrived = 0
        self.in_flight = deque[Step]()

    @property
    def is_over(self) -> bool:
        """Whether every request has come and ended."""
        return self.arrived == len(self.case.requests) and self.scheduler.is_idle

    def step(self, number: int) -> dict[str, Any]:
        """Schedule a step, settle the oldest in flight once enough are, and tell what happened."""
        case = self.case
        while self.arrived < len(case.requests) and case.arrival_steps[self.arrived] <= number:
            self.scheduler.add(case.requests[self.arrived])
            self.arrived += 1
        for request in case.requests[: self.arrived]:
            if case.abort_steps[request.rank] == number:
                self.scheduler.abort(request)
        step = self.scheduler.schedule()
        check_step(self.scheduler.state, step)
        self.in_flight.append(step)
        full = len(self.in_flight) >= case.settings.steps_in_flight
        ended = self.scheduler.settle(self.in_flight.popleft()) if full else []
        return step_line(step, ended, self.scheduler, case.names)


class _FastRun:
    """The compiled scheduler at work on a case."""

    def __init__(self, case: Case) -> None:
        from vramledger.simulate.fast.blocks.lockstep import LockStepEngine
        from vramledger.simulate.fast.load import load_of

        self.case = case
        self.engine = LockStepEngine(case.settings, load_of(_in_steps(case)), case.seed)

    @property
    def is_over(self) -> bool:
        """Whether every request has come and ended."""
        return self.engine.is_over

    def step(self, number: int) -> dict[str, Any]:
        """Let the engine make its next step."""
        del number  # the engine counts steps itself
        names, step = self.case.names, self.engine.step()
        usable = self.case.settings.num_blocks - 1
        return {
            "scheduled": {names[rank]: tokens for rank, tokens in step.scheduled.items()},
            "preempted": sorted(names[rank] for rank in step.preempted),
            "running": step.running,
            "waiting": step.waiting,
            "kv_usage": round(1.0 - (usable - step.used_blocks) / usable, 6),
            "finished": sorted(names[rank] for rank in step.finished),
        }


def _in_steps(case: Case) -> list[Arrival]:
    """The case's requests with steps for nanoseconds; clients that would leave too early stay."""
    arrivals = []
    for request in case.requests:
        comes, leaves = case.arrival_steps[request.rank], case.abort_steps[request.rank]
        stays = leaves is None or leaves < comes
        arrivals.append(
            replace(
                request.arrival,
                arrival_ns=comes,
                cancel_after_ns=None if stays or leaves is None else leaves - comes,
            )
        )
    return arrivals


RUNS: Final[dict[str, Callable[[Case], Run]]] = {"--loop": _LoopRun, "--fast": _FastRun}


def step_line(
    step: Step, ended: Iterable[Request], scheduler: Scheduler, names: Sequence[str]
) -> dict[str, Any]:
    """One step as JSON has it, after its tokens came back; `names` are the requests' by rank."""
    state = scheduler.state
    return {
        "scheduled": {names[request.rank]: tokens for request, tokens in step.scheduled.items()},
        "preempted": sorted(names[request.rank] for request in step.preempted),
        "running": len(state.running),
        "waiting": len(state.waiting),
        "kv_usage": round(state.cache.pool.usage, 6),
        "finished": sorted(names[request.rank] for request in ended),
    }


def answers(
    lines: Iterable[str], run_of: Callable[[Case], Run] | None = None
) -> Iterator[dict[str, Any]]:
    """The answer to each line that is not empty, as `answer_case` gives it."""
    for line in lines:
        if not line.strip():
            continue
        try:
            document = json.loads(line)
        except json.JSONDecodeError as wrong:
            yield {"steps": [], "done": False, "error": f"The line is no JSON object: {wrong}."}
            continue
        yield answer_case(document, run_of)


def main(arguments: Sequence[str]) -> int:
    """Answer the cases on stdin; 2 for an argument that is not known."""
    unknown = [one for one in arguments if one not in RUNS]
    if unknown or len(arguments) > 1:
        print(  # noqa: T201 - a program of its own
            f"The oracle does not know what {' '.join(unknown or arguments)!r} asks for: it answers cases from stdin with --loop, the plain scheduler, or with --fast, the compiled one.",
            file=sys.stderr,
        )
        return 2
    run_of = RUNS[arguments[0]] if arguments else None
    for answer in answers(sys.stdin, run_of):
        print(json.dumps(answer), flush=True)  # noqa: T201 - a program of its own
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
