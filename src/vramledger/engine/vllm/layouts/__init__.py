"""Which ways of spreading a model vLLM accepts, and the rule that forbids each other one."""

from vramledger.engine.vllm.layouts.legality import (
    Refusal,
    refusals,
    tensor_parallel_choices,
)

__all__ = ["Refusal", "refusals", "tensor_parallel_choices"]
