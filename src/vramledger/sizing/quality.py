"""Which evidence of quality a smaller precision owes before it may be bought."""

from typing import Final

from vramledger.sizing.candidate import Precision

_WEIGHTS: Final = {
    "fp8": "FP8 weights: compare answers with the stored checkpoint on your own requests.",
    "awq": "AWQ 4-bit weights: compare answers, and long and non-English ones apart.",
    "gptq": "GPTQ 4-bit weights: compare answers, and long and non-English ones apart.",
    "bitsandbytes": "4-bit weights made at load: compare answers, and long ones apart.",
}
_KV: Final = (
    "FP8 KV cache: compare answers on long inputs with this engine version and attention backend; "
    "the effect depends on both and on whether the checkpoint brings scales."
)


def evidence_owed(precision: Precision) -> tuple[str, ...]:
    """Sentences, none where the checkpoint is served as it is stored."""
    owed = []
    if precision.weights != "as-stored":
        owed.append(
            _WEIGHTS.get(precision.weights, f"{precision.weights} weights: compare answers.")
        )
    if precision.kv not in ("auto", "bfloat16", "float16"):
        owed.append(_KV)
    return tuple(owed)
