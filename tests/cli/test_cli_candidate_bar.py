"""The bar of simulated candidates: it names them on a terminal's stderr, and is nowhere else."""

import io
import sys

import pytest

from vramledger.cli.candidate_bar import candidate_bar


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_each_candidate_with_what_is_done_of_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with candidate_bar() as announce:
        announce("L40S TP1 x 1, daily")(3, 12)
        last = announce("L40S TP2 x 1, daily")
        last(5, 20)
    said = terminal.getvalue()
    assert all(each in said for each in ("simulate L40S TP2 x 1, daily", "5/20", "requests"))
    assert capsys.readouterr().out == ""


def test_a_pipe_gets_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with candidate_bar() as announce:
        announce("L40S TP1 x 1, daily")(3, 12)
    assert capsys.readouterr() == ("", "")
