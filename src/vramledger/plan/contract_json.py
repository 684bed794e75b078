"""A contract as JSON holds it, so that a run can be judged when its plan is gone."""

from collections.abc import Mapping
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.plan.requirement import Contract, LatencyLimit

LATER: Final = (
    "minutes_of_load",
    "kv_free",
    "preemptions_per_1000",
    "memory_growth_gib_per_hour",
    "model_reported",
    "context_tokens",
    "requests_per_minute",
    "billed_within",
)  # which a run of an earlier version lacks


def contract_to_json(contract: Contract) -> dict[str, Any]:
    """Thresholds by their names in a plan; percentiles are shares (0..1), times seconds."""
    return {
        "latency": {
            name: [
                {
                    "input_max": limit.input_max,
                    "input_min": limit.input_min,
                    "output_max": limit.output_max,
                    "output_min": limit.output_min,
                    "percentiles": {repr(share): s for share, s in limit.percentiles.items()},
                }
                for limit in limits
            ]
            for name, limits in contract.latency.items()
        },
        "success": contract.success,
        "queue_must_drain": contract.queue_must_drain,
        "done_by": contract.done_by,
        "requests_per_hour": contract.requests_per_hour,
        **{name: getattr(contract, name) for name in LATER},
    }


def contract_from_json(found: Mapping[str, Any]) -> Contract:
    """What `contract_to_json` made.

    Raises:
        BadInput: it is none.
    """
    from vramledger.plan.contract import LATENCIES

    try:
        latency = sorted(found["latency"].items(), key=lambda each: LATENCIES.index(each[0]))
        return Contract(
            latency={name: tuple(_limit(each) for each in limits) for name, limits in latency},
            success=found["success"],
            queue_must_drain=found["queue_must_drain"],
            done_by=found["done_by"],
            requests_per_hour=found["requests_per_hour"],
            **{name: found.get(name) for name in LATER},
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        raise BadInput(
            "The contract in run.json is none that vram wrote; use an unchanged copy of the run."
        ) from None


def _limit(found: Mapping[str, Any]) -> LatencyLimit:
    shares = {float(share): float(seconds) for share, seconds in found["percentiles"].items()}
    ends = {name: found.get(name) for name in ("input_min", "output_max", "output_min")}
    return LatencyLimit(found["input_max"], shares, **ends)
