"""A simulated point laid out as the columns of a row."""

import json
from typing import Any, Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.methods.sweep.columns import (
    LATENCIES,
    LEVELS,
    NO_HITS,
    OWN,
    SEPARATOR,
    SHARES,
    percentile_column,
)
from vramledger.methods.sweep.row import Status, Verdict
from vramledger.simulate.binding import IDLE
from vramledger.simulate.capacity import Capacity
from vramledger.simulate.policies import VLLM
from vramledger.simulate.run import Played, Question, Simulation
from vramledger.simulate.verdict import Verdict as Decision
from vramledger.simulate.verdict import verdict_of

_HOUR_S = 3600.0
_VERDICTS: Final = {
    Decision.HOLDS: Verdict.PASS,
    Decision.NOT_AT_SLOW_END: Verdict.INCONCLUSIVE,
    Decision.TOO_FEW: Verdict.INCONCLUSIVE,
    Decision.NOT_CHECKED: Verdict.INCONCLUSIVE,
    Decision.ONLY_AT_FAST_END: Verdict.FAIL,
    Decision.FAILS: Verdict.FAIL,
}
_NEARLY = 0.98  # of what arrives: then no more throughput is asked for


def gpus_of(question: Question, deployment: Deployment) -> int:
    """GPUs of all servers, those that only compute prompts included."""
    split = question.serving.split
    servers = question.replicas + (0 if split is None else split.prefill)
    return deployment.layout.gpus * servers


def known(question: Question, deployment: Deployment) -> dict[str, Any]:
    layout = deployment.layout
    return {
        "model": deployment.model.id,
        "gpu": deployment.accelerator.name,
        "engine_version": deployment.version,
        "tp": layout.tp,
        "pp": layout.pp,
        "dp": layout.dp,
        "replicas": question.replicas,
        "gpus": gpus_of(question, deployment),
        "kv_cache_dtype": deployment.kv_cache_dtype.value,
        "max_num_seqs": deployment.max_num_seqs.value,
        "max_num_batched_tokens": deployment.max_num_batched_tokens.value,
    }


def simulated(found: Simulation) -> dict[str, Any]:
    answers = found.main.answers
    gpus = gpus_of(found.question, found.deployment)
    broken = [line.asked for line in answers.lines if line.holds is False]
    own = {} if found.own is None else _figures(found.own, gpus)
    return {
        "status": Status.SIMULATED.value,
        **saturation(found.question, found.deployment, found.sanity.capacity),
        "arrivals_per_s": found.sanity.offered_per_s,
        "limited_by_arrivals": _limited_by_arrivals(found),
        "verdict": _verdict(found),
        "slow_end": None if found.ends is None else found.ends.slow.holds,
        "broken": SEPARATOR.join(broken) if answers.lines else None,
        "basis": str(found.basis),
        "notes": json.dumps(found.notes),
        "max_model_len": found.main.settings.max_model_len,
        "kv_cache_dtype": found.pool.layout.cache_dtype,
        "kv_blocks": found.pool.num_blocks,
        "block_tokens": found.main.settings.block_size,
        "input_tokens_mean": float(found.offered.input_tokens.mean()),
        "output_tokens_mean": float(found.offered.output_tokens.mean()),
        **{f"{NO_HITS}{name}": value for name, value in _figures(found.no_hits, gpus).items()},
        **{f"{OWN}{name}": value for name, value in own.items()},
    }


def saturation(question: Question, deployment: Deployment, capacity: Capacity) -> dict[str, Any]:
    """What theory says the servers serve at most; of vLLM's own way to serve, each server doing both parts."""
    if question.policy != VLLM or question.serving.split is not None:
        return {}
    most = capacity.saturation_per_s
    return {
        "saturation_per_s": most,
        "saturation_per_gpu_s": most / gpus_of(question, deployment),
    }


def _limited_by_arrivals(found: Simulation) -> bool:
    """Whether nearly all are answered, and well, as they come; never in a closed loop, which waits for them."""
    arrive, answers = found.sanity.offered_per_s, found.main.answers
    if arrive is None or found.question.serving.closed is not None:
        return False
    ended = answers.requests["ok"] + answers.requests["cancelled"]
    good = answers.goodput_per_hour
    per_s = ended / max(answers.levels.span_s, 1e-9) if good is None else good / _HOUR_S
    return per_s >= _NEARLY * arrive


def _verdict(found: Simulation) -> str | None:
    answers = found.main.answers
    if not answers.lines:
        return None
    verdict = _VERDICTS[verdict_of(found)]
    unchecked = any(line.holds is None for line in answers.lines)
    return (Verdict.INCONCLUSIVE if unchecked and verdict is Verdict.PASS else verdict).value


def _figures(played: Played, gpus: int) -> dict[str, Any]:
    answers = played.answers
    hours = max(answers.levels.span_s, 1e-9) / _HOUR_S
    ok = answers.requests["ok"]
    goodput = answers.goodput_per_hour
    ended_ok = played.figures.outcome == "ok"
    tokens = float(played.offered.output_tokens[ended_ok].sum())
    row: dict[str, Any] = {
        **answers.requests,
        "goodput_per_hour": goodput,
        "goodput_per_gpu_hour": None if goodput is None else goodput / gpus,
        "ok_per_hour": ok / hours,
        "ok_per_gpu_hour": ok / hours / gpus,
        "output_tokens_per_gpu_s": tokens / (hours * _HOUR_S) / gpus,
        "preemptions": answers.recomputing.preemptions,
        "recomputed_tokens": answers.recomputing.tokens,
        "recomputed_share": answers.recomputing.share,
        "prefix_hit_share": answers.hit_share,
        "queue_drains": answers.queue_drains,
        "steps": answers.steps,
        "simulated_s": answers.levels.span_s,
        "binding": json.dumps(answers.levels.binding, sort_keys=True),
        "bound_by": _bound_by(answers.levels.binding),
    }
    for name in LATENCIES:
        _add_percentiles(row, name, answers.latency[name])
    for name in LEVELS:
        _add_percentiles(row, name, getattr(answers.levels, name))
    return row


def _bound_by(binding: dict[str, float]) -> str:
    shares = {name: share for name, share in binding.items() if name != IDLE}
    return max(sorted(shares), key=shares.__getitem__)


def _add_percentiles(row: dict[str, Any], name: str, found: object) -> None:
    for share in SHARES:
        row[percentile_column(name, share)] = getattr(found, share)
