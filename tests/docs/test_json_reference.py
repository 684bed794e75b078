"""Every key that the program prints is in the JSON reference, and the reference names no other schema."""

import contextlib
import io
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import recorded_trials
from answering_server import Scripted, answering
from documents.json_keys import covers, documented, printed_paths
from documents.runs import examples_folder
from recorded_trials import small_ramp, small_series, small_soak, small_trial
from sealed_runs import contracted
from vramledger.cli.main import run

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "json.md"
IMPORTS = Path(__file__).parents[1] / "data" / "imports"
LAUNCH = "vllm serve Qwen/Qwen3-32B -tp 2 --max-model-len 32768"
GPU = ("--gpu", "H100-80GB-SXM")
LOAD = ("--input-tokens", "1000", "--output-tokens", "100", "--concurrency", "8")
SEARCH = ("--search", "--gpus", "2", "--set", "kv-cache-dtype=auto", "--limit", "ttft p95 <= 9")
RUNS = (
    ("inspect", "openai/gpt-oss-120b"),
    ("inspect", "google/gemma-3-27b-it"),
    ("ledger", LAUNCH, *GPU),
    ("ledger", "vllm serve google/gemma-3-27b-it --cpu-offload-gb 4", *GPU),
    ("ledger", "vllm serve BAAI/bge-m3", *GPU),
    ("ledger", "sglang serve --model-path Qwen/Qwen3-32B --tp 2"),
    ("ledger", LAUNCH, *GPU, "--solve", "max-num-seqs"),
    ("ledger", LAUNCH, *GPU, "--vs", f"{LAUNCH} --max-num-seqs 64"),
    ("ledger", LAUNCH, *GPU, "--table", "max-model-len=4k..32k"),
    ("ledger", LAUNCH, *GPU, "--layouts", "4"),
    ("ledger", LAUNCH, *GPU, "--beside", "vllm serve Qwen/Qwen3-4B -tp 2"),
    ("ledger", LAUNCH, *GPU, "--baseline", "kv.json"),
    ("ledger", "--from-log", "startup.log", *GPU),
    ("ledger", "--from-log", "too-long.log", "--gpu", "L4"),
    ("size", "plan.yaml"),
    ("size", "Qwen/Qwen3-32B", "--users", "60", "--gpu", "L40S", "--gpu", "T4"),
    ("size", "Qwen/Qwen3-32B", "--users", "60", "--gpu", "L40S", "--limits"),
    ("size", "Qwen/Qwen3-8B", "--rate", "2", "--gpu", "L40S", "--simulate", "--simulate-top", "1"),
    ("size", "Qwen/Qwen3-32B", "--tiers"),
    ("predict", LAUNCH, *GPU, *LOAD),
    ("gpus", "--vendor", "AMD"),
    ("gpus", "A100-80GB-SXM"),
    ("plan", "check", "plan.yaml"),
    ("plan", "check", "mistaken.yaml"),
    ("workload", "import", "gateway-spendlogs.csv.gz"),
    ("workload", "profile", "workload.parquet"),
    ("workload", "head", "workload.parquet", "9", "-o", "head.parquet"),
    ("simulate", LAUNCH, *GPU, "--workload", "workload.parquet", "-o", "simulated"),
    ("simulate", LAUNCH, *GPU, "--workload", "head.parquet", "--knee", "--closed", "3"),
    ("sweep", LAUNCH, *GPU, "--workload", "head.parquet", "--jobs", "1", "--set", "tp=1,3,4"),
    ("sweep", LAUNCH, *GPU, "--workload", "head.parquet", "--jobs", "1", *SEARCH),
    ("probe",),
    ("trial", "show", "trials/trial"),
    ("trial", "show", "repeated"),
    ("diagnose", "simulated"),
    ("diagnose", "trials/trial"),
    ("diagnose", "--server-log", "too-long.log", "--gpu", "L4"),
    ("diagnose", "--metrics", "metrics.txt"),
    ("diagnose", "--server-log", "startup.log", "--gpu", "H100-80GB-SXM"),
    ("trial", "show", "ramp"),
    ("trial", "show", "soak"),
    ("trial", "list", "trials"),
    ("report", "trials/trial", "--as", "acceptance"),
    ("report", "simulated", *GPU),
    ("report", "repeated", "ramp", "soak"),
    ("trial", "import", str(IMPORTS / "vllm_bench.json"), "-o", "imported"),
    ("trial", "plan", "short-plan.yaml", "--hours", "1", "--also", "max-num-seqs=8"),
    ("trial", "plan", "--run", "trials.yaml", "--url", "http://127.0.0.1:9"),
    ("trial", "warm", "--url", "http://127.0.0.1:9", "--within", "1ms"),
    ("accept", "trials/trial", "--plan", "accept-plan.yaml"),
    ("compare", "trials/trial", "simulated", "trials/trial"),
    ("verify", "--new-key", "sealing.key"),
    ("verify", "--seal", "sealed/run", "--workload", "sealed/w.parquet", "-o", "bundle.zip"),
    ("verify", "bundle.zip"),
    ("report", "bundle.zip"),
    ("verify", "--challenge", "workload.parquet", "-o", "challenge"),
    ("workload", "synth", "--like", "workload.parquet", "--requests", "99", "-o", "new.parquet"),
)

