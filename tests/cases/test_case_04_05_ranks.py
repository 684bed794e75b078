"""Every line is per rank: two cards hold one copy of the tokens, and MHA costs what it costs."""

from collections.abc import Callable
from typing import Any

import pytest

Ask = Callable[..., Any]
R1_14B = (
    "VLLM_USE_V1=0 vllm serve deepseek-ai/DeepSeek-R1-Distill-Qwen-14B -tp 2 "
    "--gpu-memory-utilization 0.98 --max-model-len 131072"
)


def test_two_cards_do_not_add_up_one_ranks_ledger(ledger: Ask) -> None:
    said = ledger(R1_14B, "RTX-4090", "0.7.2", "--json")
    assert said.code == 1
    assert [rank["rank"] for rank in said.json["ranks"]] == [0, 1]
    first, second = said.json["ranks"]
    assert first["weights_gib"]["value"] == pytest.approx(13.9476, rel=0.005)
    # The log the user read is the second rank's; the first samples and has less.
    assert second["kv_cache_gib"]["value"] == pytest.approx(8.69, rel=0.02)
    assert first["kv_cache_gib"]["value"] == pytest.approx(7.46, rel=0.02)
    assert said.json["kv"]["tokens"]["value"] == pytest.approx(81_536, rel=0.02)
    assert said.json["kv"]["bytes_per_block"] == 16 * 48 * 4 * 128 * 2 * 2  # 4 of 8 KV heads
    assert said.json["reason"].startswith(
        "One request of max_model_len 131072 does not fit: it needs 12.00 GiB of KV cache and "
    )


def test_an_mha_model_costs_256_kib_a_token_on_each_of_two_ranks(ledger: Ask) -> None:
    launch = "vllm serve deepseek-ai/deepseek-coder-6.7b-instruct -tp 2 --dtype half"
    said = ledger(launch, "T4", "0.4.2", "--json")
    assert len(said.json["ranks"]) == 2
    first, second = said.json["ranks"]
    assert first["kv_cache_gib"]["value"] == second["kv_cache_gib"]["value"] > 0
    assert said.json["kv"]["bytes_per_block"] == 16 * 256 * 1024
    assert said.json["kv"]["block_size"] == 16


def test_five_hundred_and_seven_blocks_are_8112_tokens(ledger: Ask) -> None:
    launch = (
        "vllm serve deepseek-ai/deepseek-coder-6.7b-instruct -tp 2 --dtype half "
        "--max-model-len 4096 --num-gpu-blocks-override 507"
    )
    said = ledger(launch, "T4", "0.4.2", "--json")
    assert said.json["kv"]["num_blocks"] == 507
    assert said.json["kv"]["tokens"]["value"] == 8_112
    assert "blocks given by hand" in said.json["kv"]["tokens"]["source"]


def test_a_card_without_bfloat16_is_named(ledger: Ask) -> None:
    said = ledger("vllm serve deepseek-ai/deepseek-coder-6.7b-instruct -tp 2", "T4", "0.4.2")
    assert said.code == 1
    assert said.text.startswith(
        "DOES NOT FIT: T4 has no bfloat16 (it needs compute capability 8.0); vLLM refuses to "
        "start. Use --dtype half. (A12)"
    )
