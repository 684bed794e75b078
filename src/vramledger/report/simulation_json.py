"""A simulation as JSON: ``vramledger.simulation/1``."""

from math import isinf
from pathlib import Path
from typing import Any, Final

from vramledger.simulate.answers import Answers
from vramledger.simulate.contrast import Contrast
from vramledger.simulate.ends import Ends
from vramledger.simulate.percentiles import Percentiles
from vramledger.simulate.queue_peak import QueuePeak
from vramledger.simulate.run import NotServed, Simulation
from vramledger.simulate.serving_remarks import serving_document
from vramledger.simulate.split_figures import SplitFigures
from vramledger.simulate.timing.coefficients import shipped
from vramledger.simulate.verdict import LineVerdict, Verdict, line_verdicts, verdict_of

SCHEMA: Final = "vramledger.simulation/1"
_NO_CONTRACT: Final = "no contract was stated; give --limit, or simulate a plan's scenario"


def not_served_json(found: NotServed) -> dict[str, Any]:
    """The object where nothing was simulated."""
    return {"schema": SCHEMA, "run": None, "reason": found.reason}


def to_json(simulation: Simulation, folder: Path) -> dict[str, Any]:
    """The object; an infinite percentile is the text "inf", what is not known is null.

    `without_prefix_hits` repeats the answers' keys; null where the main ones are without hits.
    """
    question, sanity = simulation.question, simulation.sanity
    capacity, room = sanity.capacity, simulation.kv_room
    return {
        "schema": SCHEMA,
        "run": str(folder),
        "origin": "simulated",
        "basis": str(simulation.basis),
        "deployment": _deployment(simulation),
        "scenario": question.scenario,
        "rate_scale": question.part.rate_scale,
        "replicas": question.replicas,
        "policy": question.policy,
        "acceptance": question.acceptance,
        **serving_document(question.serving),
        "seed": question.seed,
        "client_timeout_s": question.client_timeout_s,
        "prefix_hits": simulation.own is not None,
        "verdict": _verdict(simulation),
        "step_times": _step_times(simulation),
        **_answers(simulation.main.answers, simulation.ends),
        "slow_end": _end(None if simulation.ends is None else simulation.ends.slow),
        "fast_end": _end(None if simulation.ends is None else simulation.ends.fast),
        "without_prefix_hits": None if simulation.own is None else _without_hits(simulation),
        "kv_room": {
            "headroom": room.headroom,
            "used_p99": room.used_p99,
            "used_max": room.used_max,
            "kept_at_p99": room.kept_at_p99,
            "kept_at_peak": room.kept_at_peak,
        },
        "contrast": _contrast(simulation.contrast),
        "pools": _pools(simulation.main.split),
        "theory": {
            "concurrency": capacity.concurrency,
            "saturation_requests_per_s": capacity.saturation_per_s,
            "safe_requests_per_s": None if question.serving.closed else capacity.safe_per_s,
            "headroom": capacity.headroom,
            "offered_requests_per_s": sanity.offered_per_s,
            "little_residual": sanity.little_residual,
        },
        "notes": list(simulation.notes),
    }


def _contrast(found: Contrast | None) -> dict[str, Any] | None:
    """The same load by vLLM's scheduler beside another policy, null where there is no other."""
    if found is None:
        return None
    return {
        "throughput_ratio": found.throughput_ratio,
        "throughput_ratio_is_least": found.is_least,
        "output_tokens_per_s": found.asked.output_tokens_per_s,
        "vllm": {
            "output_tokens_per_s": found.vllm.output_tokens_per_s,
            **_answers(found.vllm.answers),
        },
    }


def _deployment(simulation: Simulation) -> dict[str, Any]:
    deployment = simulation.deployment
    return {
        "engine": "vllm",
        "engine_version": deployment.version,
        "model": deployment.model.id,
        "gpu": deployment.accelerator.name,
        "tp": deployment.layout.tp,
        "dp": deployment.layout.dp,
        "kv_blocks": simulation.pool.num_blocks,
        "kv_pool_end": simulation.question.end,
    }


