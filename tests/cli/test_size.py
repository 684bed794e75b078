"""``vram size``: JSON, exit codes, refusals, and a plan from end to end."""

import json
from pathlib import Path
from typing import Any

import pytest

from vramledger.cli.main import run

MODEL = "Qwen/Qwen3-8B"
PLAN = """\
name: demo
model: Qwen/Qwen3-8B
weights: [as-stored, fp8]
engine: {name: vllm, version: "0.33", args: {max-num-seqs: 64, max-model-len: 16384}}
workload: {profile: chat, concurrent: 40}
gpus: [L4, RTX-3060-8GB]
prices: {L4: 0.70/h}
scenarios:
  daily: {kind: latency, hours: 08:00-18:00}
  nightly: {kind: throughput, hours: 19:00-06:00, workload: {profile: rag, requests_per_s: 3}}
"""
CANDIDATE_KEYS = {
    "gpu", "gpus", "gpus_low", "gpus_high", "tp", "pp", "expert_parallel", "replicas", "precision",
    "decided_by",
    "kv_dtype", "fits", "reason", "rule", "known", "kv_tokens", "launch", "holdings", "margins",
    "idle_share", "kv_waste_gib", "weights_waste_gib", "communication_bytes_per_token", "link",
    "servers", "price_per_hour", "quality_evidence_owed", "bounded_by", "notes", "memory", "speed",
    "queue", "recommended", "simulated",
}  # fmt: skip


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN)
    return path


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    run(["size", *arguments, "--json"])
    document = json.loads(capsys.readouterr().out)
    assert isinstance(document, dict)
    return document


