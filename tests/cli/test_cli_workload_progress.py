"""The bar of the workload verbs: on a terminal's stderr, and nowhere else."""

import io
import sys

import pytest

from vramledger.cli.workload.progress_bar import progress_bar


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("unit", "drawn"), [("requests", ("3/12", "requests")), ("", ("3/12 bytes",))]
)
def test_a_terminal_sees_what_is_done_of_all(
    unit: str, drawn: tuple[str, ...], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar("Working", unit) as bar:
        bar(3, 12)
    said = terminal.getvalue()
    assert all(each in said for each in ("Working", *drawn))
    assert capsys.readouterr().out == ""


def test_a_pipe_gets_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("Working", "requests") as bar:
        bar(3, 12)
    assert capsys.readouterr() == ("", "")
