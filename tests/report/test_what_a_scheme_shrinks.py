"""Each quantisation scheme says which of weights, activations and KV cache it shrinks."""

import pytest

from vramledger.cli.main import run


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (
            "RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic",
            "shrinks weights and activations; KV cache as without it",
        ),
        (
            "Qwen/Qwen2.5-72B-Instruct-AWQ",
            "shrinks weights; activations and KV cache as without it",
        ),
        ("nvidia/Llama-3.1-70B-Instruct-FP8", "shrinks weights and activations and KV cache"),
        ("openai/gpt-oss-120b", "shrinks weights; activations and KV cache as without it"),
    ],
)
def test_inspect_says_what_the_scheme_shrinks(
    model: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["inspect", model]) == 0
    assert f"  {sentence}\n" in capsys.readouterr().out
