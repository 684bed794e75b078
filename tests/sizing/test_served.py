"""Which checkpoint and flag serve a precision."""

import pytest

from sizing_questions import model_named
from vramledger.errors import BadInput, UnknownName
from vramledger.sizing.served import served


def of(name: str, weights: str) -> tuple[str, str | None]:
    found = served(name, model_named(name), weights, "--precision")
    return found.reference, found.quantization


def test_as_stored_is_the_model_itself() -> None:
    assert of("Qwen/Qwen3-32B", "as-stored") == ("Qwen/Qwen3-32B", None)


def test_fp8_is_made_while_loading() -> None:
    assert of("Qwen/Qwen3-32B", "fp8") == ("Qwen/Qwen3-32B", "fp8")


def test_other_precisions_are_checkpoints_of_the_catalogue() -> None:
    assert of("Qwen/Qwen3-32B", "awq") == ("Qwen/Qwen3-32B-AWQ", None)
    assert of("Qwen/Qwen3-32B", "nvfp4") == ("nvidia/Qwen3-32B-NVFP4", None)
    name = "meta-llama/Llama-3.1-8B-Instruct"
    assert of(name, "int4") == ("RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16", None)


def test_a_later_release_is_another_model() -> None:
    with pytest.raises(BadInput) as caught:
        of("Qwen/Qwen3-30B-A3B", "awq")
    assert str(caught.value) == (
        "--precision: awq weights are a checkpoint of their own, and the catalogue has none made "
        "from Qwen/Qwen3-30B-A3B; name that checkpoint as the model, as a directory or hf:org/name."
    )


def test_what_is_quantised_stays_as_it_is() -> None:
    with pytest.raises(BadInput) as caught:
        of("Qwen/Qwen3-32B-FP8", "fp8")
    assert str(caught.value) == (
        "--precision: Qwen/Qwen3-32B-FP8 is stored as fp8 already, so fp8 cannot be made of it; ask "
        "for as-stored, or name the unquantised model."
    )


def test_an_unknown_precision_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"Unknown precision 'fp9' in --precision; the nearest"):
        of("Qwen/Qwen3-32B", "fp9")
