"""What holds on any engine: weights, what a token costs, and how tensors can be split."""

from typing import Final

from vramledger.engine.launch import Launch
from vramledger.engine.vllm.layouts import tensor_parallel_choices
from vramledger.engine.vllm.versions import rules_for
from vramledger.evidence import Figure
from vramledger.frozen import frozen
from vramledger.model.inspection import Inspection, inspect
from vramledger.model.model import Model
from vramledger.units import GIB

_MOST_RANKS: Final = 16


@frozen
class Independent:
    """The part of an account that needs no engine; `reason` says why the rest is missing."""

    engine: str
    inspection: Inspection
    weights: Figure  # GiB as stored, over all GPUs
    splits: tuple[int, ...]  # tensor-parallel sizes that heads, widths and scales allow
    reason: str


def independent(launch: Launch, model: Model) -> Independent:
    """The engine-independent part for a launch of an engine whose account is not kept yet."""
    return Independent(
        engine=launch.engine,
        inspection=inspect(model),
        weights=Figure.sharp(model.weights_bytes / GIB, model.weights_basis, "tensors as stored"),
        splits=tensor_parallel_choices(model, rules_for(None).rules, _MOST_RANKS),
        reason=(
            f"{launch.engine} is recognised, but its memory policy is not accounted for yet; what "
            "holds on any engine is given."
        ),
    )
