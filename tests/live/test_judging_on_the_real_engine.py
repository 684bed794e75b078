"""The chain of a purchase on a real server: a plan's contract held against a trial, judged, sealed, checked again and put on a page."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from commands import vram, vram_here
from live.served_engine import Served
from live.tiny_models import TINY, write_model
from stored_workloads import request, stored

pytestmark = pytest.mark.live

OPTIONS = "--kv-cache-memory-bytes 64M --max-model-len 512 --block-size 32 --max-num-seqs 64"
LETTERS = json.dumps({"allowed_token_ids": list(range(67, 93))})
SENT = ("--api", "completions", "--token-ids", "--body", LETTERS, "--workers", "1", "--json")
COUNT = 120
PLAN = """\
name: tiny
model: m
engine: {{name: vllm, version: "0.32", args: {{max-model-len: 512, block-size: 32, kv-cache-memory-bytes: 64M, max-num-seqs: 64}}}}
workload: w.parquet
scenarios:
  all:
    kind: latency
    contract: {{ttft_s: {{p50: {ttft}}}, itl_s: {{p50: 1}}, success: 0.9, queue_must_drain: true}}
"""
KEPT, BROKEN = 5, 0.0001  # seconds to the first token of half of the requests


@pytest.fixture(scope="module")
def folder(engine_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the plan, the workload, the model, and the run of a trial under that plan: run."""
    home = tmp_path_factory.mktemp("judged")
    model = write_model(home / "m", TINY["llama"] | {"vocab_size": 4096})
    (home / "plan.yaml").write_text(PLAN.format(ttft=KEPT))
    rows = (
        request(row, arrival_s=row * 0.2, input_tokens=40 + 7 * row % 60, output_tokens=30)
        for row in range(COUNT)
    )
    stored(home / "w.parquet", rows)
    served = Served(engine_python, model, OPTIONS, home / "server.log")
    try:
        served.await_healthy()
        where = ("--url", served.address, "--server-log", str(served.log), "-o", "run")
        done = vram(["trial", "run", "plan.yaml", "--scenario", "all", *where, *SENT], home)
    finally:
        served.close()
    assert done.returncode in (0, 3), done.stderr
    found = json.loads(done.stdout)
    assert found["requests"]["ok"] == COUNT
    assert found["in_effect"]["engine_version"].startswith("0.32.0")
    return home


@pytest.fixture(scope="module")
def accepted(folder: Path) -> dict[str, Any]:
    """The verdict of that run."""
    return answered(["accept", "run", "--plan", "plan.yaml"], folder)


@pytest.fixture(scope="module")
def bundle(folder: Path) -> Path:
    """That run, sealed and signed."""
    assert vram_here(["verify", "--new-key", "buyer.key"], folder).returncode == 0
    people = ("--ran-by", "the vendor", "--watched-by", "the buyer", "--sealed-by", "the buyer")
    words = ["verify", "--seal", "run", "--key", "buyer.key", *people, "-o", "run.zip"]
    done = vram_here(words, folder)
    assert done.returncode == 0, done.stderr
    return folder / "run.zip"


def answered(words: list[str], folder: Path) -> dict[str, Any]:
    """The JSON object of a command, with its exit code."""
    done = vram_here([*words, "--json"], folder)
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found | {"code": done.returncode}


def lines_of(verdict: dict[str, Any]) -> dict[str, tuple[str, float]]:
    return {each["name"]: (each["verdict"], each["value"]) for each in verdict["lines"]}


def test_every_line_holds_where_the_client_kept_up(accepted: dict[str, Any]) -> None:
    lines = lines_of(accepted)
    assert list(lines) == [
        "ttft_s p50 <= 5",
        "itl_s p50 <= 1",
        "success >= 90.00%",
        "the queue drains",
        "the client kept up",
    ]
    verdict = lines["the client kept up"][0]  # of a client that others starve, no line decides
    assert verdict in ("PASS", "INCONCLUSIVE")
    assert {each for each, _ in lines.values()} == {verdict}
    assert (accepted["verdict"], accepted["code"]) == (verdict, 0 if verdict == "PASS" else 3)
    for each in accepted["lines"][:2]:
        assert each["basis"] == "measured"
        assert 0 < each["low"] <= each["value"] <= each["high"] < each["threshold"]


def test_a_contract_that_no_server_keeps_fails(accepted: dict[str, Any], folder: Path) -> None:
    (folder / "strict.yaml").write_text(PLAN.format(ttft=BROKEN))
    strict = answered(["accept", "run", "--plan", "strict.yaml"], folder)
    kept_up = lines_of(accepted)["the client kept up"][0] == "PASS"
    verdict, value = lines_of(strict)[f"ttft_s p50 <= {BROKEN}"]
    assert value == accepted["lines"][0]["value"]
    assert verdict == strict["verdict"] == ("FAIL" if kept_up else "INCONCLUSIVE")
    assert strict["code"] == (1 if kept_up else 3)


def test_the_bundle_is_unchanged_and_comes_to_the_same_verdict(
    accepted: dict[str, Any], bundle: Path
) -> None:
    words = ["verify", "run.zip", "--key", "buyer.key.pub"]
    found = answered(words, bundle.parent)
    assert (found["code"], found["unchanged"], found["kind"]) == (0, True, "trial")
    assert found["people"]["ran_by"] == "the vendor"
    standings = {each["name"]: each["standing"] for each in found["checks"]}
    assert standings.pop("challenge") == "not checked"
    assert set(standings.values()) == {"holds"}
    with zipfile.ZipFile(bundle) as archive:
        sealed = json.loads(archive.read("verdict.json"))
    assert sealed["verdict"] == accepted["verdict"]


def test_one_byte_of_the_record_is_named(bundle: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(tmp_path / "bundle")
    requests = tmp_path / "bundle" / "runs" / "001" / "requests.parquet"
    content = bytearray(requests.read_bytes())
    content[len(content) // 2] ^= 1
    requests.write_bytes(bytes(content))
    found = answered(["verify", "bundle"], tmp_path)
    assert (found["code"], found["unchanged"]) == (1, False)
    wrong = [each["message"] for each in found["checks"] if each["standing"] == "fails"]
    assert any("runs/001/requests.parquet" in each for each in wrong), wrong


def test_the_acceptance_shows_verdict_bundle_and_places_for_signatures(
    accepted: dict[str, Any], bundle: Path
) -> None:
    about = ("--as", "acceptance", "--buyer", "Example AG", "--order", "2026-117", "--gpu", "cpu")
    for name in ("acceptance.md", "acceptance.html"):
        done = vram_here(["report", "run.zip", *about, "-o", name], bundle.parent)
        assert done.returncode == 0, done.stderr
    told = (bundle.parent / "acceptance.md").read_text()
    assert f"**{accepted['verdict']}**" in told
    assert "| order | 2026-117 |" in told
    assert "All 10 files are as they were sealed." in told
    assert ".." not in told.replace("...", "")
    page = (bundle.parent / "acceptance.html").read_text()
    sealed = answered(["verify", "run.zip"], bundle.parent)["sha256"]
    assert sealed in told
    assert sealed in page
    assert "Example AG" in page
