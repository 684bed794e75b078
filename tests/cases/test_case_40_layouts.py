"""Six GPUs and 40 or 64 heads: which layouts are legal, each with its account."""

from collections.abc import Callable
from typing import Any

import pytest

Ask = Callable[..., Any]


def test_six_gpus_do_not_divide_forty_heads(ledger: Ask) -> None:
    said = ledger("vllm serve Qwen/Qwen3-14B -tp 6", "L4", "0.11.0")
    assert said.code == 2
    assert said.error == (
        "vram: The 40 attention heads are not divisible by a tensor-parallel size of 6; choose one "
        "that divides 40. Legal tensor-parallel sizes up to 16: 1, 2, 4, 8. With 6 GPUs: TP 2 x "
        "PP 3, TP 2 x DP 3, TP 1 x PP 6, TP 1 x DP 6; --layouts 6 accounts for each.\n"
    )


def test_six_gpus_do_not_divide_sixty_four_heads(ledger: Ask) -> None:
    said = ledger("vllm serve meta-llama/Llama-3.1-70B-Instruct -tp 6", "L4", "0.11.0")
    assert said.code == 2
    assert said.error.startswith(
        "vram: The 64 attention heads are not divisible by a tensor-parallel size of 6; choose one "
        "that divides 64. Legal tensor-parallel sizes up to 16: 1, 2, 4, 8, 16. With 6 GPUs: TP 2 "
        "x PP 3, "
    )


def test_five_divides_forty_heads_and_not_the_vocabulary(ledger: Ask) -> None:
    said = ledger("vllm serve Qwen/Qwen3-14B -tp 5", "L4", "0.11.0")
    assert said.code == 2
    assert said.error.startswith(
        "vram: The vocabulary of 151936 tokens, padded to 151936, is not divisible by a "
        "tensor-parallel size of 5; choose one that divides 151936. Legal tensor-parallel sizes up "
        "to 16: 1, 2, 4, 8."
    )


@pytest.mark.parametrize(
    ("model", "card", "holds"),
    [
        ("Qwen/Qwen3-14B", "L4", {(1, 6, 1), (2, 3, 1), (1, 3, 2), (4, 1, 1), (2, 1, 3)}),
        ("meta-llama/Llama-3.1-70B-Instruct", "L40S", {(2, 3, 1), (1, 6, 1)}),
    ],
)
def test_every_legal_layout_has_an_account(
    ledger: Ask, model: str, card: str, holds: set[tuple[int, int, int]]
) -> None:
    launch = f"vllm serve {model} --max-model-len 16384"
    said = ledger(launch, card, "0.11.0", "--layouts", "6", "--json")
    assert said.code == 0
    layouts = {(row["tp"], row["pp"], row["dp"]): row for row in said.json["layouts"]}
    assert {shape for shape, row in layouts.items() if row["fits"]} >= holds
    assert {shape for shape, row in layouts.items() if not row["legal"]} == {
        (6, 1, 1), (3, 2, 1), (3, 1, 2)
    }  # fmt: skip
    for shape, row in layouts.items():
        assert row["idle_gpus"] == 6 - shape[0] * shape[1] * shape[2]
    alone = ledger(f"{launch} -tp 2 -pp 3", card, "0.11.0", "--json")
    assert layouts[2, 3, 1]["kv_tokens"] == alone.json["kv"]["tokens"]["value"]


def test_the_table_says_what_is_refused_and_why(ledger: Ask) -> None:
    said = ledger("vllm serve Qwen/Qwen3-14B", "L4", "0.11.0", "--layouts", "5")
    assert "Refused:\n  TP 5: The vocabulary of 151936 tokens, padded to 151936, " in said.text
    assert "\nTP 1 x PP 5 " in said.text


@pytest.mark.parametrize("gpus", ["0", "-3", "100000"])
def test_an_absurd_number_of_gpus_is_one_sentence(ledger: Ask, gpus: str) -> None:
    said = ledger("vllm serve Qwen/Qwen3-14B", "L4", "0.11.0", "--layouts", gpus)
    assert said.code == 2
    assert said.error == f"vram: --layouts is {gpus}; ask for 1 to 256 GPUs.\n"
