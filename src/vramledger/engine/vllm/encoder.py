"""What a multimodal encoder holds while vLLM profiles memory."""

from dataclasses import dataclass
from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.model.model import TowerInput

_TOWER_WIDTHS: Final = (
    11  # widths alive per position: MLP in and out (4 + 4), residual, norm, input
)


@dataclass(frozen=True, slots=True)
class EncoderWork:
    """Bytes of the encoder's own peak, and of what stays alive through the decoder's run."""

    items: int = 0
    kept_bytes: int = 0
    peak_bytes: int = 0
    modality: str = ""


def encoder_work(deployment: Deployment) -> EncoderWork:
    """The profiled items of the modality with the most tokens per item; empty when none is run."""
    tower = _profiled_tower(deployment)
    if tower is None:
        return EncoderWork()
    items = _profiled_items(deployment, tower)
    element = deployment.dtype.value.nbytes
    outputs = items * tower.tokens * deployment.model.text.hidden * element
    inputs = items * tower.pixels * element
    work = items * tower.patches * tower.hidden * element * _TOWER_WIDTHS
    kept = outputs + inputs + tower.table_bytes
    return EncoderWork(items, kept, inputs + tower.table_bytes + work, tower.modality)


def _profiled_tower(deployment: Deployment) -> TowerInput | None:
    if deployment.skip_mm_profiling.value:
        return None
    limits = deployment.limit_mm_per_prompt
    allowed = [t for t in deployment.model.towers if limits.get(t.modality, 1) > 0 and t.tokens > 0]
    return max(allowed, key=lambda tower: tower.tokens, default=None)


def _profiled_items(deployment: Deployment, tower: TowerInput) -> int:
    """Largest items that fit the encoder budget: the batch, or one item where that is longer."""
    budget = max(deployment.max_num_batched_tokens.value, tower.tokens)
    most = deployment.limit_mm_per_prompt.get(tower.modality)
    items = max(1, budget // tower.tokens)
    return items if most is None else min(items, most * deployment.max_num_seqs.value)
