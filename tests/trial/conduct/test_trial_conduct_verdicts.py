"""What a trial with made text says of the lines that it cannot decide."""

import json
from pathlib import Path

from commands import vram_here
from rehearse_server import GPU, MODEL, rehearsal
from trial_command import result_of, steady_workload, trial_run

MIXTURE = "mistralai/Mixtral-8x7B-Instruct-v0.1"
CONFIG = '{"method":"ngram","num_speculative_tokens":2}'
DRAFTS = f"vllm serve {MODEL} --max-model-len 4096 --speculative-config '{CONFIG}'"
PLAN = f"""\
name: chat
model: {MODEL}
engine: {{name: vllm, version: "0.32", args: {{max-model-len: 4096}}}}
workload: {{input_tokens: {{p50: 100, max: 400}}, output_tokens: {{p50: 20, max: 90}}, users: 10}}
gpus: [{GPU}]
scenarios:
  daily:
    kind: latency
    contract:
      ttft_s: {{p95: 2}}
      itl_s: {{p99: 0.1}}
"""
WHY = (
    "itl_s cannot be judged: the server drafts tokens, and how many of them a model accepts in made text is not what it "
    "accepts in yours; send prompts of your own with --prompts, or set an acceptance length on the server and state it."
)


def test_drafts_under_made_text_leave_decode_lines_without_a_verdict(tmp_path: Path) -> None:
    workload = steady_workload(tmp_path / "w.parquet", 5)
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN)
    with rehearsal("--acceptance", "0.7", launch=DRAFTS) as server:
        done = trial_run(server.address, workload, tmp_path / "run", str(plan), "--json", "--cold")
        open_ended = trial_run(server.address, workload, tmp_path / "any", "--json", "--cold")
        stated = trial_run(
            server.address, workload, tmp_path / "stated", "--json", "--cold", "--acceptance-length", "2.4"
        )  # fmt: skip
    assert done.returncode == 3  # the contract is left open
    found = json.loads(done.stdout)
    assert found["unjudgeable"] == [{"line": "itl_s", "message": WHY}]
    assert WHY in [each["reason"] for each in found["contract"]["lines"]]
    kept = json.loads((tmp_path / "run" / "run.json").read_text())
    assert kept["trial"]["unjudgeable"] == [{"line": "itl_s", "why": WHY}]
    assert f"no verdict: {WHY}" in vram_here(["trial", "show", "run"], tmp_path).stdout
    lines = {each["line"] for each in result_of(open_ended)["unjudgeable"]}
    assert lines == {"itl_s", "tpot_s", "e2e_s", "requests_per_hour", "done_by"}
    assert result_of(stated)["unjudgeable"] == []
    assert (
        "Drafts are accepted at a length of 2.4, which was set and not measured (assumed)."
        in result_of(stated)["warnings"]
    )


def test_experts_under_made_text_are_a_warning(tmp_path: Path) -> None:
    workload = steady_workload(tmp_path / "w.parquet", 5)
    with rehearsal(launch=f"vllm serve {MIXTURE} --max-model-len 4096 -tp 2") as server:
        done = trial_run(server.address, workload, tmp_path / "run", "--json", "--cold")
    found = result_of(done)
    assert any(each.startswith("The model has experts") for each in found["warnings"])
    assert found["unjudgeable"] == []


def test_an_acceptance_length_that_means_nothing_is_refused(tmp_path: Path) -> None:
    workload = steady_workload(tmp_path / "w.parquet", 5)
    done = trial_run("http://127.0.0.1:1", workload, tmp_path / "run", "--acceptance-length", "0.5")
    assert done.returncode == 2
    assert (
        "--acceptance-length is 0.5; it is the tokens that a step yields with its drafts, at least 1 and at most 64."
        in done.stderr
    )
