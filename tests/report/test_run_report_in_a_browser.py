"""The report as a browser shows it: nothing sticks out, nothing lies on another, all text can be read, light and dark."""

from pathlib import Path
from typing import Any

import pytest

from browser import as_printed, looked_at, printed
from recorded_trials import described, small_ramp, small_series, small_soak, small_trial, standing
from vramledger.calibrate.run_deployment import Stated
from vramledger.plan.contract_json import contract_to_json
from vramledger.plan.requirement import Contract, LatencyLimit
from vramledger.report.run_report.gathered import gathered
from vramledger.report.run_report.model import (
    Missing,
    Report,
    RuledLine,
    Ruling,
    Terms,
    Verdict,
)
from vramledger.report.run_report.page import to_html
from vramledger.report.series_report.read import series_report

PAPER_PX = 680  # of A4 between margins of 15 mm, at 96 pixels an inch
CONTRACT = Contract({"ttft_s": (LatencyLimit(None, {0.5: 9.0, 0.95: 1.0}),)}, success=0.5)
LONG = "a-model-with-a-very-long-name-without-a-single-space-" * 4


def many_lines(count: int) -> Report:
    """A contract that takes several sheets of paper."""
    lines = tuple(
        RuledLine(f"line{number:03}", Verdict.PASS, "1 s", reason="for no reason " * 9)
        for number in range(count)
    )
    missing = Missing("long", Ruling(Verdict.PASS, lines, scenario="long"))
    return Report("many", (), (), missing=(missing,))


def series_page(folder: Path) -> str:
    made = (
        small_series(folder / "repeated"),
        small_ramp(folder / "ramp"),
        small_soak(folder / "soak"),
    )
    series = [series_report(each, f"series-{number}") for number, each in enumerate(made)]
    return to_html(
        gathered(LONG, [], Stated(), series=[each for each in series if each is not None])
    )


def page_of(folder: Path, **values: Any) -> str:
    trial = standing().to_json() | {"contract": contract_to_json(CONTRACT)}
    run = small_trial(folder / "run", about=described(trial=trial, **values))
    report = gathered(
        LONG, [run], Stated(gpu="H100-80GB-SXM", model="Qwen/Qwen3-8B"), terms=Terms()
    )
    return to_html(report)


@pytest.mark.parametrize("dark", [False, True])
def test_a_report_is_readable_at_any_width(tmp_path: Path, *, dark: bool) -> None:
    for look in looked_at(page_of(tmp_path, name=LONG), tmp_path, (1280, 700, 390), dark=dark):
        assert look.content <= look.width
        assert look.out == []
        assert look.overlapping == []
        assert look.dimmest["ratio"] >= 4.5, look.dimmest
        assert look.scripts == 0
        assert look.paper == ("rgb(20, 25, 31)" if dark else "rgb(255, 255, 255)")


def test_headings_go_down_one_at_a_time(tmp_path: Path) -> None:
    (look,) = looked_at(page_of(tmp_path), tmp_path, (900,))
    assert look.headings[0] == 1
    assert look.headings.count(1) == 1
    steps = zip(look.headings, look.headings[1:], strict=False)
    assert all(later - before <= 1 for before, later in steps)


@pytest.mark.parametrize("dark", [False, True])
def test_a_page_of_series_is_readable_at_any_width(tmp_path: Path, *, dark: bool) -> None:
    for look in looked_at(series_page(tmp_path), tmp_path, (1280, 390), dark=dark):
        assert look.content <= look.width
        assert look.out == []
        assert look.overlapping == []
        assert look.dimmest["ratio"] >= 4.5, look.dimmest
        assert look.scripts == 0


def test_nothing_is_cut_on_paper(tmp_path: Path) -> None:
    for page in (page_of(tmp_path, name=LONG), series_page(tmp_path)):
        (look,) = looked_at(as_printed(page), tmp_path, (PAPER_PX,))
        assert look.content <= look.width
        assert look.out == []


def test_heads_of_tables_are_repeated_on_every_sheet(tmp_path: Path) -> None:
    sheets = [each.extract_text() for each in printed(to_html(many_lines(60)), tmp_path).pages]
    assert len(sheets) > 2
    for sheet in sheets:
        assert sheet.count("asked") == 1
        assert sheet.count("verdict") == 1
    assert sum(sheet.count("PASS") for sheet in sheets) == 60 + 2  # the headline and the title too
    assert [f"line{number:03}" in "".join(sheets) for number in range(60)] == [True] * 60
