"""One page for runs that belong together: repetitions, a ramp, a soak."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from read_page import HOSTILE, read
from recorded_trials import small_ramp, small_series, small_soak, small_trial
from vramledger.calibrate.run_deployment import Stated
from vramledger.cli.main import run
from vramledger.errors import BadInput
from vramledger.methods.knee.probes import Point
from vramledger.methods.ramp.kept import RAMP, SOAK, Kept
from vramledger.methods.subject import Axis, Check, Figures, Goal, Observation, Verdict
from vramledger.plan.read import parse_plan
from vramledger.report.knee_json import point_json
from vramledger.report.knee_table import curve
from vramledger.report.run_report.gathered import gathered
from vramledger.report.run_report.markdown import to_markdown
from vramledger.report.run_report.model import Report
from vramledger.report.run_report.model import Verdict as Said
from vramledger.report.run_report.page import to_html
from vramledger.report.run_report.report_json import report_json
from vramledger.report.series_report.points import points_of
from vramledger.report.series_report.read import is_series_folder, series_report
from vramledger.simulate.judged import Amount

PLAN = """\
name: both
model: Qwen/Qwen3-8B
workload: {input_tokens: {p50: 100, max: 100}, output_tokens: {p50: 3, max: 3}, requests_per_s: 5}
scenarios:
  daily: {kind: latency, contract: {ttft_s: {p50: 9}}}
  nightly: {kind: latency, contract: {success: 0.9}}
