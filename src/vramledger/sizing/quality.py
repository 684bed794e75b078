"""Which evidence of quality a smaller precision owes before it may be bought."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from vramledger.methods.shadow.evidence import Evidence, read_evidence
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


def evidence_named(evidence: QualityEvidence, folder: Path = Path()) -> tuple[str, ...]:
    """What a plan says about its evidence and what that shows, as a note; none where it says nothing.

    `folder` is the plan's, from which the file is named.
    """
    if evidence.shadow is None and evidence.min_agreement is None:
        return ()
    where = f" in {evidence.shadow}" if evidence.shadow else ""
    least = "" if evidence.min_agreement is None else f" of at least {evidence.min_agreement:.1%}"
    must = f"A smaller precision must show agreement{least}{where}"
    if evidence.shadow is None:
        return (f"{must}; vram trial shadow measures it.",)
    path = folder / evidence.shadow
    if not path.exists():
        return (
            f"{must}; it is not there yet, and vram trial shadow -o {evidence.shadow} writes it.",
        )
    return (f"{must}: {_shown(read_evidence(path), evidence.min_agreement)}",)


def _shown(found: Evidence, least: float | None) -> str:
    """What the file shows, as the rest of a sentence."""
    shown = (
        f"{found.model_b} agrees with {found.model_a} in {found.value:.2%} of tokens ({found.low:.2%} to {found.high:.2%}, "
        f"{found.answered} prompts)"
    )
    if found.rehearsed:
        return f"{shown}, but of a rehearsal, which is no evidence."
    if least is None:
        return f"{shown}."
    holds = found.holds(least)
    said = {True: "it holds", False: "it does not hold", None: "too few prompts to decide"}
    return f"{shown}; {said[holds]}."
