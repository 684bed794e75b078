"""``vram simulate --knee``: what it finds can be simulated again, and what ends it is a sentence."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from documents.json_keys import covers, documented, printed_paths
from stored_workloads import chats, request, stored
from vramledger.cli.main import run
from vramledger.errors import ExitCode
from vramledger.methods.simulated import knee as knee_module
from vramledger.methods.simulated import subject as subject_module
from vramledger.methods.simulated.subject import SimulatedSubject
from vramledger.methods.subject import Observation

JSON_PAGE = Path(__file__).parents[2] / "docs" / "reference" / "json.md"
LAUNCH = "vllm serve meta-llama/Llama-3.1-8B --max-model-len 8192"
CARD = ("--gpu", "L40S", "--engine-version", "0.32.0", "--workload", "w.parquet")
LIMIT = ("--limit", "ttft p95 <= 300ms")
FIGURES = {
    "offered_per_s", "answered_per_s", "goodput_per_hour", "ttft_p50_s", "ttft_p95_s", "e2e_mean_s",
    "e2e_p95_s", "kv_p99", "in_system_mean", "in_system_p99", "preemptions",
}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    stored(tmp_path / "w.parquet", chats(30, span_s=60))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def simulated(*arguments: str) -> int:
    return run(["simulate", LAUNCH, *CARD, *arguments])


def knee(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    code = simulated("--knee", "--tolerance", "0.2", "--json", *arguments)
    found = json.loads(capsys.readouterr().out)
    assert (code == ExitCode.HOLDS) == found["holds"]
    assert found["holds"] == (found["verdict"] == "holds")
    return found


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    simulated("--knee", "--tolerance", "0.5", "--no-prefix", *arguments)
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert simulated(*arguments) == ExitCode.BAD_INPUT
    output = capsys.readouterr()
    assert output.out == ""
    return output.err.removeprefix("vram: ").strip()


def test_both_ends_are_seen_again_with_their_rate_and_seed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = knee(capsys, *LIMIT)
    assert found["prefix_hits"] is True
    for side, more in ((found, ()), (found["without_prefix_hits"], ("--no-prefix",))):
        limit = side["contract_limit"]
        held, failed = limit["held"], limit["failed"]
        assert held["rate_scale"] < failed["rate_scale"]
        slow = side["slow_end"]["contract_limit"]["held"]
        assert slow["rate_scale"] < held["rate_scale"]
        for end, code in (
            (slow, ExitCode.HOLDS),
            (held, ExitCode.CANNOT_KNOW),  # at the slow end it does not hold there
            (failed, ExitCode.DOES_NOT_HOLD),
        ):
            at = ("--rate-scale", f"{end['rate_scale']:g}", "--seed", str(end["seed"]))
            assert simulated(*at, *LIMIT, *more, "-o", f"{code}{side is found}") == code
    capsys.readouterr()


def test_a_decision_rests_on_the_slow_end_of_the_step_times(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = knee(capsys, *LIMIT, "--no-prefix")
    slow = found["slow_end"]
    assert slow["step_time_factor"] > 1
    assert found["decision_load"] == slow["safe_load"]["held"]
    assert found["decision_load"]["rate_scale"] < found["safe_load"]["held"]["rate_scale"]
    at, expected = found["decision_load"], found["contract_limit"]["held"]
    (line,) = (line for line in found["says"].split(". ") if line.startswith("The contract"))
    assert line.startswith(f"The contract holds up to {at['requests_per_s']:.3g}/s ")
    assert f"(every step x{slow['step_time_factor']:.2f}, assumed)" in line
    assert f"and up to {expected['requests_per_s']:.3g}/s " in line
    assert line.endswith("; what breaks above that: ttft_s p95 <= 0.3")


def test_a_contract_that_holds_at_no_load_when_steps_are_slow_is_not_known(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ("--knee", "--tolerance", "1", "--no-prefix", "--json", "--limit")
    assert simulated(*asked, "ttft p95 <= 1ms") == ExitCode.DOES_NOT_HOLD
    first = json.loads(capsys.readouterr().out)
    (check,) = first["contract_limit"]["failed"]["checks"]
    assert first["says"] == (
        "No load keeps the contract; what breaks even at the lowest that was tried: ttft_s p95 <= 0.001."
    )
    assert simulated(*asked, f"ttft p95 <= {check['value'] * 1.2:.4f}s") == ExitCode.CANNOT_KNOW
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "holds, not at the slow end"
    assert found["contract_limit"]["held"] is not None
    assert found["slow_end"]["contract_limit"]["held"] is found["decision_load"] is None
    assert found["says"].endswith(": whether it can be kept is not known.")


def test_the_json_says_what_was_asked_and_has_every_point(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = knee(capsys, *LIMIT, "--headroom", "0.4")
    assert found["schema"] == "vramledger.knee/1"
    assert found["origin"] == "simulated"
    assert found["contract"] == ["ttft_s p95 <= 0.3"]
    assert found["contract_stated"] is True
    assert found["headroom"] == ["KV use p99 <= 60.0%", "no preemption"]
    assert found["verdicts"]["wrong_at_most"] == pytest.approx(1 / 65)
    levels = [point["rate_scale"] for point in found["points"]]
    assert levels == sorted(levels)
    assert all(point.keys() >= FIGURES for point in found["points"])
    listed = documented(JSON_PAGE.read_text(encoding="utf-8"))["vramledger.knee/1"]
    assert [path for path in printed_paths(found) if not covers(listed, path)] == []
    held = found["contract_limit"]["held"]
    point = found["points"][levels.index(held["rate_scale"])]
    assert [draw["seed"] for draw in point["draws"]] == list(range(held["draws"]))
    broke = [draw["broke"] for draw in point["draws"] if draw["contract"] != "holds"]
    assert all("ttft_s p95 <= 0.3" in lines for lines in broke)
    assert found["drawn"] == ["which sessions arrive and when"]
    assert found["notes_of"] == {"rate_scale": held["rate_scale"], "seed": held["seed"]}
    assert sum(draw["contract"] == "holds" for draw in point["draws"]) == held["draws_held"]
    assert found["safe_load"]["held"]["rate_scale"] <= held["rate_scale"]
    low, high = found["knee"]["between"]
    assert low < found["knee"]["rate_scale"] < high


def test_the_answer_is_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, *LIMIT).splitlines()
    assert lines[0] == "SIMULATED, not measured: w.parquet, at other rates"
    assert lines[3] == "contract    ttft_s p95 <= 0.3"
    assert lines[4] == "safe load   beside the contract: KV use p99 <= 75.0%; no preemption"
    assert lines[6] == "SIMULATED without prefix hits"
    assert lines[7].startswith("The contract holds up to ")
    assert lines[8:10] == ["", "at the expected step times:"]
    assert re.fullmatch(
        r"The contract holds up to \S+/s \(x\S+\), with \d+ requests in the system \(p99 \d+\), and no more "
        r"from \S+/s \(x\S+\) on, where ttft_s p95 <= 0\.3 finds \S+( \(seed \d+\))?\.",
        lines[10],
    )
    assert lines[11] == (
        "The safe load ends there, too: the contract breaks before the headroom is used."
    )
    slow = lines.index("at the slow end of their band, every step x1.45, assumed:")
    assert lines[slow + 1].startswith("The contract holds up to ")
    head = next(line for line in lines if line.startswith("factor  "))
    assert "  ttft_s p95 <= 0.3  " in head
    assert any(re.search(r"  \d[\d.]* !\d?  ", line) for line in lines)
    assert any(
        re.fullmatch(
            r"Notes on the run at \S+/s \(x\S+\), seed \d+, at the expected step times:", line
        )
        for line in lines
    )
    assert any(line.startswith("The knee of the curve is at ") for line in lines)
    assert (
        "note: The seed draws which sessions arrive and when. A load holds clearly when 3 more of its draws "
        "held than failed, fails clearly in the reverse case, and is uncertain when that cannot come about "
        "within 7 draws. One at which 20.0% of all draws hold, or fewer, is said to hold with a probability "
        "of 1.5% at most; likewise for failing. The error of the step times is not in this: the slow end of "
        "their band is. A row of the table has the figures of its first draw."
    ) in lines


def test_without_a_contract_preemption_and_the_queue_stand_for_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "contract    no preemption; the queue drains (none was stated)" in said(capsys)


def test_a_contract_that_nothing_meets_ends_in_a_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ("--knee", "--tolerance", "0.5", "--no-prefix", "--limit", "ttft p95 <= 1ms")
    assert simulated(*asked) == ExitCode.DOES_NOT_HOLD
    assert re.search(
        r"^No load keeps the contract: even at \S+/s \(x0\.1667\), the lowest that was tried, ttft_s p95 <= "
        r"0\.001 finds 0\.0\d+ \(fewer than 20 requests have no such percentiles\)\.$",
        capsys.readouterr().out,
        re.MULTILINE,
    )


def test_a_rate_that_is_not_reached_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject_module, "_MOST_REQUESTS", 480)
    text = said(capsys, "--limit", "success >= 99%")
    assert re.search(
        r"^The contract holds at the highest load that was tried, \S+/s \(x4\), with .*; its end was not "
        r"reached, because a search plays 480 requests and 1,000 times the arrivals at most\.$",
        text,
        re.MULTILINE,
    )


def test_a_contract_that_asks_for_more_than_is_recorded_is_met_at_a_higher_rate(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = knee(capsys, *LIMIT, "--limit", "20,000 requests an hour", "--no-prefix")
    limit = found["contract_limit"]
    assert limit["held"]["requests_per_s"] > 20_000 / 3600
    assert "too little is offered for 20,000 requests an hour" in limit["says"]


def test_of_a_closed_loop_the_number_in_flight_is_searched(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ("--closed", "4", "--no-prefix", "--limit", "ttft p95 <= 200ms")
    assert simulated("--knee", *asked, "--json") == ExitCode.HOLDS
    found = json.loads(capsys.readouterr().out)
    assert found["axis"] == "concurrency"
    held, failed = (found["contract_limit"][end]["concurrency"] for end in ("held", "failed"))
    assert held < failed <= max(held + 1, held * 1.02)
    slow = found["slow_end"]["contract_limit"]["held"]["concurrency"]
    for closed, code in (
        (slow, ExitCode.HOLDS),
        (held, ExitCode.CANNOT_KNOW),
        (failed, ExitCode.DOES_NOT_HOLD),
    ):
        assert simulated(*asked[2:], "--closed", str(closed), "-o", f"c{closed}") == code
    capsys.readouterr()
    text = said(capsys, *asked[:2], *asked[3:])
    assert text.startswith("SIMULATED, not measured: w.parquet, at other numbers in flight\n")
    assert re.search(
        r"The contract holds up to \d+ in flight, which answers \S+/s, and no more", text
    )
    assert (
        "note: Nothing in these loads is random: the requests come as they are recorded, so that a load is "
        "played once. "
    ) in text
    assert found["drawn"] == []
    assert {len(point["draws"]) for point in found["points"]} == {1}


@pytest.mark.parametrize(
    ("scenario", "draws"), [("daily", False), ("tail", True)], ids=["daily", "tail"]
)
def test_a_closed_loop_is_repeated_only_where_the_seed_decides_something(
    capsys: pytest.CaptureFixture[str], scenario: str, *, draws: bool
) -> None:
    asked = ("--closed", "4", "--no-prefix", "--scenario", scenario, "--limit", "ttft p95 <= 200ms")
    found = knee(capsys, *asked)
    plays = [len(point["draws"]) for point in found["points"]]
    assert (max(plays) > 1) is draws
    assert found["drawn"] == (["where the long requests stand"] if draws else [])


def test_answers_that_are_drawn_are_drawn_again(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    rows = chats(30, span_s=60)
    stored(
        folder / "w.parquet",
        [{**row, "output_tokens": None} if n % 2 else row for n, row in enumerate(rows)],
    )
    found = knee(capsys, "--closed", "4", "--no-prefix", "--limit", "ttft p95 <= 200ms")
    assert found["drawn"] == ["the answers that the workload lacks"]
    assert max(len(point["draws"]) for point in found["points"]) >= 3


def test_ctrl_c_prints_the_loads_that_were_tried(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted(SimulatedSubject):
        def play(self, level: float, attempt: int) -> Observation:
            if level != 1:
                raise KeyboardInterrupt
            return super().play(level, attempt)

    monkeypatch.setattr(knee_module, "SimulatedSubject", Interrupted)
    assert simulated("--knee", *LIMIT) == ExitCode.INTERRUPTED
    lines = capsys.readouterr().out.splitlines()
    stopped = lines.index("The search was stopped before its end.")
    assert lines[stopped + 1 : stopped + 3] == ["These loads were tried:", ""]
    table = lines[stopped + 3 :]
    assert table[2].split()[0] == "1"
    assert table[3].startswith("! marks what broke")


def test_a_deployment_that_does_not_start_has_no_knee(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["simulate", LAUNCH.replace("8B", "70B"), *CARD, "--knee"]
    assert run(arguments) == ExitCode.DOES_NOT_HOLD
    assert capsys.readouterr().out.startswith("DOES NOT START, so nothing was simulated: ")
    assert run([*arguments, "--json"]) == ExitCode.DOES_NOT_HOLD
    found = json.loads(capsys.readouterr().out)
    assert found.keys() == {"schema", "holds", "reason"}


def test_a_workload_of_one_request_ends_in_a_sentence(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    one = request(0, arrival_s=0.0, input_tokens=100, output_tokens=10)
    stored(folder / "w.parquet", [one])
    assert simulated("--knee", "--limit", "ttft p95 <= 1ms") == ExitCode.CANNOT_KNOW
    assert capsys.readouterr().err == (
        "vram: The workload has 1 request, and the contract's percentiles need 20 or more (p95 needs 20, p99 100), so "
        "no knee can be told; give a workload with more requests.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("--knee", "--rate-scale", "1e9"),
            "--rate-scale is 1e+09; it is a factor on the arrivals above 0 and up to 1000.",
        ),
        (("--knee", "--tolerance", "0"), "The tolerance is 0; it must be above 0 and up to 1."),
        (("--knee", "--tolerance", "nan"), "The tolerance is nan; it must be above 0 and up to 1."),
        (
            ("--knee", "-o", "run"),
            (
                "--knee plays many loads and keeps none of the runs, so it has no use for -o; simulate the load "
                "that it finds with --rate-scale."
            ),
        ),
        (
            ("--tolerance", "0.1"),
            "--tolerance is of the search for the knee; give --knee, or leave it out.",
        ),
        (("--headroom", "1"), "--headroom is 1; it is a share from 0 to below 1."),
    ],
)
def test_what_means_nothing_is_refused(
    arguments: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(capsys, *arguments) == sentence


def test_a_plan_brings_its_headroom_and_contract(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    plan = folder / "plan.yaml"
    plan.write_text(
        """\
name: chat
model: meta-llama/Llama-3.1-8B
engine: {name: vllm, version: "0.32", args: {max-model-len: 8192}}
workload: w.parquet
headroom: 0.5
scenarios:
  daily: {kind: latency, contract: {ttft_s: {p95: 0.3}}}
gpus: [L40S]
""",
        encoding="utf-8",
    )
    asked = ("--knee", "--tolerance", "0.5", "--no-prefix", "--json", "--limit", "success >= 90%")
    assert run(["simulate", str(plan), *asked]) == ExitCode.HOLDS
    found = json.loads(capsys.readouterr().out)
    assert found["contract"] == ["ttft_s p95 <= 0.3", "success >= 90.00%"]
    assert found["headroom"][0] == "KV use p99 <= 50.0%"
