"""Which side keeps the contract and by what margin, and the log of experiments."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compared_runs import about, deployment, trial
from queued_trials import PLAN, queued_trial
from vramledger.accept.verdict import Line, Said
from vramledger.cli.main import run
from vramledger.compare.choice import choice_of
from vramledger.compare.experiment import append_experiment, read_experiments
from vramledger.compare.margin import Margin, left, margin_of
from vramledger.compare.side import read_sides
from vramledger.errors import BadInput
from vramledger.plan.read import parse_plan
from vramledger.record.document import Origin


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A is quick, B slower, C overloaded."""
    place = tmp_path_factory.mktemp("sides")
    for name, service_s, seed in (("a", 0.5, 1), ("b", 0.6, 2), ("c", 1.2, 3)):
        queued_trial(place / name, service_s=service_s, seed=seed)
    return place


def plan(place: Path, contract: str) -> str:
    file = place / "plan.yaml"
    file.write_text(PLAN.format(contract=contract, rate=9.0), encoding="utf-8")
    return str(file)


@pytest.mark.parametrize(
    ("sides", "contract", "code", "begins"),
    [
        ("ac", "{ttft_s: {p95: 2.0}}", 0, "CHOICE: A keeps the contract, with 64.8% of the limit left at its nearest line (daily: ttft_s p95 <= 2); B breaks daily: ttft_s p95 <= 2."),
        ("ba", "{ttft_s: {p95: 2.0}}", 0, "CHOICE: A and B keep the contract, B by the larger margin, with 64.8% of the limit left at its nearest line (daily: ttft_s p95 <= 2)."),
        ("ac", "{ttft_s: {p95: 0.01}}", 1, "CHOICE: No side keeps the contract of small."),
        ("ac", "{ttft_s: {p99.99: 9}}", 3, "CHOICE: Whether a side keeps the contract of small is not decided: lines of A are open."),
    ],
)  # fmt: skip
def test_the_choice_is_that_of_the_contract(
    sides: str,
    contract: str,
    code: int,
    begins: str,
    runs: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ["compare", *(str(runs / name) for name in sides), "--choose", "--plan", plan(tmp_path, contract)]  # fmt: skip
    assert run(asked) == code
    assert capsys.readouterr().out.splitlines()[0] == begins


def test_every_repetition_must_keep_the_contract(runs: Path) -> None:
    requirement = parse_plan(PLAN.format(contract="{ttft_s: {p95: 2.0}}", rate=9.0))
    sides = read_sides([f"{runs / 'a'},{runs / 'b'}", f"{runs / 'a'},{runs / 'c'}"])
    found = choice_of(sides, requirement)
    assert [(each.said, len(each.verdicts)) for each in found.sides] == [(Said.PASS, 2), (Said.FAIL, 2)]  # fmt: skip
    assert found.chosen == "A"


def test_nothing_is_decided_between_a_measurement_and_a_simulation(tmp_path: Path) -> None:
    fp8 = about(origin=Origin.SIMULATED)
    sides = read_sides([str(trial(tmp_path / "a")), str(trial(tmp_path / "b", fp8))])
    found = choice_of(sides, parse_plan(PLAN.format(contract="{success: 0.9}", rate=9.0)))
    assert (found.chosen, found.exit_code) == (None, 3)
    assert found.why == "B of 2 sides are simulated, and a contract is judged on trials; vram trial run makes one."  # fmt: skip


@given(
    limit=st.floats(1e-3, 1e3), value=st.floats(1e-3, 1e3), width=st.floats(0, 1), least=st.booleans()
)  # fmt: skip
def test_a_margin_is_kept_where_the_limit_is(
    limit: float, value: float, width: float, *, least: bool
) -> None:
    name = f"throughput {'>=' if least else '<='} {limit}"
    line = Line(name, Said.PASS, "s", value, value * (1 - width), value * (1 + width), limit)
    found = margin_of("daily", line)
    assert found is not None
    assert (found.value >= 0) == ((value >= limit) if least else (value <= limit))
    assert found.low <= found.value <= found.high


def test_margins_of_shares_and_of_what_has_none() -> None:
    said = margin_of("daily", Line("success >= 99.00%", Said.PASS, "0..1", 0.995, 0.99, 1.0, 0.99))
    assert said is not None
    assert (round(said.value, 9), round(said.low, 9), round(said.high, 9)) == (0.5, 0.0, 1.0)
    assert margin_of("daily", Line("the queue drains", Said.PASS)) is None
    assert margin_of("daily", Line("ttft_s p95 <= 2", Said.NOT_JUDGEABLE, "s", 1.0, 1.0, 1.0, 2.0)) is None  # fmt: skip
    assert Margin("x", Said.PASS, 1.0, 0.0, 1.0).line == "x"
    assert [left(each) for each in (0.5, -0.5, -7.0, float("-inf"))] == [
        "50.0% of the limit left",
        "50.0% of the limit beyond it",
        "7.0 times the limit beyond it",
        "beyond every limit",
    ]


def test_the_log_keeps_what_was_asked_and_what_came_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = trial(tmp_path / "a", seed=1)
    b = trial(tmp_path / "b", about(seen=deployment(driver="1")), seed=2, factor=1.5)
    log = tmp_path / "log.jsonl"
    asked = ["compare", str(a), str(b), "--log", str(log), "--question", "Is it the driver?", "--expect", "nothing"]  # fmt: skip
    assert run(asked) == 0
    assert run(asked) == 0
    capsys.readouterr()
    assert run(["compare", "--log", str(log), "--show"]) == 0
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.endswith("  Is it the driver?  (measured)")
    assert "  expected  nothing" in rest
    assert "  changed   GPU driver: 580.1 of A, 1 of B" in rest
    lines = log.read_bytes().splitlines()
    assert len(lines) == 2
    for line in lines:
        entry = json.loads(line)
        assert json.dumps(entry, sort_keys=True, separators=(",", ":")).encode() == line
        assert any(each["name"] == "e2e_s" for each in entry["results"][0]["effects"])


def test_a_line_that_was_cut_off_is_left_out_and_written_over(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    entry = {"schema": "vramledger.experiment/1", "at": "now", "sides": {}, "results": []}
    append_experiment(log, entry)
    whole = log.read_bytes()
    log.write_bytes(whole + whole[:20])
    assert len(read_experiments(log)) == 1
    append_experiment(log, entry)
    assert log.read_bytes() == whole * 2


def test_another_file_is_no_log_and_stays_as_it_is(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("mine\n", encoding="utf-8")
    said = f"{other}, line 1: no entry of an experiment log (vramledger.experiment/1); name a file that --log wrote."
    with pytest.raises(BadInput) as refused:
        append_experiment(other, {})
    assert str(refused.value) == said
    assert other.read_text(encoding="utf-8") == "mine\n"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["a", "b", "--choose"], "--choose holds each side against a contract; name the plan that has it with --plan."),
        (["a", "b", "--plan", "p"], "--plan is for --choose, which is not given; add --choose, or leave --plan out."),
        (["a", "b", "--expect", "x"], "--expect is kept in the log of a comparison; name its file with --log and leave --show out."),
        (["a", "--show"], "--show prints the log that --log names, and takes no runs: vram compare --log FILE --show."),
    ],
)  # fmt: skip
def test_options_that_do_not_fit_together_are_refused(
    asked: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", *asked]) == 2
    assert said in capsys.readouterr().err
