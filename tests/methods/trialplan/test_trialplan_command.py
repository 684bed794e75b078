"""``vram trial plan`` as a command: what it says of the time there is, and what it refuses."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from commands import said, vram_here
from planned_trials import plan, trials
from rehearse_server import GPU, LAUNCH
from vramledger.methods.trialplan.trials_file import read_trials


def proposed(folder: Path, *options: str) -> tuple[int, dict[str, Any]]:
    done = vram_here(["trial", "plan", "plan.yaml", *options, "--json"], folder)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_enough_time_decides(tmp_path: Path) -> None:
    plan(tmp_path)
    code, found = proposed(tmp_path, "--hours", "2", "--price", "EUR 3/h")
    assert (code, found["decides"]) == (0, True)
    assert [item["name"] for item in found["items"]] == ["ready", "all"]
    assert found["cost"] == pytest.approx(found["hours"] * 3, abs=1e-3)
    assert found["currency"] == "EUR"
    assert {(line["decided"], line["needed"] <= line["expected"]) for line in found["lines"]} == {
        (True, True)
    }


def test_too_little_says_what_would_do(tmp_path: Path) -> None:
    """Twelve minutes hold no success line at 99.9 %, which takes 2,302 requests of 36,000 an hour."""
    plan(tmp_path, success=0.999)
    code, found = proposed(tmp_path, "--max-cost", "0.6", "--price", "3/h")
    assert (code, found["decides"]) == (3, False)
    by_asked = {line["asked"]: line for line in found["lines"]}
    success = by_asked["success >= 99.90%"]
    assert (success["needed"], success["decided"]) == (2302, False)
    assert success["expected"] < 2302
    assert by_asked["ttft_s p50 <= 5"]["decided"] is True
    assert found["hours"] <= 0.2 < found["hours_to_decide"]
    text = vram_here(
        ["trial", "plan", "plan.yaml", "--max-cost", "0.6", "--price", "3/h"], tmp_path
    ).stdout
    assert text.startswith(
        "CANNOT DECIDE: The 12 min there are leave 1 of 2 lines of the contract open.\n"
    )
    assert (
        "Another rate would bring requests sooner, and is another question than the contract's.\n"
        in text
    )


def test_no_time_at_all_lists_everything_as_left_out(tmp_path: Path) -> None:
    plan(tmp_path)
    code, found = proposed(tmp_path, "--hours", "0.01")
    assert (code, found["items"], [each["name"] for each in found["left_out"]]) == (3, [], ["all"])


def test_the_same_seed_proposes_the_same(tmp_path: Path) -> None:
    plan(tmp_path)
    first, second = (proposed(tmp_path, "--seed", "3")[1] for _ in range(2))
    assert first == second


def test_what_does_not_start_decides_nothing(tmp_path: Path) -> None:
    file = plan(tmp_path)
    file.write_text(file.read_text().replace("H100-80GB-SXM", "T4"))
    code, found = proposed(tmp_path)
    assert (code, found["starts"]) == (1, False)
    assert found["reason"]


def test_what_was_asked_for_beside_the_contract_stands_in_the_file_and_is_read_back(
    tmp_path: Path,
) -> None:
    plan(tmp_path)
    (tmp_path / "bf16.answers").write_bytes(b"")
    (tmp_path / "elsewhere").mkdir()
    also = [
        "soak:1h",
        "repeat:4",
        "shadow:bf16.answers",
        "shadow:http://other:8000",
        "max-num-seqs=8",
    ]
    words = [word for each in also for word in ("--also", each)]
    out = tmp_path / "elsewhere" / "t.yaml"
    _, found = proposed(tmp_path, *words, "--hours", "24", "-o", str(out))
    assert [item["name"] for item in found["items"]] == [
        "ready", "all", "all-soak", "all-repeat", "shadow", "shadow-2", "all-max-num-seqs-8"
    ]  # fmt: skip
    items = {item.name: item for item in read_trials(out).items}
    assert items["all-repeat"].times == 4
    assert Path(items["shadow"].against or "").samefile(tmp_path / "bf16.answers")
    assert items["shadow-2"].against == "http://other:8000"
    assert items["all-soak"].send_s == 3600
    assert items["all-soak"].takes_s > 3600 + 3 * 600


def test_variations_change_one_argument_each_and_start(tmp_path: Path) -> None:
    file = plan(tmp_path)
    file.write_text(file.read_text().replace("max-model-len: 4096", "max-model-len: 4096, max-num-seqs: 64, max-num-batched-tokens: 4096"))  # fmt: skip
    _, found = proposed(tmp_path, "--also", "variations")
    changed = [item["settings"] for item in found["items"] if item["kind"] == "variation"]
    assert changed == [
        {"max-num-seqs": "32"},
        {"max-num-seqs": "128"},
        {"max-num-batched-tokens": "2048"},
        {"max-num-batched-tokens": "8192"},
    ]
    refused = file.read_text().replace("max-num-seqs: 64", "max-num-seqs: 1")
    file.write_text(refused)
    _, found = proposed(tmp_path, "--also", "variations")
    changed = [item["settings"] for item in found["items"] if item["kind"] == "variation"]
    assert {"max-num-seqs": "0"} not in changed
    assert {"max-num-seqs": "2"} in changed


RUN = ["--run", "trials.yaml"]
URL = ["--url", "http://127.0.0.1:9"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "Name the plan whose contract is to be decided: vram trial plan plan.yaml."),
        (["nothing.yaml"], "nothing.yaml is no plan file; vram plan new writes one."),
        (
            ["plan.yaml", "--max-cost", "20"],
            "--max-cost needs the price of the machine: --price 2.40/h.",
        ),
        (["plan.yaml", "--hours", "-1"], "--hours is -1; it is a number above 0 and up to 8784."),
        (
            ["plan.yaml", "--max-cost", "nan", "--price", "1/h"],
            "--max-cost is nan; it is a number above 0.",
        ),
        (
            ["plan.yaml", "--confidence", "95"],
            "--confidence is 95; it is a share above 0.5 and up to 0.9999.",
        ),
        (
            ["plan.yaml", "--also", "colt"],
            "Unknown kind of trial 'colt' in --also; the nearest known one is cold.",
        ),
        (
            ["plan.yaml", "--also", "run"],
            "--also run: the plan has that by itself; name cold, ramp, soak, repeat, shadow, variations or an argument=value.",
        ),
        (
            ["plan.yaml", "--also", "repeat:1"],
            "--also repeat:1 repeats 1 times; give it times from 2 to 1,000.",
        ),
        (
            ["plan.yaml", "--also", "shadow"],
            (
                "--also shadow compares with nothing; write shadow:http://OTHER:8000, or shadow:FILE with what vram trial shadow "
                "--record wrote."
            ),
        ),
        (
            ["plan.yaml", "--also", "shadow:gone.answers"],
            "gone.answers cannot be read: No such file or directory; check its path.",
        ),
        (
            ["plan.yaml", "--home", "somewhere"],
            "--home is for carrying trials out; give it with --run FILE.",
        ),
        (
            [*RUN, "plan.yaml", *URL],
            "--run takes the file of trials, which names its plan; leave PLAN out.",
        ),
        (
            RUN,
            "State the server with --url, such as http://localhost:8000; vram rehearse serves one to practise on.",
        ),
        (
            [*RUN, *URL, "--hours", "3"],
            "--hours is decided when trials are planned and stands in the file; change it there, or plan anew.",
        ),
        (
            [*RUN, *URL, "--key-env", "A", "--key-file", "b"],
            "--key-env and --key-file both name a key; give one of them.",
        ),
        (
            [*RUN, *URL, "--home", "host:"],
            "--home host: lacks the host or the folder; write user@host:dir.",
        ),
    ],
)
def test_what_means_nothing_is_refused(tmp_path: Path, words: Sequence[str], sentence: str) -> None:
    plan(tmp_path, count=3)
    trials(tmp_path)
    assert said(["trial", "plan", *words], tmp_path, vram_here) == f"{sentence}"
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "plan.yaml",
        "trials.yaml",
        "w.parquet",
    ]


def test_a_plan_that_promises_nothing_has_nothing_to_decide(tmp_path: Path) -> None:
    file = plan(tmp_path, count=3)
    text = file.read_text()
    file.write_text(text[: text.index(", contract")] + "}\ngpus: [H100-80GB-SXM]\n")
    done = vram_here(["trial", "plan", "plan.yaml"], tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        "vram: plan.yaml promises nothing: no scenario has a contract, so no trial decides it.\n"
    )


def test_a_key_is_named_and_never_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED", "sk-planted-secret")
    plan(tmp_path, count=3)
    trials(tmp_path, hours=0.02)
    words = ["trial", "plan", *RUN, *URL, "--key-env", "PLANTED", "--json"]
    vram_here(words, tmp_path)
    written = [each for each in (tmp_path / "trials-run").rglob("*") if each.is_file()]
    assert written
    assert not any(b"sk-planted-secret" in each.read_bytes() for each in written)


def test_a_calibration_that_is_no_evidence_decides_nothing(tmp_path: Path) -> None:
    """That of a simulated run: the proposal stands there, as a prediction."""
    plan(tmp_path, count=80)
    launch = ["--gpu", GPU, "--workload", "w.parquet", "-o", "run"]
    assert vram_here(["simulate", LAUNCH, *launch], tmp_path).returncode == 0
    made = vram_here(["calibrate", "run", "-o", "cal.json"], tmp_path)
    assert made.returncode == 0, made.stderr
    code, found = proposed(tmp_path, "--calibration", "cal.json", "--hours", "2")
    assert (code, found["decides"]) == (3, True)
    assert found["no_evidence"][0] == (
        "Prediction only, no evidence: the calibration is of a simulated run."
    )
