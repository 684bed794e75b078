"""A launch that starts and never serves one request of full length, and a model without a cache."""

import json

import pytest

from vramledger.cli.main import run

SCOUT = "vllm serve meta-llama/Llama-4-Scout-17B-16E-Instruct -tp 8"
CARDS = ["--gpu", "H100-80GB-SXM", "--engine-version"]


def test_a_pool_below_one_request_does_not_hold(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ledger", SCOUT, *CARDS, "0.14.0"]) == 1
    out = capsys.readouterr().out
    assert out.startswith(
        "DOES NOT HOLD: It starts, but never serves a request of max_model_len 10485760: the "
        "start-up check of vLLM 0.14 counts the blocks of the first group of layers only, and the "
        "pool holds 0.57 of such a request at the pessimistic end. A request that outgrows the "
        "pool is preempted again and again and never ends; use --max-model-len 60"
    )
    assert "\n  F07 error: It starts, but never serves a request" in out


def test_the_named_length_holds_and_the_check_of_0_19_refuses(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(["ledger", SCOUT, *CARDS, "0.14.0", "--json"])
    reason = json.loads(capsys.readouterr().out)["reason"]
    length = reason.rpartition("--max-model-len ")[2].split()[0]
    assert run(["ledger", f"{SCOUT} --max-model-len {length}", *CARDS, "0.14.0"]) == 0
    capsys.readouterr()
    assert run(["ledger", SCOUT, *CARDS, "0.19.0"]) == 1
    assert capsys.readouterr().out.startswith("DOES NOT FIT: One request of max_model_len 10485760")


def test_markdown_says_that_it_does_not_hold(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ledger", SCOUT, *CARDS, "0.14.0", "--markdown"]) == 1
    assert "\n**Does not hold.** It starts, but never serves" in capsys.readouterr().out


def test_llama_4_is_full_attention_before_0_10_0(capsys: pytest.CaptureFixture[str]) -> None:
    command = f"{SCOUT} --max-model-len 131072"
    run(["ledger", command, *CARDS, "0.9.2", "--json"])
    groups = json.loads(capsys.readouterr().out)["kv"]["groups"]
    assert [(group["kind"], group["layers"]) for group in groups] == [("full attention", 48)]


def test_an_encoder_has_unused_budget_and_no_kv_cache_row(
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = ["ledger", "vllm serve BAAI/bge-m3", "--gpu", "L4", "--engine-version", "0.11.0"]
    assert run(command) == 0
    out = capsys.readouterr().out
    assert "\n  unused budget " in out
    assert "\n  KV cache " not in out
    run([*command, "--json"])
    rows = json.loads(capsys.readouterr().out)["ranks"][0]["rows"]
    assert [row["label"] for row in rows if row["key"] == "kv_cache"] == ["unused budget"]
