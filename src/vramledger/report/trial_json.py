"""A trial as the object that ``vram trial run --json`` prints."""

from math import isinf
from typing import Any, Final

from vramledger.trial.conduct.server_side import ServerSide
from vramledger.trial.conduct.spread import Spread
from vramledger.trial.conduct.steady import METHOD
from vramledger.trial.conduct.steady_figures import SteadyPart
from vramledger.trial.conduct.summary import Summary
from vramledger.trial.conduct.ttft_stages import TtftStages

SCHEMA: Final = "vramledger.trial/1"
_DIGITS: Final = 6


def trial_json(found: Summary) -> dict[str, Any]:
    """Latencies count from when a request was due, over all that were offered, failures infinite ("inf"); the other ways to count stand below them."""
    about, said = found.description, found.latencies
    late = said.late_dispatch_s
    return {
        "schema": SCHEMA,
        "basis": about.origin.value,
        "run": str(found.run.path),
        "name": about.name,
        "ended": about.ended.value if about.ended else None,
        "verdict": "INCONCLUSIVE" if found.inconclusive else "MEASURED",
        "inconclusive": list(found.inconclusive),
        "requests": {"offered": found.offered, **found.requests},
        **{name: _spread(each) for name, each in said.offered.items()},
        "itl_s": _spread(said.itl_s),
        "itl_mean_s": _spread(said.itl_mean_s),
        "ok_only": {name: _spread(each) for name, each in said.ok.items()},
        "ok_only_from_dispatch": {name: _spread(each) for name, each in said.ok_from_dispatch.items()},
        "late_dispatch_s": _spread(late),
        "client_bottleneck": found.client_bottleneck,
        **_server(found.server),
        "cached_share": _number(found.cached_share),
        "measured_s": _number(found.rates.seconds),
        "ok_requests_per_s": _number(found.rates.requests_per_s),
        "output_tokens_per_s": _number(found.rates.output_tokens_per_s),
        "input_tokens_per_s": _number(found.rates.input_tokens_per_s),
        "errors": [
            {"class": each.name, "count": each.count, "message": each.sentence}
            for each in found.errors
        ],
        "steady": _steady(found.steady),
        "unjudgeable": [{"line": each.line, "message": each.why} for each in found.unjudgeable],
        "ttft_stages": _stages(found.stages),
        "lengths": found.lengths.to_json() | {"message": found.lengths.sentence()},
        "warm_up": _warm_up(found),
        "client": [each.to_json() for each in found.healths],
        "pauses": [
            {"from_s": _number(each.from_s), "later_s": _number(each.seconds)}
            for each in found.story.pauses
        ],
        "events": [
            {"t_s": each.t_s, "event": each.event, **dict(each.details)}
            for each in found.story.events
        ],
        "asked": about.asked.model_dump(mode="json"),
        "in_effect": about.in_effect.model_dump(mode="json"),
        "prompts": found.trial.get("prompts_said"),
        "warnings": list(found.warnings),
        "unseen": list(found.unseen),
    }  # fmt: skip


def _steady(found: SteadyPart) -> dict[str, Any]:
    """Where there is none, `reason` says why and the figures are missing."""
    part, said = found.part, found.latencies
    about = {"found": part.found, "method": METHOD, "reason": part.why or None}
    if said is None or found.server is None:
        return about
    return about | {
        "from_s": _number(part.from_s),
        "to_s": _number(part.to_s),
        "requests": {"offered": found.offered, "ok": found.ok},
        **{name: _spread(each) for name, each in said.offered.items()},
        "itl_s": _spread(said.itl_s),
        "itl_mean_s": _spread(said.itl_mean_s),
        "ok_only": {name: _spread(each) for name, each in said.ok.items()},
        "ok_requests_per_s": _number(found.requests_per_s),
        "output_tokens_per_s": _number(found.output_tokens_per_s),
        **{name: _spread(found.server.levels[name]) for name in ("kv_usage", "running", "waiting")},
        "preemptions": _counted(found.server.preemptions),
    }


def _stages(found: TtftStages | None) -> dict[str, Any] | None:
    """None where no file of stages was read."""
    if found is None:
        return None
    parts = {name: _spread(each) for name, each in found.parts.items()}
    return {"requests": found.requests, "of_ok": found.of, **parts}


def _server(found: ServerSide) -> dict[str, Any]:
    memory = {name: _whole(each) for name, each in found.memory_bytes.items()}
    return {
        "preemptions": None if found.preemptions is None else round(found.preemptions),
        "kv_usage": _spread(found.levels["kv_usage"]),
        "kv_tokens": _whole(found.kv_tokens),
        "kv_capacity_tokens": found.kv_capacity_tokens,
        "running": _spread(found.levels["running"]),
        "waiting": _spread(found.levels["waiting"]),
        "prefix_hit_share": _number(found.prefix_hit_share),
        "server_generation_tokens": _counted(found.generation_tokens),
        "server_prompt_tokens": _counted(found.prompt_tokens),
        "gpu_used_bytes": _whole(found.gpu_bytes),
        "gpu_used_bytes_each": memory,
    }


def _warm_up(found: Summary) -> dict[str, Any] | None:
    """None for a cold pass."""
    told = found.story.warm_up
    if told is None:
        return None
    return {name: told[name] for name in ("requests", "stable", "round_s", "said")}


def _spread(found: Spread) -> dict[str, float | str | None]:
    names = ("mean", "p50", "p95", "p99", "max")
    return {name: _number(getattr(found, name)) for name in names}


def _whole(found: Spread) -> dict[str, int | None]:
    return {
        name: None if getattr(found, name) is None else round(getattr(found, name))
        for name in ("p50", "p95", "p99", "max")
    }


def _counted(value: float | None) -> int | None:
    return None if value is None else round(value)


def _number(value: float | None) -> float | str | None:
    """Rounded; a figure that falls among failures is "inf"."""
    if value is None:
        return None
    return "inf" if isinf(value) else round(value, _DIGITS)
