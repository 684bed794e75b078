"""What batched tokens cost, and the sampler: not divided by TP, not profiled by every version."""

from collections.abc import Callable
from typing import Any

import pytest

Ask = Callable[..., Any]


def test_batched_tokens_have_a_price_in_kv_tokens_for_each_1024(ledger: Ask) -> None:
    launch = "vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 8192"
    words = ("--table", "max-num-batched-tokens=2k..16k")
    said = ledger(launch, "L4", "0.10.0", *words, "--json")
    table = said.json["tables"][0]
    rows = {row["value"]: row for row in table["rows"]}
    costs = table["cost_per_1024"]
    assert [(cost["from"], cost["to"]) for cost in costs] == [
        (2048, 4096), (4096, 8192), (8192, 16384)
    ]  # fmt: skip
    for cost in costs:
        lost = rows[str(cost["from"])]["kv_tokens"] - rows[str(cost["to"])]["kv_tokens"]
        assert cost["kv_tokens"] == round(lost * 1024 / (cost["to"] - cost["from"]))
    # 1,024 hidden states of 4096 x 2 bytes while the sampler governs, an MLP once it does not.
    assert costs[0]["gib"] == pytest.approx(1024 * 4096 * 2 / 2**30, rel=0.05)
    assert costs[-1]["kv_tokens"] > 5 * costs[0]["kv_tokens"]
    text = ledger(launch, "L4", "0.10.0", *words)
    assert (
        "max-num-batched-tokens from 2,048 to 4,096: each 1,024 more cost 64 KV tokens "
        "(0.008 GiB)." in text.text
    )


def test_tensor_parallelism_does_not_divide_the_samplers_peak(ledger: Ask) -> None:
    launch = "vllm serve Qwen/Qwen2.5-7B-Instruct --max-model-len 8192 -tp "
    one, four = (ledger(f"{launch}{n}", "H100-80GB-SXM", "0.10.1", "--json") for n in (1, 4))
    peaks = [answer.json["ranks"][0]["activation_gib"]["value"] for answer in (one, four)]
    assert peaks[0] == pytest.approx(peaks[1], rel=0.01)
    assert "A06" not in one.finding_ids
    rows, vocabulary = 1024, 152_064
    logits = rows * vocabulary * (36 + 2) / 2**30
    found = four.finding("A06")
    assert found["effect_gib"] == pytest.approx(-logits, rel=0.01)
    assert found["message"] == (
        "The sampler sets the activation peak: 1024 rows of 152064 logits take "
        f"{logits:.2f} GiB on each of the 4 ranks, because tensor parallelism does not divide "
        "them. Halving max_num_seqs halves it."
    )


def test_the_samplers_peak_follows_max_num_seqs(ledger: Ask) -> None:
    launch = "vllm serve Qwen/Qwen2.5-7B-Instruct --max-model-len 8192 -tp 4 --max-num-seqs "
    many, few = (ledger(f"{launch}{n}", "H100-80GB-SXM", "0.10.1", "--json") for n in (1024, 512))
    effects = [answer.finding("A06")["effect_gib"] for answer in (many, few)]
    assert effects[0] == pytest.approx(2 * effects[1], rel=0.01)


def test_the_first_v1_does_not_profile_the_sampler(ledger: Ask) -> None:
    launch = "VLLM_USE_V1=1 vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 8192"
    said = ledger(launch, "A100-80GB-SXM", "0.7.2", "--json")
    row = next(r for r in said.json["ranks"][0]["rows"] if r["key"] == "sampler_later")
    assert row["in_budget"] is False
    rows = said.json["deployment"]["max_num_seqs"]
    assert row["gib"]["value"] == pytest.approx(rows * 128_256 * 36 / 2**30)
    assert row["note"] == (
        f"not profiled by this version; a batch of {rows} rows takes it while serving"
    )
    assert said.finding("A05")["message"].startswith(
        f"The profile run of this version does not sample: the first full batch of {rows} requests "
    )


@pytest.mark.parametrize("version", ["0.8.5", "0.11.0", "0.19.0", "0.33.0"])
def test_later_versions_reserve_it(ledger: Ask, version: str) -> None:
    said = ledger(
        "vllm serve meta-llama/Llama-3.1-8B-Instruct", "H200-141GB-SXM", version, "--json"
    )
    assert "A05" not in said.finding_ids
    assert not [r for r in said.json["ranks"][0]["rows"] if r["key"] == "sampler_later"]
    activation = next(r for r in said.json["ranks"][0]["rows"] if r["key"] == "activation")
    assert activation["note"].startswith(
        "set by the sampler: 1024 rows of 128256 logits and their copies take "
    )


@pytest.mark.parametrize("split", ["", " -tp 2"], ids=["one GPU", "two GPUs"])
def test_a_raised_utilization_is_warned_of_the_sampler_warm_up(ledger: Ask, split: str) -> None:
    raised = "--gpu-memory-utilization 0.95"
    launch = f"vllm serve openai/gpt-oss-20b --max-model-len 8192 {raised}{split}"
    said = ledger(launch, "H100-80GB-SXM", "0.19.0", "--json")
    assert "the sampler warm-up can run out of memory" in said.finding("A01")["message"]
