"""What a multimodal encoder holds while vLLM profiles memory."""

from dataclasses import replace
from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.frozen import frozen
from vramledger.model.model import ModelKind, TowerInput

_TOWER_WIDTHS: Final = (
    11  # widths alive per position: MLP in and out (4 + 4), residual, norm, input
)


@frozen
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
    outputs = items * tower.tokens * tower.levels * deployment.model.text.hidden * element
    inputs = items * tower.pixels * element
    work = items * tower.patches * tower.hidden * element * _TOWER_WIDTHS
    kept = outputs + inputs + tower.table_bytes
    return EncoderWork(items, kept, inputs + tower.table_bytes + work, tower.modality)


def _profiled_tower(deployment: Deployment) -> TowerInput | None:
    if deployment.skip_mm_profiling.value:
        return None
    limits = deployment.limit_mm_per_prompt
    allowed = [t for t in deployment.model.towers if limits.get(t.modality, 1) > 0 and t.tokens > 0]
    sized = (_as_long_as_profiled(deployment, tower) for tower in allowed)
    return max(sized, key=lambda tower: tower.tokens, default=None)


def _as_long_as_profiled(deployment: Deployment, tower: TowerInput) -> TowerInput:
    """A video of as many frames as one prompt takes and the profile run asks for (V1).

    Source: get_num_frames_with_most_features of vllm/model_executor/models/qwen2_vl.py.
    """
    if not tower.frames_each or not deployment.rules.v1:
        return tower
    length = deployment.max_model_len.value or deployment.model.text.max_positions
    if not deployment.rules.dummy_video_alone:
        length -= tower.tokens
    most = deployment.rules.dummy_video_frames // tower.frames_each
    times = max(1, min(most, length // tower.tokens))
    return replace(
        tower,
        pixels=tower.pixels * times,
        tokens=tower.tokens * times,
        patches=tower.patches * times,
    )


def _profiled_items(deployment: Deployment, tower: TowerInput) -> int:
    """How many largest items are encoded at once while profiling.

    V1 takes what the encoder budget holds: the batch, or one item where that is longer. V0 gives
    an item to every sequence: all of them with an encoder-decoder model, else as many as the batch
    has room for.
    """
    rows = deployment.max_num_seqs.value
    if not deployment.rules.v1 and deployment.model.kind is ModelKind.ENCODER_DECODER:
        return rows
    budget = max(deployment.max_num_batched_tokens.value, tower.tokens)
    items = max(1, budget // tower.tokens)
    each = deployment.limit_mm_per_prompt.get(
        tower.modality, 1 if not deployment.rules.v1 else None
    )
    return items if each is None else min(items, each * rows)