SHORT_PLAN = """\
name: short
model: Qwen/Qwen3-8B
workload: head.parquet
scenarios: {all: {kind: latency, contract: {ttft_s: {p50: 9}, success: 0.5}}}
gpus: [H100-80GB-SXM]
"""
ACCEPT_PLAN = """\
name: small
model: Qwen/Qwen3-8B
workload: {input_tokens: {p50: 100, max: 100}, output_tokens: {p50: 2, max: 3}, requests_per_s: 1}
scenarios: {all: {kind: latency, contract: {ttft_s: {p50: 9, p95: 10}, success: 0.5, queue_must_drain: true}}}
"""
TRIALS = """\
schema: vramledger.trials/1
plan: short-plan.yaml
confidence: 0.9
hours: 0.001
items: [{name: ready, kind: ready, takes_s: 60}]
expected: [{scenario: all, asked: success >= 50.00%, holds: true}]
"""


def answer(*arguments: str) -> Any:
    """What the command prints with ``--json``."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        run([*arguments, "--json"])
    return json.loads(out.getvalue())


@pytest.fixture(scope="module")
def answers() -> list[Any]:
    """One answer a run."""
    with examples_folder() as place:
        (place / "trials").mkdir()
        small_trial(place / "trials" / "trial")
        contracted(place / "sealed")
        series_of(place / "sealed" / "w.parquet", place)
        (place / "short-plan.yaml").write_text(SHORT_PLAN, encoding="utf-8")
        (place / "accept-plan.yaml").write_text(ACCEPT_PLAN, encoding="utf-8")
        (place / "trials.yaml").write_text(TRIALS, encoding="utf-8")
        (place / "kv.json").write_text(json.dumps(answer("ledger", LAUNCH, *GPU)), encoding="utf-8")
        return [*(answer(*arguments) for arguments in RUNS), *shadows()]


def series_of(workload: Path, place: Path) -> None:
    """A series of each kind, whose runs all sent that workload."""
    hashed, plain = sha256(workload.read_bytes()).hexdigest(), recorded_trials.described
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            recorded_trials, "described", lambda **values: plain(workload_sha256=hashed, **values)
        )
        small_series(place / "repeated")
        small_ramp(place / "ramp")
        small_soak(place / "soak")


def shadows() -> list[Any]:
    """A comparison of two servers, and the answers of one recorded."""
    with answering(lambda _: Scripted(("a", "b"), chances=[{"a": 0.6, "b": 0.3}] * 2)) as server:
        asked = ("trial", "shadow", "--a", server.url, "--requests", "3")
        return [
            answer(*asked, "--b", server.url, "--keep-text"),
            answer(*asked, "--record", "answers.json"),
        ]


@pytest.fixture(scope="module")
def keys() -> dict[str, frozenset[str]]:
    return documented(PAGE.read_text(encoding="utf-8"))


def test_every_printed_key_is_documented(
    answers: list[Any], keys: dict[str, frozenset[str]]
) -> None:
    missing = {
        (printed["schema"], path)
        for printed in answers
        for path in printed_paths(printed)
        if not covers(keys[printed["schema"]], path)
    }
    assert missing == set()


def test_every_documented_schema_is_printed_by_some_run(
    answers: list[Any], keys: dict[str, frozenset[str]]
) -> None:
    assert {printed["schema"] for printed in answers} == set(keys)


def test_every_documented_key_of_a_plain_ledger_is_printed(
    answers: list[Any], keys: dict[str, frozenset[str]]
) -> None:
    listed = keys["vramledger.ledger/1"]
    printed = set(printed_paths(answers[RUNS.index(("ledger", LAUNCH, *GPU))]))
    elsewhere = {"kv.reason", "engine", "model", "weights_gib", "kv_bytes_per_token"}
    elsewhere |= {"kv_bytes_per_token_reason", "legal_tensor_parallel"}
    elsewhere |= {key for key in listed if key.startswith("host[]")}
    assert listed - printed == elsewhere


def test_a_key_that_is_not_listed_is_found() -> None:
    keys = documented("## vramledger.x/1\n\n| `a.*` | | |\n| `b[].c` | | |\n")["vramledger.x/1"]
    assert covers(keys, "a.anything")
    assert covers(keys, "b[].c")
    assert not covers(keys, "a.any.deeper")
    assert not covers(keys, "b[].d")
    assert list(printed_paths({"b": [{"d": {"value": None, "reason": "x"}}]})) == ["b", "b[].d"]
