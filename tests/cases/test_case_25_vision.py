"""Vision models that run out of memory while profiling: what fits, or that nothing useful does."""

from collections.abc import Callable
from typing import Any

import pytest

Ask = Callable[..., Any]


def test_a_72b_vision_model_does_not_fit_four_cards_of_40_gb(ledger: Ask) -> None:
    said = ledger(
        "vllm serve Qwen/Qwen2.5-VL-72B-Instruct -tp 4", "A100-40GB-SXM", "0.8.3", "--json"
    )
    assert said.code == 1
    assert said.json["ranks"][0]["weights_gib"]["value"] == pytest.approx(34.43, rel=0.005)
    assert said.json["reason"].startswith("The profile run fails: weights and the activation peak ")
    assert said.finding("A16")["message"] == (
        "No max_num_seqs, batch, length, image limit or utilization makes it start: it does not "
        "fit at a useful concurrency. Take more GPUs or a smaller precision."
    )


def test_eight_of_them_hold_it(ledger: Ask) -> None:
    said = ledger(
        "vllm serve Qwen/Qwen2.5-VL-72B-Instruct -tp 8 --max-model-len 32768 --max-num-seqs 64",
        "A100-40GB-SXM", "0.8.3", "--json",
    )  # fmt: skip
    assert said.code == 0


def test_cross_attention_on_two_small_cards_fits_with_a_shorter_limit(ledger: Ask) -> None:
    launch = "vllm serve meta-llama/Llama-3.2-11B-Vision-Instruct -tp 2"
    said = ledger(launch, "A10", "0.6.3", "--json")
    assert said.code == 1
    message = said.finding("A16")["message"]
    assert message.startswith("It starts with any of these: ")
    longest = message.rstrip(".").rsplit("--max-model-len ", 1)[1]
    again = ledger(f"{launch} --max-model-len {longest}", "A10", "0.6.3", "--json")
    assert again.code == 0


def test_few_sequences_of_usual_length_fit_the_small_cards(ledger: Ask) -> None:
    said = ledger(
        "vllm serve meta-llama/Llama-3.2-11B-Vision-Instruct -tp 2 --enforce-eager "
        "--max-num-seqs 16 --max-model-len 8192",
        "A10", "0.6.3", "--json",
    )  # fmt: skip
    assert said.code == 0
    # V0 keeps one pool: a block has a page in each of the 40 layers, and an image takes blocks too.
    assert said.json["kv"]["bytes_per_block"] == 16 * 40 * 4 * 128 * 2 * 2
    assert said.json["kv"]["capacity_tokens"]["value"] < said.json["kv"]["tokens"]["value"]
