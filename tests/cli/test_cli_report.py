"""``vram report``: what is written, what is refused, and how it ends."""

from pathlib import Path

import pytest

from recorded_trials import small_trial
from vramledger.cli.main import run

CARD = ("--gpu", "H100-80GB-SXM", "--model", "Qwen/Qwen3-8B")


@pytest.mark.parametrize(
    ("form", "begins"), [("html", "<!DOCTYPE html>"), ("md", "# Report: r\n"), ("json", "{\n")]
)
def test_a_report_is_written_in_the_form_its_name_ends_in(
    form: str, begins: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small_trial(tmp_path / "r")
    out = tmp_path / f"report.{form}"
    assert run(["report", str(tmp_path / "r"), *CARD, "-o", str(out)]) == 0
    assert out.read_text(encoding="utf-8").startswith(begins)
    assert capsys.readouterr().err == f"Wrote {out}; it loads nothing from anywhere.\n"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ((), "Name a run, or a bundle that vram verify --seal wrote."),
        (("r",), "State where the report goes with -o FILE, which ends in .html, .md or .json."),
        (("r", "-o", "r.pdf"), "State where the report goes with -o FILE, which ends in .html, .md or .json."),
        (("r", "-o", "no/r.md"), "no/r.md cannot be written: no is no folder; make it first."),
        (("r", "-o", "r/r.md"), "r/r.md would lie within r, whose files are evidence; choose another -o."),
        (("r", "-o", "r.md", "--buyer", "x"), "--buyer belongs to an acceptance; add --as acceptance."),
        (("r", "r", "-o", "r.md"), "Two of the runs are in folders called r; rename one of them."),
    ],
)  # fmt: skip
def test_what_cannot_be_reported_is_refused(
    asked: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    small_trial(tmp_path / "r")
    monkeypatch.chdir(tmp_path)
    assert run(["report", *asked]) == 2
    assert capsys.readouterr().err == f"vram: {said}\n"
    assert not Path("r.md").exists()
