"""A prediction as JSON: ``vramledger.prediction/1``."""

from math import isfinite
from typing import Any, Final

from vramledger.simulate.timing.cases.answer import Answer
from vramledger.simulate.timing.prediction import Prediction

SCHEMA: Final = "vramledger.prediction/1"


def not_started_json(reason: str) -> dict[str, Any]:
    """The object of a deployment that does not start, so that nothing is predicted."""
    return {"schema": SCHEMA, "starts": False, "reason": reason}


def to_json(prediction: Prediction) -> dict[str, Any]:
    """The object of one prediction."""
    load, outlook = prediction.load, prediction.outlook
    return {
        "schema": SCHEMA,
        "deployment": prediction.deployment,
        "input_tokens": load.input_tokens,
        "output_tokens": load.output_tokens,
        "concurrency": load.concurrency,
        "requests": load.requests if isfinite(load.requests) else None,
        "lengths": "even spread" if load.recorded is None else "recorded",
        "spread": load.spread if load.recorded is None else None,
        "ttft_s": prediction.ttft.to_json(),
        "tpot_s": prediction.tpot.to_json(),
        "basis": str(prediction.tpot.basis),
        "output_tokens_per_s": prediction.output_tokens_per_s,
        "output_tokens_per_s_per_gpu": prediction.output_tokens_per_s_per_gpu,
        "gpus": prediction.gpus,
        "kv_feasible_concurrency": _finite(prediction.room.whole),
        "kv_feasible": {
            "of_whole_requests": {
                "tokens_each": prediction.room.whole_tokens,
                "expected": _finite(prediction.room.whole),
                "pessimistic": _finite(prediction.room.whole_low),
            },
            "of_mean_age": {
                "tokens_each": prediction.room.mean_tokens,
                "expected": _finite(prediction.room.mean),
                "pessimistic": _finite(prediction.room.mean_low),
            },
        },
        "max_num_seqs": prediction.sequences,
        "running": outlook.running,
        "waiting": outlook.waiting,
        "preemptions": outlook.played.preemptions if outlook.played is not None else None,
        "starts": prediction.starts,
        "evidence": prediction.evidence,
        "binding": prediction.binding,
        "tpot_parts_s": dict(prediction.shares),
        "burst_of_ttft_s": outlook.burst,
        "notes": list(prediction.notes),
    }


def answer_json(answer: Answer) -> dict[str, Any]:
    """The object of one case: its `id` with the prediction, or with `error`."""
    if answer.prediction is None:
        return {"schema": SCHEMA, "id": answer.id, "error": answer.error}
    found = to_json(answer.prediction)
    return {"schema": found.pop("schema"), "id": answer.id, **found}


def _finite(held: float | None) -> float | None:
    """None without a cache that grows, or where nothing starts."""
    return held if held is not None and isfinite(held) else None
