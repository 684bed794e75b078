"""The report of runs: verdict first, what is not measured says so, nothing out of a file is markup."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from read_page import HOSTILE, loads_of, read
from recorded_hour import recorded
from recorded_runs import described as plainly
from recorded_runs import simulated_run, steps_of
from recorded_trials import described, small_trial, standing
from vramledger.calibrate.run_deployment import Stated
from vramledger.plan.contract_json import contract_to_json
from vramledger.plan.read import parse_plan
from vramledger.plan.requirement import Contract, LatencyLimit
from vramledger.record.document import Deployment, Origin
from vramledger.record.outcome import Outcome
from vramledger.record.recorded_run import RecordedRun
from vramledger.record.requests import RequestRecord
from vramledger.report.html.palette import DARK, LIGHT, TEXT, contrast
from vramledger.report.run_report.gathered import gathered
from vramledger.report.run_report.markdown import to_markdown
from vramledger.report.run_report.model import Report, Seal, SealCheck, Terms, Verdict
from vramledger.report.run_report.page import charts_of, to_html
from vramledger.report.run_report.report_json import report_json

CONTRACT = Contract({"ttft_s": (LatencyLimit(None, {0.5: 9.0, 0.99: 1.0}),)}, success=0.9)
PLAN = """\
name: both
model: Qwen/Qwen3-8B
workload: {input_tokens: {p50: 100, max: 100}, output_tokens: {p50: 3, max: 3}, requests_per_s: 5}
scenarios:
  daily: {kind: latency, contract: {ttft_s: {p50: 9}}}
  nightly: {kind: latency, contract: {success: 0.9}}
