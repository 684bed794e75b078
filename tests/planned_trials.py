"""A plan with a small workload, and a file of trials for it, for tests that carry trials out."""

import json
import subprocess
from pathlib import Path
from typing import Any

from commands import vram
from rehearse_server import GPU, MODEL
from trial_command import steady_workload

PLAN = """\
name: planned
model: {model}
engine: {{name: vllm, args: {{max-model-len: 4096}}}}
workload: w.parquet
scenarios:
  all: {{kind: latency, contract: {{ttft_s: {{p50: {ttft}}}, success: {success}}}}}
gpus: [{gpu}]
"""
ITEMS = [
    {"name": "ready", "kind": "ready", "takes_s": 120},
    {"name": "all", "kind": "run", "scenario": "all", "send_s": 4, "drain_s": 30, "takes_s": 400},
]


def plan(folder: Path, *, ttft: float = 5.0, success: float = 0.5, count: int = 40) -> Path:
    """plan.yaml and its workload in a folder."""
    steady_workload(folder / "w.parquet", count)
    file = folder / "plan.yaml"
    file.write_text(PLAN.format(model=MODEL, ttft=ttft, success=success, gpu=GPU))
    return file


def trials(folder: Path, *more: dict[str, Any], **keys: Any) -> Path:
    """trials.yaml: readiness, one run, and more."""
    expected = [
        {"scenario": "all", "asked": "ttft_s p50 <= 5", "holds": True, "share": 1.0},
        {"scenario": "all", "asked": "success >= 50.00%", "holds": True, "share": 1.0},
    ]
    content = {
        "schema": "vramledger.trials/1",
        "plan": "plan.yaml",
        "confidence": 0.9,
        "items": [*ITEMS, *more],
        "expected": expected,
        **keys,
    }
    file = folder / "trials.yaml"
    file.write_text(json.dumps(content))  # JSON is YAML
    return file


def carry_words(file: Path, url: str, *options: str) -> list[str]:
    return ["trial", "plan", "--run", str(file), "--url", url, "--json", *options]


def carried(
    file: Path, url: str, *options: str, **settings: Any
) -> subprocess.CompletedProcess[str]:
    """The file, carried out."""
    return vram(carry_words(file, url, *options), file.parent, **settings)


def answer(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Its JSON object."""
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def ends(found: dict[str, Any]) -> dict[str, Any]:
    """Exit codes by name of the item, or why it did not run."""
    return {
        each["name"]: each["exit_code"] if each["exit_code"] is not None else each["reason"]
        for each in found["items"]
    }


def client_kept_up(found: dict[str, Any]) -> bool:
    """Whether the run says that its client was no bottleneck: on a busy machine it was, and then nothing is decided."""
    run = Path(found["folder"]) / "answers" / "02-all.json"
    inconclusive = json.loads(run.read_text())["inconclusive"]
    assert all("client" in reason for reason in inconclusive), inconclusive
    return not inconclusive
