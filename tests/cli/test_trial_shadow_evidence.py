"""What ``vram trial shadow --plan -o`` writes is what ``vram accept`` judges quality by."""

import json
from pathlib import Path
from typing import Any

import pytest

from answering_server import Scripted, answering
from commands import vram_here
from little_model_server import SIZE, LittleModel, serving
from queued_trials import queued_trial

PLAN = (
    "name: small\nmodel: Qwen/Qwen3-32B\nquality: {shadow: s.json, min_agreement: 0.98}\n"
    "workload: {input_tokens: {p50: 100, max: 100}, output_tokens: {p50: 3, max: 3}, requests_per_s: 9}\n"
    "scenarios: {daily: {kind: latency, contract: {success: 0.9}}}\n"
)
LINE = "agreement of answers >= 98.00%"


def turned(step: int) -> LittleModel:
    """Every token is followed by the one so many further on."""
    rows = [[0.05] * SIZE for _ in range(SIZE)]
    for last, row in enumerate(rows):
        row[(last + step) % SIZE] = 1 - 0.05 * (SIZE - 1)
    return LittleModel(rows)


def shadow(a: str, b: str, folder: Path) -> tuple[int, dict[str, Any]]:
    command = ["trial", "shadow", "--a", a, "--b", b, "--requests", "30", "--max-tokens", "16", "--plan", "plan.yaml", "-o", "s.json", "--json"]  # fmt: skip
    done = vram_here(command, folder)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def judged(run: Path, folder: Path) -> dict[str, Any]:
    told = json.loads(
        vram_here(["accept", str(run), "--plan", "plan.yaml", "--json"], folder).stdout
    )
    found: dict[str, Any] = next(each for each in told["lines"] if each["name"] == LINE)
    return found


def test_the_written_comparison_decides_the_line_of_quality(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN, encoding="utf-8")
    run = queued_trial(tmp_path / "run")  # of vLLM 0.32.0, as the little models say they are
    assert judged(run, tmp_path)["verdict"] == "INCONCLUSIVE"  # nothing is written yet
    with serving(turned(1)) as a, serving(turned(1)) as same, serving(turned(5)) as other:
        for b, code, verdict in ((same, 0, "PASS"), (other, 1, "FAIL")):
            ended, found = shadow(a.url, b.url, tmp_path)
            assert (ended, found["verdict"], found["threshold"]) == (code, verdict, 0.98)
            line = judged(run, tmp_path)
            assert line["verdict"] == verdict
            for end in ("value", "low", "high"):
                assert line[end] == pytest.approx(found["token_agreement"][end])


def test_a_comparison_of_servers_that_tell_nothing_of_themselves_decides_nothing(
    tmp_path: Path,
) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN, encoding="utf-8")
    words = Scripted([f" w{place}" for place in range(20)])
    with answering(lambda _: words) as a, answering(lambda _: words) as b:
        assert shadow(a.url, b.url, tmp_path)[0] == 0
    line = judged(queued_trial(tmp_path / "run"), tmp_path)
    assert (line["verdict"], line["reason"]) == (
        "INCONCLUSIVE",
        "the evidence is of another deployment: it does not say of which engine version it is, and the run had 0.32.0",
    )
