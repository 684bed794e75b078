"""``vram simulate`` and ``vram predict`` against nonsense: a verdict or one sentence, and no half a run."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from steady_requests import poisson
from stored_workloads import Row, request, stored
from timing_questions import case
from vramledger.cli.main import run

LAUNCH = "vllm serve meta-llama/Llama-3.1-8B --max-model-len 8192"
CARD = ("--gpu", "H100-80GB-SXM", "--engine-version", "0.19.0")
YEAR_S = 365 * 86_400.0


def one(**values: Any) -> Row:
    plain = {"arrival_s": 0.0, "input_tokens": 100, "output_tokens": 20}
    return request(0, **plain | values)


def numbered(rows: Iterator[Row] | list[Row]) -> list[Row]:
    return [row | {"row": number} for number, row in enumerate(rows)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    stored(tmp_path / "w.parquet", numbered(poisson(40, 4, 200, 50)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def simulated(
    capsys: pytest.CaptureFixture[str], rows: list[Row], *words: str, code: int
) -> dict[str, Any]:
    """The answer to a workload of these rows."""
    file = stored(Path("own.parquet"), numbered(rows))
    assert run(["simulate", LAUNCH, *CARD, "--workload", str(file), *words, "--json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def refused(capsys: pytest.CaptureFixture[str], *words: str, code: int = 2) -> str:
    """The sentence with which the words are refused."""
    assert run(words) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("vram: ")
    assert said.err.endswith(".\n")
    return said.err.removeprefix("vram: ").strip()


@pytest.mark.usefixtures("folder")
def test_a_thousand_arrivals_within_a_microsecond_are_one_burst(
    capsys: pytest.CaptureFixture[str],
) -> None:
    burst = [one(arrival_s=number * 1e-9) for number in range(1000)]
    found = simulated(capsys, burst, code=0)
    assert found["requests"]["ok"] == 1000
    assert found["theory"]["offered_requests_per_s"] == pytest.approx(1e9, rel=0.01)
    together = simulated(capsys, [one() for _ in range(1000)], code=0)
    assert together["theory"]["offered_requests_per_s"] is None
    assert together["e2e_s"]["max"] == pytest.approx(found["e2e_s"]["max"], rel=0.01)


@pytest.mark.usefixtures("folder")
def test_two_requests_a_year_apart_take_no_longer_than_two(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = simulated(capsys, [one(), one(arrival_s=YEAR_S)], code=0)
    assert found["steps"] < 100
    assert found["simulated_s"] == pytest.approx(YEAR_S, rel=1e-6)
    assert found["binding"]["idle"] > 0.999999


@pytest.mark.usefixtures("folder")
def test_a_request_longer_than_the_limit_is_rejected_by_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    longest = 2**31 - 1
    found = simulated(capsys, [one(input_tokens=longest, output_tokens=longest)], code=1)
    assert found["requests"]["rejected"] == 1
    assert (
        "1 request is rejected: the engine refuses prompts that leave no room below max_model_len "
        "(8,192 tokens)."
    ) in found["notes"]
    found = simulated(capsys, [one(output_tokens=longest)], code=1)
    assert found["requests"]["incomplete"] == 1
    assert (
        "1 request is incomplete: the answer ends at max_model_len (8,192 tokens), or never came."
    ) in found["notes"]


@pytest.mark.usefixtures("folder")
def test_clients_that_leave_at_once_cost_nothing_and_are_not_served(
    capsys: pytest.CaptureFixture[str],
) -> None:
    gone = [one(cancel_after_s=0.0, outcome="cancelled") for _ in range(10)]
    found = simulated(capsys, gone, code=1)
    assert (found["requests"]["cancelled"], found["served_anybody"]) == (10, False)
    assert found["steps"] == 0


@pytest.mark.usefixtures("folder")
def test_a_contract_that_only_those_keep_who_left_does_not_hold(
    capsys: pytest.CaptureFixture[str],
) -> None:
    gone = [one(cancel_after_s=0.5, outcome="cancelled", output_tokens=4000) for _ in range(10)]
    stored(Path("gone.parquet"), numbered(gone))
    asked = ["--workload", "gone.parquet", "--limit", "ttft p95 <= 2", "--limit", "success >= 99%"]
    assert run(["simulate", LAUNCH, *CARD, *asked]) == 1
    said = capsys.readouterr().out.splitlines()
    assert "not checked  success >= 99.00%: nothing to count" in said
    assert "FAIL         somebody is served in time: nobody is" in said
    assert "verdict      FAIL" in said


@pytest.mark.usefixtures("folder")
def test_a_contract_that_nothing_meets_is_a_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    plan = Path("plan.yaml")
    plan.write_text(
        "name: never\nmodel: meta-llama/Llama-3.1-8B\n"
        'engine: {name: vllm, version: "0.19", args: {max-model-len: 8192}}\n'
        "workload: w.parquet\nscenarios:\n"
        "  daily: {kind: latency, contract: {ttft_s: {p50: 1.0e-9}, itl_s: {p50: 1.0e-9}, success: 1}}\n"
        "gpus: [H100-80GB-SXM]\n"
    )
    assert run(["simulate", str(plan), "--json", "-o", "r"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [line["holds"] for line in found["contract"]] == [False, False, True]
    assert found["goodput_per_hour"] == 0


@pytest.mark.parametrize(
    "row", [one(output_tokens=None), one(input_tokens=0)], ids=["no output", "no input"]
)
@pytest.mark.usefixtures("folder")
def test_a_workload_without_lengths_cannot_be_known(
    capsys: pytest.CaptureFixture[str], row: Row
) -> None:
    file = stored(Path("own.parquet"), [row])
    assert refused(capsys, "simulate", LAUNCH, *CARD, "--workload", str(file), code=3) == (
        "own.parquet has no request with known input and output tokens; import it with lengths, or "
        "with --tokenizer where texts are there."
    )


@pytest.mark.parametrize(
    ("column", "value"),
    [("arrival_s", -5.0), ("arrival_s", float("inf")), ("input_tokens", -1), ("cancel_after_s", -1.0)],
)  # fmt: skip
@pytest.mark.usefixtures("folder")
def test_numbers_that_no_workload_has_are_named(
    capsys: pytest.CaptureFixture[str], column: str, value: float
) -> None:
    file = stored(Path("own.parquet"), numbered([one(), one(**{column: value})]))
    assert refused(capsys, "simulate", LAUNCH, *CARD, "--workload", str(file)) == (
        f"own.parquet: the column {column} holds numbers that no workload has; import the logs again."
    )


@pytest.mark.parametrize(
    ("flags", "code", "said"),
    [
        ("--max-num-seqs 0", 2, "it must be at least 1."),
        ("--max-num-seqs -1", 2, "it must be at least 1."),
        ("--block-size 0", 2, "it must be at least 1."),
        ("--num-gpu-blocks-override 0", 2, "it must be at least 1."),
        ("--kv-cache-memory-bytes 0", 2, "it must be at least 1."),
        ("--gpu-memory-utilization nan", 2, "it must be above 0 and at most 1."),
        ("--long-prefill-token-threshold -1", 2, "it must be at least 0."),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_launch_that_means_nothing_is_refused(
    capsys: pytest.CaptureFixture[str], flags: str, code: int, said: str
) -> None:
    words = ("simulate", f"{LAUNCH} {flags}", *CARD, "--workload", "w.parquet")
    assert refused(capsys, *words, code=code).endswith(said)


@pytest.mark.parametrize(
    "flags",
    ["--block-size 1", "--num-gpu-blocks-override 1", "--num-gpu-blocks-override 2",
     "--num-gpu-blocks-override 1000000000", "--kv-cache-memory-bytes 1",
     "--max-num-seqs 1000000000", "--max-num-batched-tokens 100000000000"],
)  # fmt: skip
@pytest.mark.usefixtures("folder")
def test_a_launch_that_does_not_start_is_a_verdict(
    capsys: pytest.CaptureFixture[str], flags: str
) -> None:
    words = ["simulate", f"{LAUNCH} {flags}", *CARD, "--workload", "w.parquet"]
    assert run(words) == 1
    said = capsys.readouterr()
    assert said.out.startswith("DOES NOT START, so nothing was simulated: ")
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    "flags",
    ["--max-num-batched-tokens 1", "--max-num-seqs 1", "--num-gpu-blocks-override 513",
     "--max-num-batched-tokens 1 --max-num-seqs 1", "-dp 64"],
)  # fmt: skip
@pytest.mark.usefixtures("folder")
def test_the_smallest_engines_answer_everybody(
    capsys: pytest.CaptureFixture[str], flags: str
) -> None:
    words = ["simulate", f"{LAUNCH} {flags}", *CARD, "--workload", "w.parquet", "--json"]
    assert run(words) == 0
    assert json.loads(capsys.readouterr().out)["requests"]["ok"] == 40


@pytest.mark.usefixtures("folder")
def test_two_runs_of_one_second_get_a_folder_each() -> None:
    words = ["simulate", LAUNCH, *CARD, "--workload", "w.parquet"]
    assert [run(words), run(words), run(words)] == [0, 0, 0]
    assert len(list(Path("runs").iterdir())) == 3


@pytest.mark.usefixtures("folder")
def test_more_replicas_than_requests_are_as_good_as_one_each(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["simulate", LAUNCH, *CARD, "--workload", "w.parquet", "--replicas", "1024", "--json"]
    assert run(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["running"]["max"] == 1
    assert found["queue_s"]["max"] == 0


@pytest.mark.parametrize("place", ["full", "file", "link", "under/a/file"])
def test_a_place_that_is_taken_is_refused_before_anything_is_simulated(
    folder: Path, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    (folder / "full").mkdir()
    (folder / "full" / "mine").touch()
    (folder / "file").touch()
    (folder / "link").symlink_to("full")
    (folder / "under").touch()
    said = refused(capsys, "simulate", LAUNCH, *CARD, "--workload", "w.parquet", "-o", place)
    assert said.startswith(f"{place} ")
    assert [each.name for each in (folder / "full").iterdir()] == ["mine"]


def test_a_link_that_leads_nowhere_is_not_followed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "link").symlink_to("nowhere")
    said = refused(capsys, "simulate", LAUNCH, *CARD, "--workload", "w.parquet", "-o", "link")
    assert said.startswith("link cannot be written: ")
    assert not (folder / "nowhere").exists()


def test_a_name_that_is_no_text_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = folder / "w\udcff.parquet"  # how Python writes the byte 0xff of a file's name
    (folder / "w.parquet").rename(odd)
    words = ("simulate", LAUNCH, *CARD, "--workload", odd.name)
    assert refused(capsys, *words) == "The name w\\udcff.parquet is not UTF-8; rename it."


def test_a_profile_is_told_from_a_workload(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "profile.json").write_text("{}")
    assert refused(capsys, "simulate", LAUNCH, *CARD, "--workload", "profile.json") == (
        "profile.json holds no requests; if it is a profile, draw some: vram workload synth --like "
        "profile.json --requests 20000 -o profile.parquet."
    )


def test_two_runs_into_one_folder_leave_one_whole_run(folder: Path) -> None:
    several = [_started(folder, "-o", "r") for _ in range(2)]
    codes = sorted(one.wait(timeout=120) for one in several)
    errors = "".join(one.communicate()[1] for one in several)
    assert codes == [0, 2]
    assert "r holds something already" in errors or "r cannot be written: " in errors
    assert sorted(each.name for each in (folder / "r").iterdir()) == [
        "journal.jsonl", "requests.parquet", "run.json", "steps.parquet",
    ]  # fmt: skip
    assert not list(folder.glob(".r-*"))


def test_an_interrupted_run_leaves_nothing(folder: Path) -> None:
    stored(folder / "w.parquet", numbered(poisson(60_000, 30, (100, 3_000), (1, 800))))
    started = _started(folder, "-o", "r")
    time.sleep(1.5)
    started.send_signal(signal.SIGINT)
    out, error = started.communicate(timeout=60)
    assert started.returncode == 130
    assert out == ""
    assert error.strip().endswith("vram: interrupted.")
    assert {each.name for each in folder.iterdir()} == {"w.parquet"}


def test_a_killed_run_leaves_no_folder_of_its_name(folder: Path) -> None:
    stored(folder / "w.parquet", numbered(poisson(60_000, 30, (100, 3_000), (1, 800))))
    started = _started(folder, "-o", "r")
    time.sleep(1.5)
    started.kill()
    started.communicate(timeout=60)
    assert started.returncode == -signal.SIGKILL
    assert not (folder / "r").exists()


def _started(folder: Path, *words: str) -> "subprocess.Popen[str]":
    """The command in a process of its own, which hears an interruption."""
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from vramledger.cli.main import main; main()"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, "simulate", LAUNCH, *CARD, "--workload", "w.parquet", *words],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ,
    )  # fmt: skip


HOSTILE: dict[str, tuple[Any, ...]] = {
    "engine": (0, [], "x"),
    "engine_version": (0, True, []),
    "model": (None, "", 0, {}, "x", "\0"),
    "gpu": (None, "", [], "é"),
    "gpus": ("", -1, 1.5, True, 1e308, 10**30),
    "precision": (0, "x"),
    "kv_dtype": (1, "x"),
    "tp": (-1, 1.5, "x", 10**12),
    "dp": (-1, [], 10**30),
    "input_tokens": (None, "", 0, -1, True, 10**12, 1e308, [1]),
    "output_tokens": (None, 0, -1, {}, 10**12, 1e308),
    "concurrency": (None, 0, -1, "x", 10**12, 1e308),
    "requests": (0, -1, "", 1e308, 10**30),
}


def test_every_hostile_case_gets_an_error_in_its_place(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [json.dumps(case(id=f"{key}={value!r}", **{key: value}))
             for key, values in HOSTILE.items() for value in values]  # fmt: skip
    lines += [
        "[]",
        "5",
        "null",
        '"x"',
        "{",
        '{"id": "b", "id": "b"}',
        "[" * 100_000,
        '{"a":' * 5_000,
    ]
    (folder / "cases.jsonl").write_text("\n".join([json.dumps(case()), *lines, ""]), "utf-8")
    assert run(["predict", "--cases", "cases.jsonl", "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(found) == len(lines) + 1
    assert "error" not in found[0]
    for answer in found[1:]:
        assert set(answer) == {"schema", "id", "error"}
        assert answer["error"].endswith(".")
        assert answer["error"].isprintable()


def test_unknown_keys_and_ids_twice_do_no_harm(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [json.dumps(case(extra=[1, {"deep": None}])), json.dumps(case())]
    (folder / "cases.jsonl").write_text("\r\n".join(lines), "utf-8")
    assert run(["predict", "--cases", "cases.jsonl", "--json"]) == 0
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert first == second


@pytest.mark.parametrize("requests", [1e12, 1e9])
def test_a_run_of_any_length_is_answered(
    folder: Path, capsys: pytest.CaptureFixture[str], requests: float
) -> None:
    (folder / "cases.jsonl").write_text(json.dumps(case(requests=requests)), "utf-8")
    assert run(["predict", "--cases", "cases.jsonl", "--json"]) == 0
    assert 0 < json.loads(capsys.readouterr().out)["ttft_s"]["value"] < 1


def test_many_unreadable_lines_are_answered_quickly_and_singly(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "cases.jsonl").write_text("[]\n" * 100_000, "utf-8")
    assert run(["predict", "--cases", "cases.jsonl", "--json"]) == 3
    out = capsys.readouterr().out
    assert out.count("\n") == 100_000
    assert len(set(islice(out.splitlines(), 100))) == 1
