"""Refused lengths that look irrational, and the largest length given directly."""

from collections.abc import Callable
from typing import Any

import pytest

Ask = Callable[..., Any]


@pytest.mark.parametrize(
    ("length", "logged"), [(131_072, 23_968), (24_000, 6_592), (20_000, 10_944)]
)
def test_lowering_the_length_may_lower_the_cache_70b(ledger: Ask, length: int, logged: int) -> None:
    launch = f"vllm serve meta-llama/Llama-3.1-70B-Instruct -tp 2 --max-model-len {length}"
    said = ledger(launch, "H100-80GB-SXM", "0.5.4", "--json")
    assert said.code == 1
    tokens = said.json["kv"]["tokens"]
    assert tokens["low"] <= logged <= tokens["high"]
    assert ("A03" in said.finding_ids) == (length < 32_768)


def test_the_remedy_is_chunked_prefill_with_a_fixed_budget(ledger: Ask) -> None:
    launch = "vllm serve meta-llama/Llama-3.1-70B-Instruct -tp 2 --max-model-len 20000"
    said = ledger(launch, "H100-80GB-SXM", "0.5.4", "--json")
    found = said.finding("A03")
    assert found["message"].startswith(
        "Without chunked prefill the profile runs one prompt of max_model_len 20000, so the "
        "activation peak grows with the length: "
    )
    assert found["message"].endswith(
        "more than with --enable-chunked-prefill and 2048 batched tokens, which leaves that much "
        "more cache."
    )
    chunked = ledger(
        f"{launch} --enable-chunked-prefill --max-num-batched-tokens 2048",
        "H100-80GB-SXM",
        "0.5.4",
        "--json",
    )
    gained = (
        chunked.json["ranks"][0]["kv_cache_gib"]["value"]
        - said.json["ranks"][0]["kv_cache_gib"]["value"]
    )
    assert gained == pytest.approx(-found["effect_gib"], abs=0.01)
    assert chunked.json["kv"]["tokens"]["value"] > 20_000 > said.json["kv"]["tokens"]["high"]


def test_29k_refuses_where_20k_and_35k_start_8b(ledger: Ask) -> None:
    said = {
        length: ledger(
            f"vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len {length}",
            "RTX-3090", "0.6.4", "--total-gib", "23.58", "--json",
        )
        for length in (20_000, 29_000, 35_000)
    }  # fmt: skip
    assert said[20_000].code == 0
    assert said[29_000].code == 1
    tokens = {length: answer.json["kv"]["tokens"] for length, answer in said.items()}
    assert tokens[29_000]["low"] <= 23_648 <= tokens[29_000]["high"]
    assert said[29_000].json["ranks"][0]["activation_gib"]["value"] == pytest.approx(2.99, abs=0.02)
    assert tokens[35_000]["value"] > 35_000 > tokens[20_000]["value"] > tokens[29_000]["value"]


def test_the_largest_length_of_a_hybrid_is_direct_and_not_linear(ledger: Ask) -> None:
    launch = "vllm serve google/gemma-3-27b-it --gpu-memory-utilization "
    lengths, sizes = [], []
    for share in ("0.79", "0.83"):
        refused = ledger(f"{launch}{share}", "A100-80GB-SXM", "0.10.2", "--json")
        assert refused.code == 1
        said = ledger(f"{launch}{share}", "A100-80GB-SXM", "0.10.2", "--solve", "max-model-len",
                      "--json")  # fmt: skip
        longest = said.json["value"]
        assert f"the longest that fits is {longest} tokens" in refused.json["reason"]
        lengths.append(longest)
        sizes.append(refused.json["ranks"][0]["kv_cache_gib"]["low"])
        one_more = ledger(f"{launch}{share} --max-model-len {longest + 64}", "A100-80GB-SXM",
                          "0.10.2", "--json")  # fmt: skip
        assert one_more.code == 1
    # Sliding layers are paid first: past them a GiB buys more tokens than the average so far.
    assert (lengths[1] - lengths[0]) / (sizes[1] - sizes[0]) > 1.1 * lengths[0] / sizes[0]
    every_layer_full = 62 * 16 * 128 * 2 * 2
    assert lengths[0] > 4 * sizes[0] * 2**30 / every_layer_full


def test_a_longer_limit_takes_its_activation_reserve_from_the_cache(ledger: Ask) -> None:
    launch = (
        "vllm serve Qwen/Qwen3-30B-A3B-Instruct-2507 --kv-cache-dtype fp8 "
        "--no-enable-chunked-prefill --max-model-len "
    )
    short, long = (
        ledger(f"{launch}{length}", "A100-80GB-SXM", "0.10.2", "--json")
        for length in (100_000, 221_000)
    )
    assert (short.code, long.code) == (0, 1)
    assert short.json["kv"]["bytes_per_block"] == 16 * 49_152  # 10.55 GiB hold 230,528 tokens
    shrunk = [answer.json["ranks"][0]["kv_cache_gib"]["value"] for answer in (short, long)]
    assert 4.5 < shrunk[0] - shrunk[1] < 6.0
    # The pool at 100k would seem to hold 150k and more; the answer counts the new reserve.
    seeming = short.json["kv"]["tokens"]["low"]
    solved = ledger(f"{launch}100000", "A100-80GB-SXM", "0.10.2", "--solve", "max-model-len",
                    "--json")  # fmt: skip
    assert 100_000 < solved.json["value"] < 0.85 * seeming
    held = ledger(f"{launch}{solved.json['value']}", "A100-80GB-SXM", "0.10.2", "--json")
    assert held.code == 0
