"""Progress where stderr is no terminal: what a line says, and that lines come while nothing returns."""

import time

import pytest

from vramledger.cli import progress_lines
from vramledger.cli.progress_lines import ProgressLines, progress_shown


def test_a_line_says_how_far_it_is_in_requests_and_in_simulated_time() -> None:
    lines = ProgressLines("simulate", "requests")
    assert lines.line().startswith("simulate: ")
    assert lines.line().endswith(" s so far")
    lines(0, 2_000)
    lines(500, 2_000)
    lines.at(3_700 * 10**9)
    said = lines.line()
    assert said.startswith("simulate: 500 of 2,000 requests (25%), ")
    assert "simulated time 1 h 1 min" in said
    assert said.endswith(" left of this part")
    lines(2_000, 2_000)
    assert lines.line().endswith("its figures are worked out")


def test_another_part_begins_where_less_is_done() -> None:
    lines = ProgressLines("simulate", "requests")
    lines(2_000, 2_000)
    lines.at(10**9)
    lines(0, 2_000)
    assert "simulated time" not in lines.line()


def test_lines_come_though_nothing_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress_lines, "EVERY_S", 0.01)
    said, until = "", time.monotonic() + 60
    with progress_shown("simulate", "requests") as progress:
        progress(1, 4)
        while "1 of 4 requests (25%)" not in said and time.monotonic() < until:
            time.sleep(0.01)
            said += capsys.readouterr().err
    assert "simulate: 1 of 4 requests (25%)" in said


def test_what_is_soon_over_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_shown("simulate", "requests") as progress:
        progress(1, 1)
    assert capsys.readouterr().err == ""
