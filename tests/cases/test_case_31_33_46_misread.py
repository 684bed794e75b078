"""Figures that are easily misread: tokens in a log, an upgrade, a warm prefix cache.

Facts: https://github.com/vllm-project/vllm/issues/51041 (pool over printed tokens is no cost of a token),
https://github.com/vllm-project/vllm/issues/43308 (Gemma 4 on an A100 from about 55 thousand to 525 thousand
printed tokens, 0.20 to 0.21, in the same memory) and https://github.com/vllm-project/vllm/issues/52884
(the same prompts again: up to 86 % more throughput).
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from steady_requests import poisson
from stored_workloads import BLOCK, Row

Ask = Callable[..., Any]
GEMMA = "vllm serve google/gemma-4-31B-it -tp 2"
CARD = "A100-80GB-SXM"


def test_pool_over_printed_tokens_is_no_cost_of_a_token(ledger: Ask) -> None:
    implied, blocks = [], set()
    for length in (8_192, 32_768, 131_072):
        kv = ledger(f"{GEMMA} --max-model-len {length}", CARD, "0.33.0", "--json").json["kv"]
        implied.append(kv["num_blocks"] * kv["bytes_per_block"] / kv["tokens"]["value"])
        blocks.add(kv["bytes_per_block"])
        assert kv["tokens"]["source"].startswith("concurrency x max_model_len, ")
        assert {group["kind"] for group in kv["groups"]} == {
            "sliding window 1024",
            "full attention",
        }
    assert implied[0] > 2 * implied[1] > 2 * implied[2]
    assert len(blocks) == 1  # what a block costs has not changed


def test_an_upgrade_prints_ten_times_the_tokens_in_the_same_memory(ledger: Ask) -> None:
    launch = f"{GEMMA} --max-model-len 262144 --kv-cache-memory-bytes 25G"
    before, after = (
        ledger(launch, CARD, version, "--json").json["kv"]["tokens"]["value"]
        for version in ("0.20.0", "0.21.0")
    )
    assert after / before == pytest.approx(525 / 55, rel=0.25)
    said = ledger(launch, CARD, "0.20.0", "--json").finding("A09")["message"]
    assert "not blocks // groups x smallest block size" in said


def test_prompts_that_repeat_are_shown_with_and_without_their_hits(simulated: Ask) -> None:
    launch = "vllm serve Qwen/Qwen3-8B --max-model-len 8192"
    said = simulated(launch, "H100-80GB-SXM", "0.27.0", _the_same_again()).json
    cold = said["without_prefix_hits"]
    assert said["prefix_hit_share"] == pytest.approx(0.9 * 1_008 / 1_024, abs=0.005)
    assert cold["prefix_hit_share"] == 0
    assert cold["ttft_s"]["p50"] > 3 * said["ttft_s"]["p50"]
    judged = simulated(launch, "H100-80GB-SXM", "0.27.0", _the_same_again(), "--no-prefix").json
    assert judged["ttft_s"] == cold["ttft_s"]


def _the_same_again() -> Iterator[Row]:
    """A benchmark's prompts of 1,024 tokens, each sent ten times."""
    blocks = 1_024 // BLOCK
    for number, row in enumerate(poisson(2_000, 40, 1_024, 128)):
        first = number % 200 * blocks
        yield row | {"prefix_blocks": list(range(first, first + blocks))}
