"""Calculators that were wrong: heads counted eight times, and figures without a definition."""

from collections.abc import Callable
from typing import Any

import pytest

Ask = Callable[..., Any]


def test_grouped_queries_cost_kv_heads_not_attention_heads(ask: Ask) -> None:
    said = ask("inspect", "meta-llama/Llama-3.1-70B-Instruct", "--json")
    per_token = said.json["cache"]["full_bytes_per_token"]
    assert per_token == 80 * 2 * 8 * 128 * 2
    assert 8 * per_token == 80 * 2 * 64 * 128 * 2  # what "number of heads" would give


@pytest.mark.parametrize(
    ("version", "definition"),
    [
        ("0.6.6", "blocks x block size, as vLLM 0.6 counts"),
        ("0.19.0", "blocks // groups x smallest block size, as vLLM 0.19 counts"),
        ("0.33.0", "concurrency x max_model_len, as vLLM 0.33 counts"),
    ],
)
def test_a_capacity_comes_with_definition_type_and_utilization(
    ledger: Ask, version: str, definition: str
) -> None:
    launch = "vllm serve google/gemma-3-27b-it --max-model-len 32768 --gpu-memory-utilization 0.85"
    said = ledger(launch, "H200-141GB-SXM", version, "--json")
    kv = said.json["kv"]
    assert kv["tokens"]["source"] == f"{definition}; bfloat16 cache, utilization 0.85"
    assert kv["capacity_tokens"]["source"] == "tokens held at once by requests of 32768 tokens"
    text = ledger(launch, "H200-141GB-SXM", version)
    assert f"tokens ({definition}; bfloat16 cache, utilization 0.85)" in text.text
    assert " tokens held at once by requests of 32768 tokens" in text.text


def test_the_printed_figure_of_a_hybrid_is_no_capacity(ledger: Ask) -> None:
    said = ledger("vllm serve google/gemma-4-31B-it --max-model-len 32768", "H200-141GB-SXM",
                  "0.20.0", "--json")  # fmt: skip
    kv = said.json["kv"]
    assert len(kv["groups"]) > 1
    assert kv["capacity_tokens"]["value"] > 2 * kv["tokens"]["value"]


def test_the_type_of_the_cache_is_stated_not_assumed(ledger: Ask) -> None:
    launch = "vllm serve google/gemma-4-31B-it --max-model-len 32768 --kv-cache-dtype "
    wide, narrow = (
        ledger(f"{launch}{kind}", "H200-141GB-SXM", "0.21.0", "--json") for kind in ("auto", "fp8")
    )
    assert "; fp8 cache, utilization 0.92" in narrow.json["kv"]["tokens"]["source"]
    tokens = [answer.json["kv"]["tokens"]["value"] for answer in (wide, narrow)]
    assert tokens[1] == pytest.approx(2 * tokens[0], rel=0.02)


def test_an_upgrade_is_named_with_what_it_changes(ledger: Ask) -> None:
    said = ledger("vllm serve google/gemma-4-31B-it --max-model-len 32768", "H200-141GB-SXM",
                  "0.20.0", "--json")  # fmt: skip
    found = said.finding("A09")
    assert found["message"].startswith("On vLLM 0.33 the same launch prints ")
    assert (
        "the printed figure is concurrency x max_model_len, not blocks // groups x smallest block "
        "size" in found["message"]
    )
    assert found["effect_tokens"] > 0
    newest = ledger("vllm serve google/gemma-4-31B-it --max-model-len 32768", "H200-141GB-SXM",
                    "0.33.0", "--json")  # fmt: skip
    assert "A09" not in newest.finding_ids
    gained = newest.json["kv"]["tokens"]["value"] - said.json["kv"]["tokens"]["value"]
    assert found["effect_tokens"] == gained
