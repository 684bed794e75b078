"""The element type weights and activations run in. Source: vLLM's ``_get_and_verify_dtype``."""

from typing import Final

from vramledger.engine.setting import Origin, Setting
from vramledger.engine.vllm.rules import Rules
from vramledger.errors import UnknownName
from vramledger.hardware.accelerator import Accelerator, Vendor
from vramledger.model.dtype import DType
from vramledger.model.model import Model, ModelKind

NAMES: Final = {
    "half": DType.FLOAT16,
    "float16": DType.FLOAT16,
    "float": DType.FLOAT32,
    "float32": DType.FLOAT32,
    "bfloat16": DType.BFLOAT16,
}
_NOT_FLOAT16: Final = frozenset({"gemma2", "gemma3", "gemma3_text", "plamo2", "glm4"})
_OLD_BFLOAT16: Final = frozenset({"gemma2", "gemma3", "gemma3_text"})  # before the rule was general
_RUNNING: Final = frozenset({DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16})


def supports_bfloat16(gpu: Accelerator) -> bool:
    """Whether the device computes in bfloat16; NVIDIA from compute capability 8.0."""
    if gpu.vendor is not Vendor.NVIDIA or gpu.compute_capability is None:
        return True
    return gpu.compute_capability >= (8, 0)


def needs_bfloat16(model: Model) -> bool:
    """Whether vLLM refuses float16 for this model as numerically unstable."""
    return model.model_type in _NOT_FLOAT16


def resolve_dtype(
    given: str | None, model: Model, gpu: Accelerator, rules: Rules
) -> Setting[DType]:
    """The element type after ``auto``.

    Raises:
        UnknownName: no such element type.
    """
    if given is not None and given.casefold() != "auto":
        dtype = NAMES.get(given.casefold())
        if dtype is None:
            raise UnknownName("value of --dtype", given, NAMES)
        return Setting(dtype, Origin.GIVEN)
    stored = model.dtype if model.dtype in _RUNNING else DType.FLOAT32
    if stored is DType.FLOAT32:
        chosen = _for_float32(model, gpu, rules)
        return Setting(chosen, Origin.DERIVED, f"The checkpoint is float32 and runs as {chosen}.")
    if stored is DType.BFLOAT16 and rules.falls_back_to_float16 and not supports_bfloat16(gpu):
        chosen = DType.FLOAT32 if needs_bfloat16(model) else DType.FLOAT16
        return Setting(
            chosen, Origin.DERIVED, f"{gpu.name} has no bfloat16, so the model runs as {chosen}."
        )
    return Setting(stored, Origin.DERIVED)


def _for_float32(model: Model, gpu: Accelerator, rules: Rules) -> DType:
    """What a float32 checkpoint runs as."""
    if not rules.bfloat16_for_float32:
        return DType.BFLOAT16 if model.model_type in _OLD_BFLOAT16 else DType.FLOAT16
    bfloat16 = supports_bfloat16(gpu)
    if model.kind is ModelKind.ENCODER and not needs_bfloat16(model):
        return DType.FLOAT16
    if bfloat16:
        return DType.BFLOAT16
    return DType.FLOAT32 if needs_bfloat16(model) else DType.FLOAT16
