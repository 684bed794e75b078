"""Budgets that do not close: utilization 1.0, a small model that takes the card, 2 GiB short."""

from collections.abc import Callable
from typing import Any

import pytest

Ask = Callable[..., Any]
SMALL = "vllm serve meta-llama/Llama-3.2-3B-Instruct --gpu-memory-utilization "


def test_a_full_utilization_leaves_nothing_for_driver_and_graphs(ledger: Ask) -> None:
    said = ledger(f"{SMALL}1.0", "RTX-4080", "0.6.4", "--json")
    assert said.code == 1
    assert said.json["reason"].startswith(
        "One request of max_model_len 131072 does not fit: it needs 14.00 GiB of KV cache and "
    )
    assert said.finding("A01")["message"].startswith(
        "Only 0.00 GiB of the card stay outside the budget. CUDA graphs, context, fragmentation "
        "and the sampler's warm-up are expected to take "
    )
    assert said.finding("A16")["message"].startswith(
        "It starts with any of these: --gpu-memory-utilization 0.97 --max-model-len "
    )


def test_the_largest_length_is_given_at_utilizations_that_work(ledger: Ask) -> None:
    full = ledger(f"{SMALL}1.0", "RTX-4080", "0.6.4", "--solve", "max-model-len")
    assert full.code == 1
    assert "Largest max_model_len at other utilizations: " in full.text
    lengths = []
    for share in ("0.90", "0.95"):
        said = ledger(f"{SMALL}{share}", "RTX-4080", "0.6.4", "--solve", "max-model-len", "--json")
        assert said.code == 0
        lengths.append(said.json["value"])
        assert f"{said.json['value']:,} tokens at {share}" in full.text
    # 14 GiB hold 131,072 tokens; six to seven GiB are left at these shares.
    assert 45_000 < lengths[0] < lengths[1] < 66_000


def test_the_cache_of_one_full_request_is_fourteen_gib(ledger: Ask) -> None:
    said = ledger(f"{SMALL}0.9", "H100-80GB-SXM", "0.6.4", "--solve", "kv-cache-memory-bytes")
    assert said.code == 3
    assert said.error == (
        "vram: vLLM 0.6.4 has no --kv-cache-memory-bytes (0.10.2 and later have); ask for "
        "gpu-memory-utilization instead.\n"
    )
    new = ledger(
        f"{SMALL}0.9", "H100-80GB-SXM", "0.11.0", "--solve", "kv-cache-memory-bytes", "--json"
    )
    page = 28 * 8 * 128 * 2 * 2 * 16
    assert new.json["value"] == 14 * 2**30 + page


def test_a_small_model_takes_the_card_by_design_and_needs_a_tenth(ledger: Ask) -> None:
    launch = "vllm serve meta-llama/Llama-3.2-1B-Instruct"
    said = ledger(launch, "A100-80GB-SXM", "0.9.1", "--request-tokens", "4K", "--json")
    assert said.code == 0
    assert said.json["ranks"][0]["kv_cache_gib"]["value"] > 60
    idle = said.finding("A14")
    assert idle["message"].endswith(
        "The engine takes what the budget leaves whether it needs it or not; --solve "
        "gpu-memory-utilization says what would do."
    )
    assert idle["effect_gib"] < -20
    words = ("--concurrent", "8", "--request-tokens", "4K")
    least = ledger(
        launch, "A100-80GB-SXM", "0.9.1", "--solve", "gpu-memory-utilization", *words, "--json"
    )
    assert least.code == 0
    assert 0.05 <= least.json["value"] <= 0.12
    exact = ledger(
        launch, "A100-80GB-SXM", "0.11.0", "--solve", "kv-cache-memory-bytes", *words, "--json"
    )
    assert exact.json["value"] == (131_072 // 16 + 1) * 16 * 32 * 1024  # one full-length request


def test_a_gap_of_two_gib_is_closed_by_utilization_or_rows_not_by_batched_tokens(
    ledger: Ask,
) -> None:
    launch = "VLLM_MXFP4_USE_MARLIN=1 vllm serve openai/gpt-oss-120b"
    said = ledger(launch, "H100-80GB-SXM", "0.10.1", "--json")
    assert said.code == 1
    rank = said.json["ranks"][0]
    assert rank["weights_gib"]["value"] == pytest.approx(65.9651, rel=0.005)
    assert rank["kv_cache_gib"]["value"] == pytest.approx(-2.14, abs=0.15)
    assert said.finding("A16")["message"].startswith(
        "It starts with any of these: --gpu-memory-utilization 0.95 --max-model-len "
    )
    assert "; --max-num-seqs 512 --max-model-len " in said.finding("A16")["message"]
    assert "max-num-batched-tokens" not in said.finding("A16")["message"]
    levers = {lever["change"]: lever for lever in said.json["levers"]}
    assert levers["--max-num-seqs 512"]["effect_gib"] > 2.14


def test_the_smaller_sibling_works(ledger: Ask) -> None:
    said = ledger("vllm serve openai/gpt-oss-20b", "H100-80GB-SXM", "0.10.1", "--json")
    assert said.code == 0
    assert said.json["ranks"][0]["kv_cache_gib"]["value"] > 45
