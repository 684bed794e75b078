"""What counts as slow: the contract that a run carries, where it says anything of a latency; fixed figures else.

A latency is held against each limit of its contract in its own class of length: its percentile over the limit is the ratio, and the worst ratio
counts. At 1 the limit is broken.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.errors import VramError
from vramledger.frozen import frozen
from vramledger.plan.requirement import Contract, LatencyLimit

if TYPE_CHECKING:
    from vramledger.diagnose.seen.requests import Requests
    from vramledger.plan.requirement import Requirement
    from vramledger.record.document import Description

    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
    Truths: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

FIXED: Final = (
    "No contract is in the run, so fixed figures decide what is slow: 2 s to the first token (p95), 50 to 80 ms a token (200 to 500 ms on a processor), "
    "0.2 to 1.5 s in the engine's queue."
)


@frozen
class Slow:
    """Ratios of the worst percentile to its limit, NaN where the contract has no such limit or nothing was measured; `said` is which decides."""

    said: str = FIXED
    ttft: float = np.nan
    tpot: float = np.nan
    queue: float = np.nan

    @property
    def by_contract(self) -> bool:
        """Whether a contract decides anything."""
        return self.said != FIXED


def slow_of(description: "Description", requests: "Requests") -> Slow:
    """The contract of a run held against its requests."""
    contract = contract_of(description)
    if contract is None or not len(requests):
        return Slow()
    told = {
        "ttft_s": requests.ttft_s,
        "tpot_s": requests.tpot_s,
        "queue_s": requests["queue_s"],
    }
    ratios = {name: _worst(contract.latency.get(name, ()), values, requests) for name, values in told.items()}  # fmt: skip
    lines = [
        line for line in contract.lines if line.partition(" ")[0] in told and np.isfinite(ratios[line.partition(" ")[0]])
    ]  # fmt: skip
    if not lines:
        return Slow()
    said = f"The contract in the run decides what is slow: {'; '.join(lines)}. What it says nothing of is judged by fixed figures."
    return Slow(said, ratios["ttft_s"], ratios["tpot_s"], ratios["queue_s"])


def contract_of(description: "Description") -> Contract | None:
    """The contract that a run carries by itself, or that of its plan's scenario; None for none, or one that cannot be read."""
    from vramledger.plan.contract_json import contract_from_json

    trial = (description.model_extra or {}).get("trial")
    stated = trial.get("contract") if isinstance(trial, Mapping) else None
    try:
        if stated is not None:
            return contract_from_json(stated)
        plan = _plan_of(description)
    except VramError:
        return None
    if plan is None:
        return None
    named = [each for each in plan.scenarios if each.name == description.scenario]
    scenarios = named or (plan.scenarios if len(plan.scenarios) == 1 else ())
    return scenarios[0].contract if scenarios else None


def _plan_of(description: "Description") -> "Requirement | None":
    """The plan in a run as its requirement; None for none, or one that names what is not here."""
    from vramledger.plan.read import parse_plan

    if description.plan is None:
        return None
    try:
        return parse_plan(description.plan.text)
    except VramError:
        return None


def _worst(limits: "tuple[LatencyLimit, ...]", values: "Floats", requests: "Requests") -> float:
    """The worst ratio of a percentile to its limit over the classes of length."""
    ratios = [np.nan]
    outputs = requests["output_tokens_got"]
    for limit in limits:
        inside = _of_class(limit, requests.input_tokens, outputs) & np.isfinite(values)
        if inside.any():
            ratios += [float(np.quantile(values[inside], share)) / most for share, most in limit.percentiles.items() if most > 0]  # fmt: skip
    told = [each for each in ratios if np.isfinite(each)]
    return max(told) if told else np.nan


def _of_class(limit: LatencyLimit, inputs: "Floats", outputs: "Floats") -> "Truths":
    if limit.is_of_all:
        return np.ones(len(inputs), np.bool_)
    return np.fromiter((limit.holds(*each) for each in zip(inputs, outputs, strict=True)), np.bool_, len(inputs))  # fmt: skip
