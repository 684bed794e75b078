"""``vram plan`` writes a template, checks a plan and prints the schema."""

import json
from pathlib import Path

import pytest

from vramledger.cli.main import run
from vramledger.plan.check import check_plan
from vramledger.plan.requirement import Requirement
from vramledger.plan.template import template

SOUND = """\
name: demo
model: Qwen/Qwen3-32B
workload: {profile: chat, concurrent: 60}
gpus: [L40S, H100-80GB-SXM]
scenarios: {daily: {kind: latency, contract: {ttft_s: {p95: 2}, success: 0.99}}}
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.yaml"
    path.write_text(SOUND)
    return path


def test_new_prints_the_template_or_writes_it_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(["plan", "new"]) == 0
    assert capsys.readouterr().out == template()
    target = tmp_path / "mine.yaml"
    assert run(["plan", "new", "--out", str(target)]) == 0
    assert target.read_text() == template()
    assert capsys.readouterr().out == ""
    assert run(["plan", "new", "--out", str(target)]) == 2
    assert capsys.readouterr().err == (
        f"vram: {target} exists; name another file or remove it first.\n"
    )
    assert run(["plan", "new", "--out", str(tmp_path / "no" / "x.yaml")]) == 2
    assert "cannot be written: No such file or directory." in capsys.readouterr().err


def test_check_says_what_was_understood(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "check", str(plan)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[:3] == [
        f"{plan} is sound: demo, Qwen/Qwen3-32B",
        "  weights as-stored; KV cache auto",
        "  cards: L40S, H100-80GB-SXM",
    ]
    assert "daily: latency, 60 concurrent, headroom auto" in out
    assert "  contract: ttft_s p95 <= 2; success >= 99.00%" in out
    assert out[-3].startswith("Note: Lengths are the figures of a public trace: profile chat")
    assert out[-2] == (
        "Warning: Qwen/Qwen3-32B thinks before it answers (Qwen3 hybrid), but the median output (131 "
        "tokens in daily) is below 500 and shows no thinking tokens; thinking is output and holds KV "
        "cache, so take lengths of a model that thinks (--profile reasoning, your own logs), or switch "
        "thinking off (enable_thinking=False in chat_template_kwargs)."
    )
    assert out[-1] == (
        "Not decided: daily: ttft_s p95 <= 2: speed and queueing are not checked by memory; a trial "
        "decides."
    )


def test_check_as_json_carries_the_requirement(
    plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["plan", "check", str(plan), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "vramledger.plan/1"
    assert document["sound"] is True
    assert document["requirement"]["gpus"] == ["L40S", "H100-80GB-SXM"]
    (scenario,) = document["requirement"]["scenarios"]
    assert scenario["load"] == {"unit": "concurrent", "amount": 60.0}
    assert scenario["lengths"]["total_tokens"]["max"] == 14089
    assert scenario["lengths"]["basis"] == "quoted"


def test_check_says_what_no_listed_card_holds(
    plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan.write_text(SOUND.replace("gpus: [L40S, H100-80GB-SXM]", "gpus: [RTX-3060-8GB]"))
    assert run(["plan", "check", str(plan)]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[-1] == "Not met: RTX-3060-8GB does not hold Qwen/Qwen3-32B for daily."
    assert run(["plan", "check", str(plan), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["unmet"] == ["RTX-3060-8GB does not hold Qwen/Qwen3-32B for daily."]
    assert len(document["undecided"]) == 1


def test_check_lists_every_problem_and_exits_2(
    plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan.write_text(SOUND.replace("gpus", "gpu").replace("latency", "latence"))
    assert run(["plan", "check", str(plan)]) == 2
    err = capsys.readouterr().err.splitlines()
    assert err[0] == f"{plan} has 2 problems:"
    assert err[1].endswith("The nearest is 'gpus'.")
    assert err[2].endswith("The nearest is 'latency'.")
    assert run(["plan", "check", str(plan), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["problems"] == err[1:]


def test_check_of_what_is_not_supported_yet_exits_3(
    plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan.write_text(f"{SOUND}engine: {{name: sglang}}\n")
    assert run(["plan", "check", str(plan)]) == 3
    assert "the engine sglang is known but its memory rules are not" in capsys.readouterr().err


def test_schema_prints_the_shipped_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "vramledger plan"


def test_judges_say_what_a_sound_plan_cannot_meet(plan: Path) -> None:
    def judge(requirement: Requirement) -> list[str]:
        return [f"no listed card holds {requirement.longest} tokens"]

    outcome = check_plan(str(plan), [judge])
    assert outcome.problems == ()
    assert outcome.unmet == ("no listed card holds 14089 tokens",)


def test_the_verb_alone_prints_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(
        "Usage: vram plan [OPTIONS] [COMMAND] [ARGS]...\n\n  Write and check a plan"
    )
    assert "\n  new     Print a commented plan to fill in; it presets no threshold.\n" in out
