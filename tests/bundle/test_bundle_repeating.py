"""The command that a bundle prints does the same again, and says what it lacks."""

import json
import shlex
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commands import vram, vram_here
from recorded_trials import standing
from rehearse_server import MODEL, rehearsal
from sealed_runs import contracted
from trial_command import steady_workload
from vramledger.bundle.sealing import seal
from vramledger.bundle.verifying import verify
from vramledger.record.run import read_run
from vramledger.trial.wire.target import Target

PLAN = f"""\
name: small
model: {MODEL}
workload: {{file: loads/w.parquet, rate_scale: 2}}
scenarios:
  chat: {{kind: latency, contract: {{ttft_s: {{p50: 5}}, success: 0.9}}}}
"""
SENT = (0, 3)  # all was sent; on a busy machine the client may have been late
ASKED = [
    *("--scenario", "chat", "--body", '{"temperature": 0.5}', "--interval", "200ms", "--cold", "--workers", "1"),
    *("--api", "completions", "--rate-scale", "4", "--seed", "5", "--drain", "2m", "--on-interrupt", "cancel"),
]  # fmt: skip


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle as a folder, and the run that its printed command made inside it, in `again`; what was there before is gone."""
    folder = tmp_path_factory.mktemp("repeated")
    home = folder / "home"
    (home / "loads").mkdir(parents=True)
    steady_workload(home / "loads/w.parquet", 20, 0.1)
    (home / "plan.yaml").write_text(PLAN)
    with rehearsal() as server:
        words = ["trial", "run", "plan.yaml", "--url", server.address, *ASKED, "-o", "run"]
        done = vram(words, home)
        assert done.returncode in SENT, done.stderr
        done = vram_here(
            ["verify", "--seal", "run", "--exercise", "-o", "../bundle", "--json"], home
        )
        assert done.returncode == 0, done.stderr
        shutil.move(home / "run", folder / "run")
        shutil.rmtree(home)
        (printed,) = json.loads(done.stdout)["repeat"]
        assert printed["needs"] == []
        program, *again = shlex.split(printed["command"].replace("URL", server.address))
        assert program == "vram"
        done = vram([*again, "-o", "../again"], folder / "bundle")
        assert done.returncode in SENT, done.stderr
    return folder


def test_the_printed_command_sends_the_same_again(sealed: Path) -> None:
    one, other = (read_run(sealed / name).description for name in ("run", "again"))
    assert other.workload_sha256 == one.workload_sha256
    assert (other.seed, other.scenario, other.plan) == (5, "chat", one.plan)
    trials: list[dict[str, Any]] = [(about.model_extra or {})["trial"] for about in (one, other)]
    for trial in trials:  # what no two trials share
        trial["load"].pop("workload")
        trial["given"].pop("workload")
        trial["load"]["prompts"].pop("salt")
        for key in ("zero_ns", "clock_ahead_s", "clock_error_s"):
            trial.pop(key)
    assert trials[0] == trials[1]
    assert trials[0]["rate_scale"] == 4


def test_the_plans_load_lies_where_the_plan_names_it(sealed: Path) -> None:
    bundle = sealed / "bundle"
    assert [path.name for path in bundle.glob("**/*.parquet") if "runs" not in path.parts] == ["w.parquet"]  # fmt: skip
    found = verify(bundle)
    assert found.unchanged
    (repeat,) = found.repeat
    assert "--workload loads/w.parquet " in repeat.command


def test_what_no_bundle_holds_is_named(tmp_path: Path) -> None:
    trial = standing(
        gpu_metrics="http://dcgm", target=Target("http://localhost:8000", key_file="/secret/place")
    ).to_json()
    trial |= {"given": {"tokenizer": "t.json"}}
    trial["load"]["prompts"]["own"] = "/home/me/prompts.jsonl"
    asked = contracted(tmp_path, trial=trial)
    (repeat,) = seal(replace(asked, exercise=True)).repeat
    assert repeat.needs == (
        "PROMPTS is the file of prompts that the run sent, which no bundle holds.",
        "TOKENIZER is the tokenizer.json that counted, which no bundle holds.",
        "GPU_METRICS is the address that tells of the GPUs, which no bundle holds.",
        "KEY_FILE is the file with the server's key, which no bundle holds.",
    )
    assert repeat.command.endswith(
        "--prompts PROMPTS --tokenizer TOKENIZER --gpu-metrics GPU_METRICS --key-file KEY_FILE"
    )


def test_a_command_in_a_bundle_is_never_shown(tmp_path: Path) -> None:
    trial = standing().to_json()
    trial["load"]["prompts"]["style"]["model"] = "m; rm -rf /\n"
    asked = contracted(tmp_path, trial=trial)
    (repeat,) = verify(seal(replace(asked, exercise=True)).path).repeat
    words = shlex.split(repeat.command)
    assert words[:3] == ["vram", "trial", "run"]
    assert words[words.index("--model") + 1] == "m; rm -rf /\n"