gpus: [H100-80GB-SXM]
"""
NOTHING = Stated()
CARD = Stated(gpu="H100-80GB-SXM", model="Qwen/Qwen3-8B")


def trial(folder: Path, contract: Contract | None = CONTRACT, **values: Any) -> Path:
    key = standing().to_json() | {
        "contract": None if contract is None else contract_to_json(contract)
    }
    return small_trial(folder, about=described(trial=key, **values))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return gathered("first", [trial(tmp_path_factory.mktemp("r") / "first")], CARD)


def test_the_verdict_stands_first_with_what_decides_it(report: Report) -> None:
    assert report.verdict is Verdict.FAIL
    page = read(to_html(report))
    assert page.texts["span"][0] == "FAIL"
    assert ": the contract is not kept at success >= 90.00%." in page.texts["p"]
    assert page.tables["Contract of first: FAIL"] == [
        ["verdict", "asked", "found", "why"],
        ["PASS", "ttft_s p50 <= 9 s", "0.501 s", ""],
        [
            "INCONCLUSIVE",
            "ttft_s p99 <= 1 s",
            "failed",
            "4 values, and such a percentile needs 100",
        ],
        ["FAIL", "success >= 90.00%", "75.00%", ""],
    ]
    assert to_markdown(report).splitlines()[:3] == [
        "# Report: first", "", "**FAIL**: the contract is not kept at success &gt;= 90.00%.",
    ]  # fmt: skip


def test_the_page_is_whole_by_itself_and_has_no_script(report: Report) -> None:
    page = to_html(report)
    assert {name for name, _ in loads_of(page)} <= {"a"}
    assert all(value.startswith("#") for _, name, value in read(page).attributes if name == "href")
    assert "<script" not in page
    assert "url(" not in page
    assert read(page).open_at_end == []
    assert len(page) < 200_000


def test_every_plot_has_a_table_and_says_what_it_shows(report: Report) -> None:
    page = to_html(report)
    seen = read(page)
    charts = [chart for run in report.runs for chart in charts_of(run)]
    assert [chart.title for chart in charts] == ["Over time", "Distribution of the latencies"]
    for chart in charts:
        assert seen.tables[chart.table.title] == [
            list(chart.table.head),
            *map(list, chart.table.rows),
        ]
    labels = [
        value for tag, name, value in seen.attributes if tag == "div" and name == "aria-label"
    ]
    assert [label.split(".")[0] for label in labels] == [chart.title for chart in charts]
    titles = [strip.title for strip in charts[0].strips]
    assert titles == [
        "Requests a second", "In flight, at the client", "Running, at the server", "KV cache in use",
        "Preemptions, 3 in all", "GPU memory in use, GiB", "TTFT", "ITL",
    ]  # fmt: skip
    assert "Not recorded: waiting." in charts[0].caption


def test_the_ledger_stands_beside_what_was_measured(report: Report) -> None:
    rows = report.runs[0].ledger.rows
    found = {row.name: row for row in rows}
    assert found["all that the engine uses"].measured == 12.0
    assert found["all that the engine uses"].inside is False
    assert found["KV cache size as printed"].measured == 10_000
    assert found["weights"].measured is None


def test_without_a_card_there_is_a_reason_for_no_ledger(tmp_path: Path) -> None:
    (run,) = gathered("r", [trial(tmp_path / "r")], NOTHING).runs
    assert run.ledger.rows == ()
    assert run.ledger.why.startswith("There is no ledger beside this run: ")


@pytest.mark.parametrize("origin", [Origin.REHEARSED, Origin.IMPORTED])
def test_what_is_not_measured_says_so_in_every_title(origin: Origin, tmp_path: Path) -> None:
    report = gathered("r", [trial(tmp_path / "r", origin=origin)], CARD, terms=Terms())
    mark = f" ({origin.value})"
    seen = read(to_html(report))
    titles = [
        *seen.texts["title"],
        *seen.texts["h1"],
        *seen.texts["h2"],
        *seen.texts["h3"],
        *seen.tables,
    ]
    assert titles
    assert all(title.endswith(mark) for title in titles)
    lines = [line for line in to_markdown(report).splitlines() if line.startswith("#")]
    assert all(line.endswith(mark) for line in lines)
    assert report_json(report)["basis"] == [origin.value]


def test_a_simulated_run_is_named_so_and_decides_nothing(tmp_path: Path) -> None:
    request = RequestRecord(
        0, due_s=0.0, dispatched_s=0.0, first_content_s=1.0, last_content_s=2.0, done_s=2.0,
        output_tokens_got=2, outcome=Outcome.OK, engine=0, first_step=0, last_step=1,
    )  # fmt: skip
    run = simulated_run(tmp_path / "s", [request], steps_of([1.0, 2.0]))
    report = gathered("s", [run.path], NOTHING)
    assert report.verdict is Verdict.INCONCLUSIVE
    seen = read(to_html(report))
    assert seen.texts["h1"] == ["Report: s (simulated)"]
    assert "SIMULATED, not measured: nothing here was seen on a server." in seen.texts["p"]
    assert "Health of the client (simulated)" not in seen.tables


def test_a_run_without_a_request_has_a_report(tmp_path: Path) -> None:
    with RecordedRun.start(tmp_path / "empty", plainly(Origin.MEASURED)) as run:
        run.note(0.0, "started")
    report = gathered("e", [tmp_path / "empty"], CARD)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert "No request counts, so nothing was measured and nothing is drawn." in report.open_points
    assert (
        "Nothing can be drawn of this run: no request of it counts."
        in read(to_html(report)).texts["p"]
    )
    assert "Nothing can be drawn" not in json.dumps(report_json(report))


def test_without_a_contract_nothing_was_promised(tmp_path: Path) -> None:
    report = gathered("r", [trial(tmp_path / "r", None)], CARD)
    assert report.verdict is Verdict.INCONCLUSIVE
    said = "the run was made without a contract, so nothing was promised; make it with a plan that has one."
    assert f": {said}" in read(to_html(report)).texts["p"]


def test_a_clock_that_was_set_back_is_named_and_drawn(tmp_path: Path) -> None:
    folder = tmp_path / "back"
    with RecordedRun.start(folder, plainly(Origin.MEASURED)) as run:
        for number, done in enumerate((2.0, -5.0)):
            run.append(
                RequestRecord(number, row=number, due_s=float(number), dispatched_s=float(number), done_s=done, outcome=Outcome.OK)
            )  # fmt: skip
    report = gathered("b", [folder], CARD)
    assert any("rows that have moments out of order (1)" in each for each in report.open_points)
    assert read(to_html(report)).open_at_end == []


def test_runs_of_two_deployments_are_told_apart(tmp_path: Path) -> None:
    seen = Deployment(engine="vllm", engine_version="0.31.0", model="m")
    one, other = (
        trial(tmp_path / "one"),
        trial(tmp_path / "other", in_effect=seen, origin=Origin.REHEARSED),
    )
    points = gathered("both", [one, other], CARD).open_points
    assert points[:2] == (
        "The engine's version is 0.32.0 in one and 0.31.0 in other, so these runs are not of one deployment.",
        "one is measured and other is rehearsed: their figures are not of one kind.",
    )


def test_an_acceptance_has_parties_what_follows_and_places_to_sign(report: Report) -> None:
    seal = Seal(
        "a" * 64,
        True,
        (SealCheck("files", "ok", "All of them."),),
        (("ran by", "Ann"),),
        "SHA256:x",
    )
    terms = Terms("Example AG", "Rental Ltd", "2026-117", on_fail="Ten per cent off.")
    found = Report("a", report.runs, report.open_points, seal, terms)
    tables = read(to_html(found)).tables
    assert tables["Parties and order"] == [
        ["buyer", "Example AG"], ["supplier", "Rental Ltd"], ["order", "2026-117"], ["ran by", "Ann"],
        ["bundle, SHA-256", "a" * 64], ["signed by key", "SHA256:x"],
    ]  # fmt: skip
    assert tables["What follows (partly assumed)"][1:] == [
        ["PASS", "", "assumed", "The order counts as delivered."],
        ["FAIL", "applies", "agreed", "Ten per cent off."],
        ["INCONCLUSIVE", "", "assumed", "What is open is settled by a further trial; until then nothing is accepted or refused."],
    ]  # fmt: skip
    assert [row[0] for row in tables["Signatures"][1:]] == ["buyer", "supplier"]
    assert report_json(found)["terms"]["on_fail"] == "Ten per cent off."


def test_what_is_not_as_it_was_sealed_decides_nothing(report: Report) -> None:
    seal = Seal("a" * 64, False, (SealCheck("files", "FAILS", "One differs."),))
    found = Report("a", report.runs, (), seal)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert (
        ": the bundle is not as it was sealed, so it decides nothing."
        in read(to_html(found)).texts["p"]
    )


def test_names_out_of_files_are_text_and_never_markup(tmp_path: Path) -> None:
    seen = Deployment(
        engine="vllm",
        engine_version=HOSTILE,
        model=HOSTILE,
        gpu=HOSTILE,
        driver=HOSTILE,
        arguments={HOSTILE: HOSTILE},
    )
    run = trial(tmp_path / "<b>r", name=HOSTILE, scenario=HOSTILE, in_effect=seen)
    terms = Terms(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE)
    report = gathered(HOSTILE, [run], NOTHING, terms=terms)
    page = to_html(report)
    assert "<script" not in page
    assert "<img" not in page
    assert "<b>" not in page
    seen_page = read(page)
    assert {tag for tag, _, _ in seen_page.attributes} <= {
        "html", "meta", "section", "nav", "table", "th", "td", "div", "figure", "h3", "svg", "path", "span", "a", "p", "tr",
    }  # fmt: skip
    assert seen_page.texts["h1"] == [f"Acceptance: {HOSTILE}"]
    markdown = to_markdown(report)
    assert not re.search(r"(?<!\\)<|(?<!\\)`", markdown)


def test_all_text_can_be_read_and_all_lines_told_from_the_paper() -> None:
    for palette in (LIGHT, DARK):
        for name in TEXT:
            assert contrast(palette[name], palette["paper"]) >= 4.5, name
        for role, color in palette["roles"].items():
            if role != "quiet":  # what is idle
                assert contrast(color, palette["paper"]) >= 3, role


def test_black_on_white_has_the_greatest_contrast() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_a_plan_that_is_named_judges_with_intervals_and_misses_what_has_no_run(
    tmp_path: Path,
) -> None:
    plan = parse_plan(PLAN, "plan.yaml")
    report = gathered("r", [trial(tmp_path / "r", scenario="daily")], CARD, plan=plan)
    assert [each.scenario for each in report.missing] == ["nightly"]
    seen = read(to_html(report)).tables
    head, *lines, _client = seen["Contract of daily: INCONCLUSIVE"]
    assert head == ["verdict", "asked", "found", "95 % interval", "why"]
    assert {row[0] for row in lines} == {
        "INCONCLUSIVE"
    }  # four requests are far from the plan's rate
    assert "requests a second: 1 reached, 5 asked" in lines[0][4]
    assert "Would settle it: " in lines[0][4]
    (row, client) = seen["Contract of nightly: INCONCLUSIVE"][1:]
    assert row == [
        "INCONCLUSIVE", "success >= 90.00%", "",
        "no run of the scenario nightly was given. Would settle it: a run of it: vram trial run PLAN --scenario nightly.",
    ]  # fmt: skip
    assert client[1] == "the client kept up"
    assert report.verdict is Verdict.INCONCLUSIVE


def test_what_an_imported_file_says_of_itself_stands_in_its_titles(tmp_path: Path) -> None:
    told = {"tool": "other", "claimed_origin": "simulated"}
    run = trial(tmp_path / "r", origin=Origin.IMPORTED, imported=told)
    report = gathered("r", [run], CARD)
    assert report.mark == " (imported, simulated)"
    assert read(to_html(report)).texts["h1"] == ["Report: r (imported, simulated)"]


def test_a_long_run_has_no_larger_page(tmp_path: Path) -> None:
    sizes = []
    for place, seconds in enumerate((30, 120)):
        made = recorded(tmp_path / str(place), 50 * seconds, 50.0)
        sizes.append(len(to_html(gathered("r", [made.run], NOTHING)).encode()))
    assert sizes[1] < 1.3 * sizes[0]  # four times as many requests: bins are as many
    assert max(sizes) < 300_000