def test_a_plan_from_end_to_end(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["size", str(plan), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert set(document) == {
        "schema", "model", "engine", "engine_version", "holds", "unmet", "fits", "known",
        "weights_unknown", "checked", "max_model_len_tokens", "currency", "candidates", "smaller",
        "warnings", "context_limits", "notes",
    }  # fmt: skip
    assert document["schema"] == "vramledger.size/1"
    assert document["checked"] == ["memory"]
    assert document["fits"] is True
    assert document["max_model_len_tokens"] == 16384
    for found in document["candidates"]:
        assert set(found) == CANDIDATE_KEYS
        assert found["gpus"] == found["tp"] * found["pp"] * found["replicas"]
        assert (found["rule"] is None) == found["fits"]
        assert (found["speed"], found["queue"]) == ("not checked", "not checked")
        assert "--max-num-seqs 64" in found["launch"]
    best = document["candidates"][0]
    assert best["gpu"] == "L4"
    assert best["price_per_hour"] == pytest.approx(best["gpus"] * 0.7)
    assert set(best["kv_tokens"]) == {"value", "low", "high", "basis", "source"}
    assert [h["scenario"] for h in best["holdings"]] == ["daily", "nightly"]
    assert set(best["holdings"][0]["requests_held"]) == {"p50", "p95", "p99"}
    assert {c["precision"] for c in document["candidates"]} == {"as-stored", "fp8"}


def test_the_launch_of_a_candidate_gives_the_same_pool_in_the_ledger(
    plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    best = answer(capsys, str(plan))["candidates"][0]
    command = ["ledger", best["launch"], "--gpu", best["gpu"], "--engine-version", "0.33", "--json"]
    assert run(command) == 0
    ledger = json.loads(capsys.readouterr().out)
    assert ledger["kv"]["tokens"]["value"] == best["kv_tokens"]["value"]


LONG = """\
name: long
model: Qwen/Qwen3-8B
workload: {requests: [{input: 1000, output: 200, share: 1}, {input: 130000, output: 500, share: 7}], concurrent: 4}
gpus: [L4]
"""


def test_requests_the_model_cannot_serve_make_a_plan_not_hold(
    plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan.write_text(LONG)
    said = (
        "all: 87.5% of the requests are longer than the 40,960 tokens Qwen/Qwen3-8B can be served with and "
        "would be refused, and none may be; choose a model of longer context or shorter requests, or "
        "let the contract's success allow it."
    )
    assert run(["size", str(plan)]) == 1
    assert capsys.readouterr().out.splitlines()[0] == f"DOES NOT HOLD: {said}"
    assert run(["plan", "check", str(plan)]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == f"Not met: {said}"
    document = answer(capsys, str(plan))
    assert (document["holds"], document["fits"], document["unmet"]) == (False, True, [said])


def test_a_profile_the_model_mostly_refuses_does_not_hold(
    capsys: pytest.CaptureFixture[str],
) -> None:
    model = "TinyLlama/TinyLlama-1.1B-Chat-v1.0"  # 2,048 positions
    assert run(["size", model, "--concurrent", "2", "--profile", "rag", "--gpu", "L4"]) == 1
    first, second = capsys.readouterr().out.splitlines()[:2]
    assert first.startswith("DOES NOT HOLD: rag: ")
    assert first.endswith(
        f"% of the requests are longer than the 2,048 tokens {model} can be served with and would be "
        "refused, more than the 10.0% that may be; take another --profile, state your own lengths in a "
        "plan, or choose a model of longer context."
    )
    assert second.startswith(f"L4 holds the rest: {model} with requests of up to 2,048 tokens.")


def test_a_profile_with_a_tail_beyond_the_model_holds_without_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = ["--concurrent", "2", "--profile", "chat-with-documents", "--gpu", "H200-141GB-SXM"]
    assert run(["size", MODEL, *options]) == 0
    assert (
        "chat-with-documents: 5.0% of the requests are longer than the 40,960 tokens Qwen/Qwen3-8B can "
        "be served with and would be refused; up to 10.0% may be; they are left out."
    ) in capsys.readouterr().out


def test_a_speech_model_is_not_sized_with_lengths_of_text(
    plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = "openai/whisper-large-v3"
    said = (
        f"lengths of text, but the requests of {model} are audio; state input_tokens and output_tokens "
        "of its decoder in a plan.\n"
    )
    assert run(["size", model, "--users", "5", "--gpu", "L4"]) == 3
    assert capsys.readouterr().err == f"vram: The request profiles are {said}"
    chat = f"name: a\nmodel: {model}\nworkload: {{profile: chat, concurrent: 4}}\ngpus: [L4]\n"
    plan.write_text(chat)
    assert run(["size", str(plan)]) == 3
    assert capsys.readouterr().err == f"vram: {plan}: the request profiles are {said}"
    lengths = "{requests: [{input: 4, output: 200, share: 1}], concurrent: 4}"
    plan.write_text(chat.replace("{profile: chat, concurrent: 4}", lengths))
    assert run(["size", str(plan)]) == 0


def test_options_narrow_a_plan(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = answer(capsys, str(plan), "--gpu", "L40S", "--precision", "fp8", "--headroom", "0.5")
    assert {c["gpu"] for c in document["candidates"]} == {"L40S"}
    assert {c["precision"] for c in document["candidates"]} == {"fp8"}
    assert document["candidates"][0]["holdings"][0]["headroom_reason"] == "50% as asked"


def test_nothing_that_fits_exits_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["size", "deepseek-ai/DeepSeek-V3", "--concurrent", "1", "--gpu", "T4"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("NOTHING FITS: the card does not hold deepseek-ai/DeepSeek-V3 with ")


def test_a_card_served_by_a_plugin_only_exits_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["size", MODEL, "--concurrent", "1", "--gpu", "Ascend-910C"]) == 3
    assert (
        "Ascend-910C: vLLM serves Ascend-910C only through the vllm-ascend plugin, whose memory "
        "rules are not known here." in capsys.readouterr().out
    )


def test_a_model_without_a_cache_exits_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["size", "BAAI/bge-m3", "--concurrent", "1"]) == 3
    assert capsys.readouterr().err == (
        "vram: BAAI/bge-m3 keeps no KV cache, so memory does not bound its requests in flight; vram "
        "ledger says what its weights and one batch take.\n"
    )


LOAD = (
    "State the load once: --users (people with access), --concurrent (requests in flight) or --rate "
    "(requests per second); or name a recorded one with --workload."
)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("", LOAD),
        ("--users 5 --rate 2", LOAD),
        ("--users 0", "The load is 0; it must be above 0 and at most 1e9."),
        ("--users -3", "The load is -3; it must be above 0 and at most 1e9."),
        ("--rate nan", "The load is nan; it must be above 0 and at most 1e9."),
        ("--concurrent inf", "The load is inf; it must be above 0 and at most 1e9."),
        ("--rate 1e300", "The load is 1e+300; it must be above 0 and at most 1e9."),
        (
            "--users nan",
            "Invalid value for '--users': 'nan' is not a valid integer. See vram size --help.",
        ),
        ("--users 5 --headroom nan", "--headroom is nan; it must be from 0 to below 1."),
        ("--users 5 --headroom 1", "--headroom is 1; it must be from 0 to below 1."),
        ("--users 5 --headroom -0.1", "--headroom is -0.1; it must be from 0 to below 1."),
        (
            "--users 5 --gpu H100",
            (
                "The GPU name 'H100' in --gpu fits 3 cards: H100-80GB-PCIe, H100-80GB-SXM, "
                "H100-94GB-NVL; write one of these."
            ),
        ),
        (
            "--users 5 --gpu L4OS",
            (
                "Unknown GPU 'L4OS' in --gpu; the nearest known ones are L40S, L4, L40. `vram gpus` "
                "lists every name that is understood."
            ),
        ),
        (
            "--users 5 --profile chatt",
            (
                "Unknown profile 'chatt' in --profile; the nearest known one is chat. Known are agents, "
                "batch-summarise, chat, chat-with-documents, classification, code-completion, rag, "
                "reasoning."
            ),
        ),
        (
            "--users 5 --factor active-shore=1",
            "Unknown factor 'active-shore'; the nearest known one is active-share.",
        ),
        (
            "--users 5 --factor active-share=nan",
            (
                "The factor active-share is nan; it must be between 0 and 1 (share of the people who "
                "use it in the busy hour)."
            ),
        ),
        (
            "--users 5 --factor active-share",
            "--factor 'active-share' is not NAME=NUMBER; write active-share=0.6.",
        ),
        (
            "--rate 5 --factor active-share=0.5",
            "--factor changes how people become requests; give it with --users.",
        ),
        ("--users 5 --price L40S", "--price 'L40S' is not CARD=PRICE; write L40S=1.10/h."),
        (
            "--users 5 --price L40S=nan/h",
            (
                "The price of L40S is 'nan/h', which is not a price per time; write it as 1.10/h or USD "
                "800/month."
            ),
        ),
        (
            "--users 5 --price L40S=1/h --price L4=EUR1/h",
            "--price was given in several currencies; convert them to one.",
        ),
        (
            "--users 5 --kv-dtype fp9 --gpu L4",
            (
                "Unknown value of --kv-cache-dtype 'fp9' in the candidate's launch command; the nearest "
                "known one is fp8."
            ),
        ),
    ],
)
def test_bad_options_are_one_sentence(
    options: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["size", MODEL, *options.split()]) == 2
    captured = capsys.readouterr()
    assert captured.err == f"vram: {said}\n"
    assert captured.out == ""


@pytest.mark.parametrize(
    "option", ["--users 5", "--rate 1", "--profile rag", "--factor a=1", "--success 1"]
)
def test_a_plan_states_its_own_load(
    plan: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["size", str(plan), *option.split()]) == 2
    assert capsys.readouterr().err == (
        "vram: The plan states the load, its lengths and its contract; leave out --users, "
        "--concurrent, --rate, --rate-scale, --profile, --workload, --from-run, --success and --factor.\n"
    )


def test_prices_of_another_currency_are_refused(
    plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["size", str(plan), "--price", "L40S=EUR 1/h"]) == 2
    assert capsys.readouterr().err == (
        "vram: --price and the plan's prices are in different currencies; rates are not converted.\n"
    )


def test_an_unknown_engine_argument_of_a_plan_is_refused_by_name(
    plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan.write_text(PLAN.replace("max-num-seqs", "max-num-sequences"))
    assert run(["size", str(plan)]) == 2
    err = capsys.readouterr().err
    assert "max-num-seqs" in err
    assert f"{plan} line 4, engine.args" in err


@pytest.mark.parametrize(
    ("options", "named"),
    [("--users 5", "--users"), ("--gpu L4 --headroom 0.1", "--gpu, --headroom")],
)
def test_tiers_refuse_options_they_would_ignore(
    options: str, named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["size", MODEL, "--tiers", *options.split()]) == 2
    assert capsys.readouterr().err == (
        "vram: --tiers looks at every profile on one GPU of every memory tier, without a load; leave "
        f"out {named}, or leave out --tiers to size a load.\n"
    )


def test_open_cards_start_with_those_for_servers_by_gpus_and_memory(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["size", "Qwen/Qwen3-32B", "--concurrent", "20"]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = lines[next(i for i, line in enumerate(lines) if line.startswith("----")) + 1 :]
    table = rows[: rows.index("")]
    shown, left = [row.split() for row in table[:-1]], table[-1]
    assert len(shown) == 25
    assert [int(row[1]) for row in shown] == sorted(int(row[1]) for row in shown)
    assert {"H200-141GB-SXM", "MI300X"} <= {row[0] for row in shown}
    assert not any(row[0].startswith(("RTX-50", "RTX-40", "RX-")) for row in shown)
    fitting = int(lines[0].split()[0])
    assert left == f"{fitting - 25} more cards hold it; --json lists them all."


def test_tiers_exit_by_whether_anything_holds(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["size", MODEL, "--tiers", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [tier["nominal_gb"] for tier in document["tiers"]][:2] == [16, 24]
    assert run(["size", "deepseek-ai/DeepSeek-V3", "--tiers"]) == 1


def test_a_load_that_nothing_is_sized_for_ends_in_a_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["size", "Qwen/Qwen3-8B", "--rate", "1e9"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("vram: chat: the load keeps ")
    assert said.endswith(
        " requests in flight at the peak, more than the 100,000,000 that are sized; check its unit "
        "(--rate counts requests a second, --concurrent requests in flight, --users people) and the factors on it.\n"
    )


def test_candidates_left_out_of_the_table_are_counted_by_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["size", "Qwen/Qwen3-32B", "--concurrent", "2", "--gpu", "L40S"]) == 0
    out = capsys.readouterr().out.splitlines()
    (head,) = [line for line in out if line.startswith("Not in the table: ")]
    failed, _, tried = head.split()[4:7]
    counts = [int(line.split()[0]) for line in out[out.index(head) + 1 :] if " by " in line]
    assert sum(counts) == int(failed) < int(tried)
    assert "  1 by loading: L40S TP1, as-stored: Loading the weights fails: " in "\n".join(out)
