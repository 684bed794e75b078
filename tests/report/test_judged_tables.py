"""What stands beside a judged contract in a report: load, work, groups, and what would settle it."""

from math import inf
from pathlib import Path

import pytest

from queued_trials import plan_of, queued_trial
from read_page import read
from vramledger.calibrate.run_deployment import Stated
from vramledger.record.outcome import Outcome
from vramledger.report.run_report.gathered import gathered
from vramledger.report.run_report.markdown import to_markdown
from vramledger.report.run_report.model import Report, Terms
from vramledger.report.run_report.page import to_html
from vramledger.report.run_report.report_json import report_json
from vramledger.report.verdict import interval

CONTRACT = "{ttft_s: {p95: 0.5}, success: 0.5}"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Six hundred requests of three tenants, every tenth failed, in an acceptance."""
    failed = dict.fromkeys(range(0, 600, 10), Outcome.FAILED)
    run = queued_trial(tmp_path_factory.mktemp("judged") / "run", outcomes=failed, tenants=3)
    return gathered("a", [run], Stated(), terms=Terms(), plan=plan_of(CONTRACT))


@pytest.fixture(scope="module")
def too_short(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """So few requests that nothing bounds the highest percentile."""
    run = queued_trial(tmp_path_factory.mktemp("short") / "run")
    return gathered("a", [run], Stated(), terms=Terms(), plan=plan_of("{ttft_s: {p99.9: 2}}"))


def test_load_work_and_tenants_stand_beside_the_lines(report: Report) -> None:
    tables = read(to_html(report)).tables
    judged = report.runs[0].ruling.judged
    assert judged is not None
    load = tables["Load of daily"]
    assert load[0] == ["", "asked for", "reached", ""]
    assert load[1][:2] == ["requests a second", "9 requests/s"]
    assert load[1][3] == "reached"
    assert [row[0] for row in load[1:]] == [each.name for each in judged.reached]
    assert {row[0] for row in tables["Work of daily"]} == {
        "requests offered an hour", "requests an hour that met every limit", "output tokens of these, an hour",
        "share of all tokens that went to requests that did not count",
    }  # fmt: skip
    tenants = tables["daily by tenant"]
    assert tenants[0] == [
        "tenant", "offered", "ok", "met every limit", "TTFT p50", "TTFT p95", "TPOT p95", "E2E p95",
    ]  # fmt: skip
    assert [row[:3] for row in tenants[1:]] == [["0", "200", "180"], ["1", "200", "180"], ["2", "200", "180"]]  # fmt: skip
    assert {row[5] for row in tenants[1:]} == {"failed"}  # a tenth failed: p95 falls among them
    assert "daily by length of the prompt" not in tables  # all of one class


def test_what_would_settle_it_is_a_table_of_an_acceptance(too_short: Report) -> None:
    open_lines = [
        (line.name, line.settles) for line in too_short.runs[0].ruling.lines if line.settles
    ]
    assert open_lines
    rows = read(to_html(too_short)).tables["What would settle what is open"]
    assert rows[0] == ["scenario", "line", "is settled by"]
    assert [tuple(row[1:]) for row in rows[1:]] == open_lines
    plain = Report(too_short.title, too_short.runs, ())
    assert "What would settle what is open" not in read(to_html(plain)).tables


def test_markdown_and_json_say_the_same(report: Report) -> None:
    text = to_markdown(report)
    assert "### Load of daily\n" in text
    assert "### daily by tenant\n" in text
    (run,) = report_json(report)["runs"]
    assert run["reached"][0]["name"] == "requests a second"
    assert [each["name"] for each in run["groups"] if each["of"] == "tenant"] == ["0", "1", "2"]
    assert 0 < run["work"]["lost_share"] < 1


def test_an_interval_without_an_end_says_what_that_means(too_short: Report) -> None:
    seen = read(to_html(too_short))
    (row,) = [row for row in seen.tables["Contract of daily: INCONCLUSIVE"] if "p99.9" in row[1]]
    assert row[3].endswith(" s or more")
    assert (
        "An interval without an upper end (or more) reaches into requests that failed, or beyond what so few requests tell."
        in seen.texts["p"]
    )
    assert interval(0.01016, inf, "s") == "0.01016 s or more"
    assert interval(-inf, 2.0, "s") == "2 s or less"
    assert interval(inf, inf, "s") == "all of it among failures"
    assert interval(-inf, inf, "s") == "no bounds"


def test_a_run_without_a_plan_has_no_such_tables(tmp_path: Path) -> None:
    (run,) = gathered("r", [queued_trial(tmp_path / "r", count=30)], Stated()).runs
    assert run.ruling.judged is None
    told = report_json(Report("r", (run,), ()))["runs"][0]
    assert (told["reached"], told["groups"], told["work"]) == (None, None, None)
