"""One point simulated: its question asked, its answers laid out as a row."""

import json
from typing import Any

from vramledger.engine.vllm.deployment import Deployment
from vramledger.errors import CannotKnow, VramError
from vramledger.methods.sweep.base import Base
from vramledger.methods.sweep.columns import (
    LATENCIES,
    LEVELS,
    NO_HITS,
    OWN,
    SEPARATOR,
    SHARES,
    percentile_column,
)
from vramledger.methods.sweep.point import Point
from vramledger.methods.sweep.row import Row, Status, Verdict
from vramledger.methods.sweep.settings import changed
from vramledger.simulate.binding import IDLE
from vramledger.simulate.load import Part, prepared
from vramledger.simulate.offered import Offered, read_offered
from vramledger.simulate.run import NotServed, Played, Question, Simulation, simulate_case

_HOUR_S = 3600.0


class Evaluator:
    """Simulates points of a base one after another; of the workload it keeps the part it read last."""

    def __init__(self, base: Base, base_digest: str) -> None:
        self._base, self._digest = base, base_digest
        self._part: Part | None = None
        self._offered: Offered | None = None

    def row(self, point: Point) -> Row:
        """The row of a point. One that is refused or does not start has its reason and no figures."""
        named = {"point": point.hash(self._digest), "changes": point.text}
        known: dict[str, Any] = {}
        try:
            question = changed(self._base, point)
            known = _known(question, question.case.deployment())
            found = simulate_case(question, _silent, self._read(question))
        except VramError as error:
            status = Status.UNKNOWN if isinstance(error, CannotKnow) else Status.REFUSED
            return Row(point, {**named, **known, "status": status.value, "reason": str(error)})
        if isinstance(found, NotServed):
            status = Status.NO_START
            return Row(point, {**named, **known, "status": status.value, "reason": found.reason})
        return Row(point, {**named, **known, **_simulated(found)})

    def _read(self, question: Question) -> Offered:
        if self._offered is None or self._part != question.part:
            self._offered = None  # two at once may not have room
            with prepared(question.part, question.seed) as path:
                self._offered = read_offered(path, question.seed)
            self._part = question.part
        return self._offered


def _silent(_done: int, _all: int) -> None:
    """Progress is counted in points."""


def gpus_of(question: Question, deployment: Deployment) -> int:
    """GPUs of all servers, those that only compute prompts included."""
    split = question.serving.split
    servers = question.replicas + (0 if split is None else split.prefill)
    return deployment.layout.gpus * servers


def _known(question: Question, deployment: Deployment) -> dict[str, Any]:
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
        "max_num_seqs": deployment.max_num_seqs.value,
        "max_num_batched_tokens": deployment.max_num_batched_tokens.value,
    }


def _simulated(found: Simulation) -> dict[str, Any]:
    answers = found.main.answers
    gpus = gpus_of(found.question, found.deployment)
    broken = [line.asked for line in answers.lines if line.holds is False]
    own = {} if found.own is None else _figures(found.own, gpus)
    return {
        "status": Status.SIMULATED.value,
        "verdict": _verdict(found),
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


def _verdict(found: Simulation) -> str | None:
    answers = found.main.answers
    if not answers.lines:
        return None
    if not answers.holds:
        return Verdict.FAIL.value
    unchecked = any(line.holds is None for line in answers.lines)
    return (Verdict.INCONCLUSIVE if unchecked else Verdict.PASS).value


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
