"""Pre-allocated LoRA slots: two thin matrices beside every linear layer, for each slot.

Source: vLLM's ``lora/layers``: A is ``[slots, rank, in]`` and B ``[slots, out, rank]`` in the
adapter's type, which is the model's by default. B is split like the layer's outputs and A like the
inputs of row-split layers; with fully sharded LoRA the rank is split too, which is not assumed.
"""

from collections.abc import Iterable

from vramledger.engine.vllm.deployment import Lora
from vramledger.engine.vllm.resident.parameter import Parameter
from vramledger.model.dtype import DType
from vramledger.model.tensor import Role

_ADAPTED = frozenset({Role.ATTENTION, Role.MLP, Role.EXPERT, Role.SHARED_EXPERT, Role.STATE})


def slot_bytes(
    parameters: Iterable[Parameter], linear: frozenset[str], lora: Lora, dtype: DType
) -> int:
    """Bytes of all slots on one rank.

    `linear` names the parameters that are linear layers. Every fused piece has an A of its own.
    """
    adapted = (p for p in parameters if p.name in linear and p.role in _ADAPTED)
    per_rank = sum(
        (len(parameter.outs) * parameter.inp + parameter.out) * parameter.copies
        for parameter in adapted
    )
    return lora.max_loras * lora.max_rank * per_rank * dtype.nbytes
