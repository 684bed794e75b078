"""Pre-allocated LoRA slots: two thin matrices beside every linear layer, for each slot.

Source: vLLM's ``lora/layers``: A is ``[slots, rank, in]`` and B ``[slots, out, rank]`` in the
model's type. B is cut like the layer's outputs and A like the inputs of row-split layers; fully
sharded adapters are not assumed. Embedding and head, where a class adapts them
(``embedding_modules``), keep their vocabulary side whole on every rank.
"""

from collections.abc import Iterable
from typing import Final

from vramledger.engine.vllm.deployment import Deployment, Lora
from vramledger.engine.vllm.resident.parameter import Parameter
from vramledger.model.tensor import Role

_TOWERS: Final = frozenset({Role.VISION, Role.AUDIO, Role.PROJECTOR, Role.DRAFT})
_VOCABULARY: Final = frozenset({Role.EMBEDDING, Role.HEAD})
_ADAPT_EMBEDDINGS: Final = frozenset(
    {
        "apertus", "cohere", "cohere2", "exaone", "exaone4", "falcon_h1", "granite",
        "granitemoe", "granitemoehybrid", "granitemoeshared", "jamba", "lfm2", "lfm2_moe",
        "llama", "minicpm", "mistral", "mixtral", "nemotron", "nemotron-nas", "nemotron_h",
        "phimoe", "qwen3", "qwen3_5_moe_text", "qwen3_5_text", "qwen3_moe", "solar",
    }
)  # fmt: skip


def slot_bytes(
    found: Iterable[Parameter], linear: frozenset[str], lora: Lora, deployment: Deployment
) -> int:
    """Bytes of all slots on one rank; `linear` names the parameters that are linear layers."""
    elements = sum(_elements(parameter, linear, lora, deployment) for parameter in found)
    return lora.max_loras * elements * deployment.dtype.value.nbytes


def _elements(
    parameter: Parameter, linear: frozenset[str], lora: Lora, deployment: Deployment
) -> int:
    """Elements of one slot beside a parameter; every fused piece has an A of its own."""
    if parameter.role in _VOCABULARY and not parameter.vector:
        return _vocabulary_elements(parameter, lora, deployment)
    if parameter.name not in linear or parameter.role in _TOWERS:
        return 0
    if parameter.role is Role.EXPERT and not deployment.rules.lora_experts:
        return 0
    sides = len(parameter.outs) * parameter.inp + parameter.out
    return lora.max_rank * sides * parameter.copies


def _vocabulary_elements(parameter: Parameter, lora: Lora, deployment: Deployment) -> int:
    model = deployment.model
    if model.model_type not in _ADAPT_EMBEDDINGS:
        return 0
    extra = deployment.rules.lora_extra_vocabulary
    thin = lora.max_rank * (model.text.vocab + extra + parameter.inp)
    return thin + extra * parameter.inp
