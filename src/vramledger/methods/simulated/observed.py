"""What a simulation says to a method: its contract's lines, what the safe load asks, its figures."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.methods.simulated.in_system import InSystem, in_system
from vramledger.methods.subject import Check, Figures, Observation
from vramledger.plan.headroom import kept_free
from vramledger.simulate.answers import Answers
from vramledger.simulate.capacity import longest_share
from vramledger.simulate.judged import Amount, Line
from vramledger.simulate.run import Bench, Played
from vramledger.simulate.sanity import offered_per_s

if TYPE_CHECKING:
    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_HOUR_S: Final = 3600.0
_NEARLY_ALL: Final = 0.9  # beyond the end of a contract this share falls fast


def observed(bench: Bench, run: Played, level: float, took_s: float) -> Observation:
    """One simulation as an observation."""
    columns = run.figures.columns
    present = in_system(columns["due_s"], columns["done_s"])
    return Observation(
        level=level,
        seed=bench.question.seed,
        contract=(*_contract(bench, run.answers), *_served(run.answers)),
        headroom=(_kv_use(bench, run, present), _no_preemption(run.answers)),
        figures=_figures(run, present),
        took_s=took_s,
    )


def _contract(bench: Bench, found: Answers) -> list[Check]:
    """The contract's lines; where none was stated, that nothing is preempted and the queue drains."""
    contract = bench.question.contract
    if contract is None or contract.is_empty:
        drains = "it drains" if found.queue_drains else "it does not"
        return [_no_preemption(found), Check("the queue drains", drains, found.queue_drains)]
    checks = [_check(line) for line in found.lines]
    if contract.requests_per_hour is not None and _offers_too_little(bench, found):
        last = checks.pop()  # the line on requests an hour is a contract's last
        checks.append(replace(last, wants_more=True))
    return checks


def _check(line: Line) -> Check:
    """A line that too few requests can judge asks for more load."""
    if line.few is None:
        return Check(line.asked, line.found, line.holds, amount=line.amount)
    return Check(line.asked, line.found, holds=False, wants_more=True, amount=line.amount)


def _offers_too_little(bench: Bench, found: Answers) -> bool:
    """Whether more load would give more good requests an hour: nearly all that are offered are good."""
    good = (found.goodput_per_hour or 0.0) * found.levels.span_s / _HOUR_S
    return good >= _NEARLY_ALL * len(bench.offered)


def _served(found: Answers) -> list[Check]:
    """What every contract takes for granted; told where it fails."""
    failed = []
    if found.stuck:
        failed.append(Check("every request can go on", found.stuck, holds=False))
    told = any(line.holds is False for line in found.lines)
    if not found.served_anybody and not told:
        failed.append(Check("somebody is served in time", "nobody is", holds=False))
    return failed


def _no_preemption(found: Answers) -> Check:
    count = found.recomputing.preemptions
    return Check("no preemption", f"{count:,}", count == 0, amount=Amount("preemptions", count, 0))


def _kv_use(bench: Bench, run: Played, present: InSystem) -> Check:
    question = bench.question
    in_flight = (present.mean or 0.0) / bench.engines
    longest = longest_share(bench.offered, run.settings)
    most = 1 - kept_free(question.headroom, question.kind, in_flight, longest)
    used = run.answers.levels.kv_usage.p99
    asked = f"KV use p99 <= {most:.1%}"
    if used is None:
        return Check(asked, "nothing to count", None)
    return Check(asked, f"{used:.1%}", used <= most, amount=Amount("kv_p99", used, most))


def _figures(run: Played, present: InSystem) -> Figures:
    found = run.answers
    ttft, e2e = found.latency["ttft_s"], found.latency["e2e_s"]
    return Figures(
        offered_per_s=offered_per_s(run.offered),
        answered_per_s=found.requests["ok"] / max(found.levels.span_s, 1e-9),
        goodput_per_hour=found.goodput_per_hour,
        ttft_p50_s=ttft.p50,
        ttft_p95_s=ttft.p95,
        e2e_mean_s=_mean(run.figures.latency["e2e_s"]),
        e2e_p95_s=e2e.p95,
        kv_p99=found.levels.kv_usage.p99,
        in_system_mean=present.mean,
        in_system_p99=present.p99,
        preemptions=found.recomputing.preemptions,
    )


def _mean(seconds: "Floats") -> float | None:
    """Of those that were answered."""
    known = seconds[np.isfinite(seconds)]
    return float(known.mean()) if len(known) else None
