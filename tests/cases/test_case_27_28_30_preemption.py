"""A pool of one long request behind a cap of twenty: what runs, what waits, what is computed again.

Facts: https://github.com/vllm-project/vllm/issues/14412 (QwQ-32B in FP8 on one L40, 32,000 tokens,
--max-num-seqs 20: the cache is full with two requests running),
https://github.com/vllm-project/vllm/issues/11805 (recomputed answers change) and
https://github.com/vllm-project/vllm/issues/8031 ("4.61x" is not four users).
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steady_requests import poisson, together

Ask = Callable[..., Any]
THINKING = (
    "vllm serve Qwen/QwQ-32B --quantization fp8 --max-num-seqs 20 --max-model-len 32000 "
    "--gpu-memory-utilization 0.95"
)
CARD, VERSION = "L40", "0.8.5"
SMALL = "vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 32768"


def test_the_pool_holds_one_request_of_full_length(ledger: Ask) -> None:
    said = ledger(THINKING, CARD, VERSION, "--json")
    tokens = said.json["kv"]["tokens"]
    assert tokens["low"] <= 36_000 <= tokens["high"]
    assert said.json["kv"]["bytes_per_block"] == 16 * 256 * 1024  # 256 KiB a token
    assert 1 <= said.json["kv"]["max_concurrency"] < 2
    assert said.finding("L14")["message"].startswith(
        "max_num_seqs is 20, and the pool holds 1.05 requests of 32000 tokens: "
    )


@pytest.mark.parametrize(("tokens", "held"), [("32000", 1), ("15k", 2)])
def test_two_answers_in_the_middle_of_their_thinking_fill_it(
    ledger: Ask, tokens: str, held: int
) -> None:
    said = ledger(
        THINKING, CARD, VERSION, "--solve", "max-num-seqs", "--request-tokens", tokens, "--json"
    )
    assert said.json["value"] == held


def test_a_prediction_answers_for_what_fits_and_says_so(predicted: Ask) -> None:
    said = predicted(THINKING, CARD, VERSION, (500, 16_000, 20))
    assert said.json["kv_feasible_concurrency"] < 3
    assert said.json["basis"] == "assumed"
    notes = " ".join(said.json["notes"])
    assert "20 requests are in flight, but " in notes
    assert "wait for room." in notes
    assert "The cache runs full: " in notes


@pytest.mark.parametrize("version", [VERSION, "0.33.0"])
def test_twenty_sequences_never_run_on_it(simulated: Ask, version: str) -> None:
    thinking = poisson(40, 0.05, (200, 800), (8_000, 24_000))
    said = simulated(THINKING, CARD, version, thinking).json
    assert said["running"]["p50"] <= 4
    assert said["kv_usage"]["p95"] > 0.95
    assert said["binding"]["sequence_cap"] < 0.02
    assert said["queue_drains"] is False


def test_what_lives_on_preemption_is_said_with_its_cost(simulated: Ask) -> None:
    said = simulated(SMALL, "H100-80GB-SXM", "0.19.0", poisson(800, 12, 4_000, 2_000)).json
    assert said["preemptions"] > 10
    assert said["recomputed_tokens"] > 10_000
    assert said["recomputing_s"] > 0
    (note,) = [note for note in said["notes"] if "are preempted" in note]
    assert f"{said['preemptions']:,} times in all, and computed again" in note
    assert "which can also change an answer" in note
    assert not [note for note in said["notes"] if "prefix cache" in note]


def test_the_own_blocks_of_a_preempted_request_are_found_again_where_they_are_cached(
    simulated: Ask,
) -> None:
    def thinking(flag: str) -> Any:
        load = poisson(40, 0.05, (200, 800), (8_000, 24_000))
        return simulated(f"{THINKING}{flag}", CARD, VERSION, load).json

    cached, computed = thinking(""), thinking(" --no-enable-prefix-caching")
    assert cached["preemptions"] * 100 < computed["preemptions"]
    assert cached["recomputed_tokens"] * 100 < computed["recomputed_tokens"]
    assert cached["simulated_s"] * 4 < computed["simulated_s"]
    assert cached["prefix_hit_share"] == computed["prefix_hit_share"] == 0


def test_less_at_once_ends_the_preemption(simulated: Ask) -> None:
    said = simulated(
        f"{SMALL} --max-num-seqs 64", "H100-80GB-SXM", "0.19.0", poisson(800, 12, 4_000, 2_000)
    ).json
    assert said["preemptions"] == said["recomputed_tokens"] == 0
    assert not [note for note in said["notes"] if "preempted" in note]


def test_the_printed_concurrency_is_for_full_length_requests_only(
    ask: Ask, ledger: Ask, tmp_path: Path
) -> None:
    launch = "vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 8192"
    printed = ledger(launch, "L4", "0.8.5", "--json").json["kv"]["max_concurrency"]
    assert 2 < printed < 5
    own = together(tmp_path / "w.parquet", poisson(500, 0.1, (100, 1_500), (20, 400)))
    said = ask(
        "size", "meta-llama/Llama-3.1-8B-Instruct", "--workload", str(own), "--gpu", "L4",
        "--engine-version", "0.8.5", "--json",
    ).json  # fmt: skip
    alone = next(c for c in said["candidates"] if c["gpus"] == 1)
    held = alone["holdings"][0]["requests_held"]
    assert held["p50"] > held["p95"] > 2 * printed