def _verdict(simulation: Simulation) -> str | None:
    """Of the whole over the band of the step times; null where it holds for want of a contract."""
    verdict = verdict_of(simulation)
    stated = bool(simulation.main.answers.lines)
    return str(verdict) if stated or verdict is not Verdict.HOLDS else None


def _without_hits(simulation: Simulation) -> dict[str, Any]:
    """The run without prefix hits beside a main one with them, and its slow end where that was played."""
    ends = None if simulation.ends is None else simulation.ends.of_no_hits
    found = _answers(simulation.no_hits.answers, ends)
    return {**found, "slow_end": _end(None if ends is None else ends.slow)}


def _step_times(simulation: Simulation) -> dict[str, Any]:
    """Where the step times come from, and the ends of their band as factors on them."""
    fit, paces = simulation.question.fit or shipped(), simulation.bench.paces
    return {
        "basis": str(simulation.basis),
        "source": fit.source,
        "date": fit.date or None,
        "pace": str(simulation.question.pace),
        "fast_factor": paces.fast,
        "slow_factor": paces.slow,
        "ttft_fast_factor": paces.ttft_fast,
        "ttft_slow_factor": paces.ttft_slow,
    }


def _end(found: Answers | None) -> dict[str, Any] | None:
    """The main run at an end of the step times; null where it was not played."""
    return None if found is None else _answers(found)


def _answers(found: Answers, ends: Ends | None = None) -> dict[str, Any]:
    levels, cost = found.levels, found.recomputing
    goodput: dict[str, Any] = {"goodput_per_hour": found.goodput_per_hour}
    if found.goodput_per_hour is None:
        goodput["goodput_reason"] = _NO_CONTRACT
    return {
        "requests": dict(found.requests),
        "steps": found.steps,
        "preemptions": cost.preemptions,
        "recomputed_tokens": cost.tokens,
        "recomputed_share": cost.share,
        "recomputing_s": cost.seconds,
        "kv_usage": _percentiles(levels.kv_usage),
        "running": _percentiles(levels.running),
        "waiting": _percentiles(levels.waiting),
        **{name: _percentiles(each) for name, each in found.latency.items()},
        **goodput,
        "queue_drains": found.queue_drains,
        "queue_peak": _queue_peak(found.queue_peak),
        "kv_gib_s": _percentiles(found.holding.each),
        "kv_gib_s_share_of_longest_hundredth": found.holding.longest_share,
        "prefix_hit_share": found.hit_share,
        "binding": dict(levels.binding),
        "binding_beneath": {name: dict(parts) for name, parts in levels.beneath.items()},
        "contract": [_line(each) for each in line_verdicts(found, ends)],
        "served_anybody": found.served_anybody,
        "stuck": found.stuck or None,
        "simulated_s": levels.span_s,
        "simulated_requests_per_wall_s": found.per_wall_s,
    }


def _line(each: LineVerdict) -> dict[str, Any]:
    """A line at the expected step times, and at the ends; null at one that was not played."""
    line = each.expected
    return {
        "asked": line.asked,
        "found": line.found,
        "holds": line.holds,
        "verdict": str(each.verdict),
        "requests_needed": None if line.few is None else line.few.needed,
        "slow_end": None if each.slow is None else each.slow.found,
        "fast_end": None if each.fast is None else each.fast.found,
    }


def _queue_peak(found: QueuePeak | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "waiting": found.waiting,
        "at_s": found.at_s,
        "drained_after_s": found.drained_after_s,
    }


def _pools(found: SplitFigures | None) -> dict[str, Any] | None:
    """Prefill and decode servers apart; null where every server does both."""
    if found is None:
        return None
    pools: dict[str, Any] = {
        name: {
            "engines": found.servers[name],
            "kv_usage": _percentiles(levels.kv_usage),
            "running": _percentiles(levels.running),
            "waiting": _percentiles(levels.waiting),
            "binding": dict(levels.binding),
        }
        for name, levels in found.levels.items()
    }
    return {**pools, "transfer_s": _percentiles(found.transfer_s)}


def _percentiles(found: Percentiles) -> dict[str, float | str | None]:
    named = {"p50": found.p50, "p95": found.p95, "p99": found.p99, "max": found.max}
    return {
        name: "inf" if value is not None and isinf(value) else value
        for name, value in named.items()
    }
