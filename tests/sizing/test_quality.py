"""What a smaller precision owes."""

import pytest

from vramledger.plan.requirement import QualityEvidence
from vramledger.sizing.candidate import Precision
from vramledger.sizing.quality import evidence_named, evidence_owed


def test_the_stored_checkpoint_owes_nothing() -> None:
    assert evidence_owed(Precision()) == ()
    assert evidence_owed(Precision(kv="bfloat16")) == ()


@pytest.mark.parametrize("weights", ["fp8", "awq", "nvfp4", "experts_int8"])
def test_smaller_weights_owe_a_comparison(weights: str) -> None:
    (owed,) = evidence_owed(Precision(weights))
    assert "compare answers" in owed


def test_a_smaller_cache_owes_long_inputs() -> None:
    weights, cache = evidence_owed(Precision("fp8", "fp8_e4m3"))
    assert weights == (
        "FP8 weights: compare answers with the stored checkpoint on your own requests."
    )
    assert cache.startswith("FP8 KV cache: compare answers on long inputs")
    assert evidence_owed(Precision(kv="nvfp4"))[0].startswith("nvfp4 KV cache: compare answers")


def test_a_plan_names_its_evidence() -> None:
    assert evidence_named(QualityEvidence()) == ()
    assert evidence_named(QualityEvidence("results/shadow.json", 0.98)) == (
        (
            "A smaller precision must show agreement of at least 98.0% in results/shadow.json; it is not "
            "there yet, and vram trial shadow -o results/shadow.json writes it."
        ),
    )