gpus: [H100-80GB-SXM]
"""


def reported(folder: Path) -> Report:
    found = series_report(folder, "series-1")
    assert found is not None
    return gathered(folder.name, [], Stated(), series=[found])


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("series")
    small_series(place / "repeated")
    small_ramp(place / "ramp")
    small_soak(place / "soak")
    return place


def test_repetitions_are_one_page_with_what_runs_differ_by(folders: Path) -> None:
    report = reported(folders / "repeated")
    (series,) = report.series
    assert report.runs == ()
    assert series.says == ("4 of 4 runs, 16 requests.",)
    tables = read(to_html(report)).tables
    figures = tables["Figures of server A, 2 runs together and run by run"]
    assert figures[0] == [
        "", "pooled", "mean of runs", "low", "high", "least", "most", "within", "between",
    ]  # fmt: skip
    assert next(row for row in figures if row[0] == "TTFT p50")[1] == "0.501"
    assert "B less A, in 2 pairs" in tables
    assert [row[0] for row in tables["Its runs"][1:]] == [
        "run-001-a", "run-001-b", "run-002-a", "run-002-b",
    ]  # fmt: skip
    contract = tables["Repetition repeated, server A: INCONCLUSIVE"]
    assert contract[1][:4] == ["PASS", "ttft_s p50 <= 0.6 s", "0.501 s", "0.501 s to 0.501 s"]


def test_a_ramp_is_its_curve_with_the_ends_in_it(folders: Path) -> None:
    report = reported(folders / "ramp")
    told = json.loads((folders / "ramp" / "ramp.json").read_text(encoding="utf-8"))["result"]
    (series,) = report.series
    assert series.says == (told["says"],)
    tables = read(to_html(report)).tables
    found = {row[0]: row[1:] for row in tables["What the ramp found"][1:]}
    assert found["stopped by"] == [told["stopped_by"], told["stopped_says"]]
    assert found["safe load"][1] == told["safe_load"]["says"]
    assert [row[0] for row in tables["Its runs"][1:]] == ["step-c1"]
    assert report_json(report)["series"][0]["result"] == told


def test_a_soak_is_its_growths_and_its_segments(folders: Path) -> None:
    report = reported(folders / "soak")
    assert report.verdict is Said.PASS
    tables = read(to_html(report)).tables
    growth = next(row for row in tables["Growth over the soak"] if row[0].startswith("KV blocks"))
    assert growth[-1] == "holds"
    assert len(tables["Segments"]) == 1 + 14
    assert {row[1]: row[0] for row in tables["Soak soak: PASS"][1:]}[
        "the server does not restart"
    ] == "PASS"


def test_every_plot_of_a_series_has_its_table(folders: Path) -> None:
    for name in ("repeated", "ramp", "soak"):
        report = reported(folders / name)
        seen = read(to_html(report))
        assert seen.open_at_end == []
        text = to_markdown(report)
        for chart in report.series[0].charts:
            assert seen.tables[chart.table.title][1:] == [list(row) for row in chart.table.rows]
            assert f"### {chart.table.title}\n" in text


def test_the_command_takes_series_and_runs_together(
    folders: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = small_trial(tmp_path / "one")
    paths = [str(folders / name) for name in ("repeated", "ramp", "soak")]
    assert run(["report", *paths, str(one), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["kind"] for each in found["series"]] == ["repetition", "ramp", "soak"]
    assert [each["name"] for each in found["runs"]] == ["one"]
    assert any(each.startswith("ramp: ") for each in found["open_points"])


def test_a_ramp_that_is_not_over_is_its_steps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Kept.begun(tmp_path / "ramp", asked={}, prediction=None, workload_sha256="1" * 64)
    small_trial(tmp_path / "ramp" / "step-c1")
    assert run(["report", str(tmp_path / "ramp"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in found["runs"]] == ["step-c1"]
    assert found["open_points"][-1] == (
        f"The ramp in {tmp_path / 'ramp'} is not over, so its steps stand each by itself; vram trial resume "
        f"{tmp_path / 'ramp'} goes on with it."
    )


def test_a_soak_that_is_not_over_says_so(tmp_path: Path) -> None:
    kept = Kept.begun(tmp_path / "soak", SOAK, asked={}, workload_sha256="1" * 64)
    report = reported(kept.folder)
    assert report.verdict is Said.INCONCLUSIVE
    assert "The soak ended early: it is not over; vram trial resume goes on." in report.open_points


def test_growths_that_the_record_tells_otherwise_are_named(tmp_path: Path) -> None:
    path = small_soak(tmp_path / "soak") / SOAK.file
    content = json.loads(path.read_text(encoding="utf-8"))
    for each in content["result"]["growths"]:
        each["standing"] = "grows"
    path.write_text(json.dumps(content), encoding="utf-8")
    assert (
        "soak.json says otherwise of its growths than its own segments do; the tables are of the segments."
        in reported(path.parent).open_points
    )


@pytest.mark.parametrize("form", [RAMP, SOAK])
def test_a_record_that_is_not_as_it_was_written_is_refused(form: Any, tmp_path: Path) -> None:
    kept = Kept.begun(tmp_path / "r", form, asked={}, workload_sha256="")
    kept.ended("over", {"axis": "sideways"})
    with pytest.raises(BadInput) as refused:
        series_report(kept.folder, "series-1")
    assert str(refused.value) == (
        f"{kept.folder / form.file} is not as vram wrote it; use an unchanged copy."
    )


def test_text_out_of_a_record_is_no_markup(tmp_path: Path) -> None:
    path = small_ramp(tmp_path / "<b>ramp") / RAMP.file
    content = json.loads(path.read_text(encoding="utf-8"))
    for name in ("says", "stopped_says", "stopped_by"):
        content["result"][name] = HOSTILE
    content["result"]["unknown"] = [HOSTILE]
    path.write_text(json.dumps(content), encoding="utf-8")
    page = to_html(reported(path.parent))
    assert "<script" not in page
    assert "<img" not in page
    assert "<b>" not in page


def test_scenarios_that_no_repetition_decides_are_missing_beside_a_plan(folders: Path) -> None:
    plan = parse_plan(PLAN, "plan.yaml")
    series = [series_report(folders / name, name) for name in ("repeated", "ramp")]
    given = [each for each in series if each is not None]
    report = gathered("r", [], Stated(), plan=plan, series=given)
    assert [each.scenario for each in report.missing] == ["daily", "nightly"]
    repeated = replace(given[0], scenarios=frozenset({"daily"}))
    report = gathered("r", [], Stated(), plan=plan, series=[repeated])
    assert [each.scenario for each in report.missing] == ["nightly"]


def test_a_folder_of_runs_is_no_series(tmp_path: Path) -> None:
    small_trial(tmp_path / "runs" / "one")
    assert not is_series_folder(tmp_path / "runs")


def test_the_loads_of_a_ramp_are_read_back_as_they_were_played() -> None:
    def play(seed: int, *, holds: bool) -> Observation:
        return Observation(
            4.0, seed, (Check("ttft_s p95 <= 2", "1 s", holds, amount=Amount("ttft_s", 1.0, 2.0)),),
            (Check("KV use p99 <= 75.0%", "60.0%", True, amount=Amount("kv_p99", 0.6, 0.75)),),
            Figures(2.0, 1.5, ttft_p95_s=float("inf"), preemptions=3, kv_p99=0.6), 9.0,
        )  # fmt: skip

    point = Point(
        4.0, (play(1, holds=True), play(2, holds=False), play(3, holds=False)), repeats=True
    )
    told = {"contract": ["ttft_s p95 <= 2"], "points": [point_json(Axis.CONCURRENCY, point)]}
    (found,) = points_of(json.loads(json.dumps(told)), Axis.CONCURRENCY)
    assert found.first.figures == point.first.figures
    for goal in Goal:
        assert found.held(goal) == point.held(goal)
        assert [each.verdict(goal) for each in found.plays] == [
            each.verdict(goal) for each in point.plays
        ]
        assert found.plays[1].verdict(goal) is Verdict.TOO_MUCH
    assert curve(Axis.CONCURRENCY, (found,)).rows == curve(Axis.CONCURRENCY, (point,)).rows
