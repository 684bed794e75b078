"""Recurrent states on one rank: bytes, element types, and how many a request is counted for.

Sources: vllm/model_executor/layers/mamba/mamba_utils.py (shapes and types),
vllm/model_executor/models/config.py (modes and defaults by class).
"""

from math import prod
from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.kv.demand import Stateful
from vramledger.engine.vllm.kv.family import family_of
from vramledger.engine.vllm.rules import StateBlocks
from vramledger.errors import UnknownName
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Vendor
from vramledger.model.cache import RecurrentState, StateKind, StatePart
from vramledger.model.dtype import DType
from vramledger.units import div_ceil

# Classes whose states could be kept for every block, by model_type.
_KEEPS_EVERY_BLOCK: Final = frozenset(
    {
        "bamba",
        "falcon_h1",
        "falcon_mamba",
        "granitemoehybrid",
        "jamba",
        "mamba",
        "mamba2",
        "nemotron_h",
        "zamba2",
    }
)
_DRAFT_SLOTS_IN_CONVOLUTION: Final = frozenset(
    {StateKind.MAMBA2, StateKind.GATED_DELTA, StateKind.KDA, StateKind.SHORT_CONV}
)
_CHECKPOINTS: Final = frozenset({StateKind.MAMBA2})
_STATE_DTYPES: Final = {
    "float32": DType.FLOAT32,
    "float16": DType.FLOAT16,
    "bfloat16": DType.BFLOAT16,
}


@frozen
class _ClassDefault:
    """The type of the recurrent part that a class asks for, from a family on."""

    since: tuple[int, int]
    dtype: DType


# Classes whose own default differs from the convolution's type (newest row that applies).
_CLASS_DEFAULTS: Final = {
    "nemotron_h": (
        _ClassDefault((0, 13), DType.FLOAT16),
        _ClassDefault((0, 20), DType.FLOAT32),
    ),
    "qwen3_5": (_ClassDefault((0, 17), DType.FLOAT32),),
    "qwen3_5_moe": (_ClassDefault((0, 17), DType.FLOAT32),),
}


def state_use(deployment: Deployment, state: RecurrentState) -> Stateful:
    """Blocks one request is counted for, by version, prefix caching and class."""
    drafts = deployment.draft_tokens
    kind = str(state.kind)
    rule = deployment.rules.state_blocks
    if rule is StateBlocks.ONE:
        return Stateful(kind, blocks=1, running=1)
    declared = deployment.model.model_type in _KEEPS_EVERY_BLOCK
    caching = deployment.enable_prefix_caching.value
    if rule is StateBlocks.EVERY_BLOCK:
        every = caching and declared
        return Stateful(kind, 0 if every else 1, 0 if every else 1, every_block=every)
    if not caching:
        return Stateful(kind, blocks=1 + drafts, running=1 + drafts)
    if rule is StateBlocks.ALL_OR_ALIGN and declared and not drafts:
        return Stateful(kind, blocks=0, running=0, every_block=True)
    checkpoints = _checkpoint_blocks(deployment, state)
    return Stateful(kind, blocks=2 + drafts + checkpoints, running=2 + drafts)


def _checkpoint_blocks(deployment: Deployment, state: RecurrentState) -> int:
    return deployment.rules.mamba_checkpoint_blocks if state.kind in _CHECKPOINTS else 0


def state_bytes(deployment: Deployment, state: RecurrentState) -> int:
    """Bytes of one layer's whole state for one request on one rank."""
    return sum(_part_bytes(deployment, state, part) for part in state.parts)


def _part_bytes(deployment: Deployment, state: RecurrentState, part: StatePart) -> int:
    tp = deployment.layout.tp
    width, *rest = part.shape
    if part.recurrent:
        return div_ceil(width, tp) * prod(rest) * _recurrent_dtype(deployment, part).nbytes
    if part.groups and part.groups % tp:
        width += 2 * (tp - part.groups) * part.group_width
    drafts = deployment.draft_tokens if state.kind in _DRAFT_SLOTS_IN_CONVOLUTION else 0
    positions = prod(rest) + drafts
    return div_ceil(width, tp) * positions * _convolution_dtype(deployment, part).nbytes


def _convolution_dtype(deployment: Deployment, part: StatePart) -> DType:
    return _asked(deployment.mamba_cache_dtype.value) or part.dtype or deployment.dtype.value


def _recurrent_dtype(deployment: Deployment, part: StatePart) -> DType:
    asked = _asked(deployment.mamba_ssm_cache_dtype.value)
    if asked is not None:
        return asked
    if deployment.accelerator.vendor is Vendor.CPU and part.dtype is None:
        return _on_cpu(deployment, part)
    return part.dtype or _class_default(deployment) or _convolution_dtype(deployment, part)


def _on_cpu(deployment: Deployment, part: StatePart) -> DType:
    # The CPU platform resets the state to float32 where bfloat16 instructions exist.
    if "BF16" in deployment.accelerator.architecture:
        return DType.FLOAT32
    return _class_default(deployment) or _convolution_dtype(deployment, part)


def _class_default(deployment: Deployment) -> DType | None:
    family = family_of(deployment.rules)
    rows = _CLASS_DEFAULTS.get(deployment.model.model_type, ())
    applying = [row.dtype for row in rows if row.since <= family]
    return applying[-1] if applying else None


def _asked(name: str) -> DType | None:
    if name == "auto":
        return None
    if name not in _STATE_DTYPES:
        raise UnknownName("state cache type", name, ["auto", *_STATE_DTYPES])
    return _STATE_DTYPES[name]
