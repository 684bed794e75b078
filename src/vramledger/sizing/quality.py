"""Which evidence of quality a smaller precision owes before it may be bought."""

from collections.abc import Mapping
from typing import Final

from vramledger.plan.requirement import QualityEvidence
from vramledger.sizing.candidate import Precision
from vramledger.sizing.served import AS_STORED

_WEIGHTS: Final[Mapping[str, str]] = {
    "fp8": "FP8 weights: compare answers with the stored checkpoint on your own requests.",
    "awq": "AWQ 4-bit weights: compare answers, and long and non-English ones apart.",
    "gptq": "GPTQ 4-bit weights: compare answers, and long and non-English ones apart.",
    "int4": "INT4 weights: compare answers, and long and non-English ones apart.",
    "int8": "INT8 weights and activations: compare answers with the stored checkpoint.",
    "nvfp4": "NVFP4 weights and activations: compare answers, and long ones and tool calls apart.",
    "mxfp4": "MXFP4 weights: compare answers, and long ones and tool calls apart.",
    "bitsandbytes": "4-bit weights made at load: compare answers, and long ones apart.",
}
_KV: Final = (
    "FP8 KV cache: compare answers on long inputs with this engine version and attention backend; "
    "the effect depends on both and on whether the checkpoint brings scales."
)
_SIXTEEN_BIT: Final = frozenset({"auto", "bfloat16", "float16"})


def evidence_owed(precision: Precision) -> tuple[str, ...]:
    """Sentences, none where the checkpoint is served as it is stored."""
    owed = []
    if precision.weights != AS_STORED:
        plain = f"{precision.weights} weights: compare answers with the stored checkpoint."
        owed.append(_WEIGHTS.get(precision.weights, plain))
    if precision.kv not in _SIXTEEN_BIT:
        owed.append(_KV if precision.kv.startswith("fp8") else f"{precision.kv} {_KV[4:]}")
    return tuple(owed)


def evidence_named(evidence: QualityEvidence) -> tuple[str, ...]:
    """What a plan says about its evidence, as a note; none where it says nothing."""
    if evidence.shadow is None and evidence.min_agreement is None:
        return ()
    where = f" in {evidence.shadow}" if evidence.shadow else ""
    least = "" if evidence.min_agreement is None else f" of at least {evidence.min_agreement:.1%}"
    return (f"A smaller precision must show agreement{least}{where}; it was not read here.",)
