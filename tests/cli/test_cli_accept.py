"""``vram accept`` as a command."""

import json
from pathlib import Path

import pytest

from queued_trials import PLAN, queued_trial
from vramledger.cli.main import run


def test_the_command_prints_and_its_code_is_the_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = queued_trial(tmp_path / "run")
    plan = tmp_path / "plan.yaml"
    for contract, code, said in (
        ("{ttft_s: {p95: 2.0}}", 0, "PASS: small, 2 lines (2 PASS); intervals hold 95%"),
        ("{ttft_s: {p95: 0.1}}", 1, "FAIL: small, 2 lines (1 FAIL, 1 PASS); intervals hold 95%"),
        ("{ttft_s: {p99.99: 9}}", 3, "INCONCLUSIVE: small, 2 lines (1 INCONCLUSIVE, 1 PASS); intervals hold 95%"),
    ):  # fmt: skip
        plan.write_text(PLAN.format(contract=contract, rate=9.0), encoding="utf-8")
        assert run(["accept", str(folder), "--plan", str(plan)]) == code
        assert capsys.readouterr().out.splitlines()[0] == said
    assert run(["accept", str(folder), "--plan", str(plan), "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["schema"] == "vramledger.verdict/1"


def test_a_run_that_is_none_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN.format(contract="{success: 0.9}", rate=9.0), encoding="utf-8")
    assert run(["accept", str(tmp_path / "none"), "--plan", str(plan)]) == 2
    assert "is no folder, and a run is one" in capsys.readouterr().err
