"""``vram workload import``: options, what it prints, exit codes."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from commands import vram
from imported_logs import azure, second
from vramledger.cli.main import run


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    path.write_text(azure(second(0), second(1, "x,1"), second(5), second(3)))
    return path


def test_the_loss_report_is_printed(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "w.parquet"
    assert run(["workload", "import", str(log), "-o", str(out)]) == 0
    assert capsys.readouterr().out == (
        "4 rows read, 3 kept, 1 dropped; azure-llm (1 file).\n"
        "  dropped 1: ContextTokens is not a number (line 3)\n"
        "1 row came out of order, the furthest by 2 s; they were put in order.\n"
        "The longest time without an arrival is 3 s.\n"
        "Not in the log: It names no sessions, prefixes, models or failures.\n"
        f"Wrote {out}: 3 requests, without identities.\n"
    )
    assert pq.read_metadata(out).num_rows == 3


def test_the_loss_report_as_json(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "w.parquet"
    assert run(["workload", "import", str(log), "-o", str(out), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "vramledger.import/1"
    assert (found["rows_read"], found["rows_kept"], found["requests"]) == (4, 3, 3)
    assert found["dropped"] == {"ContextTokens is not a number": 1}
    assert found["dropped_at"] == {"ContextTokens is not a number": [{"file": 1, "line": 3}]}
    assert found["formats"] == {"azure-llm": 1}
    assert found["inferred"] == []
    assert found["basis"] == {"input_tokens": "measured", "output_tokens": "measured"}


def test_an_output_that_exists_is_kept_unless_forced(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "w.parquet"
    out.write_text("mine")
    assert run(["workload", "import", str(log), "-o", str(out)]) == 2
    assert capsys.readouterr().err == (
        f"vram: {out} exists; name another with -o, or replace it with --force.\n"
    )
    assert out.read_text() == "mine"
    assert run(["workload", "import", str(log), "-o", str(out), "--force"]) == 0
    assert pq.read_metadata(out).num_rows == 3


def test_the_output_goes_to_a_usual_name(log: Path, tmp_path: Path) -> None:
    done = vram(["workload", "import", log.name], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert pq.read_metadata(tmp_path / "workload.parquet").num_rows == 3


def test_a_folder_may_have_any_name(log: Path, tmp_path: Path) -> None:
    folder = tmp_path / "o'brien; [é] \""
    folder.mkdir()
    assert run(["workload", "import", str(log), "-o", str(folder / "w.parquet")]) == 0
    assert [each.name for each in folder.iterdir()] == ["w.parquet"]


def test_nothing_readable_exits_2_and_reports_the_loss_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.csv"
    log.write_text(azure(second(0, "x,1")))
    out = tmp_path / "w.parquet"
    assert run(["workload", "import", str(log), "-o", str(out)]) == 2
    captured = capsys.readouterr()
    assert captured.out == (
        "1 row read, 0 kept, 1 dropped; azure-llm (1 file).\n"
        "  dropped 1: ContextTokens is not a number (line 2)\n"
        "Not in the log: It names no sessions, prefixes, models or failures.\n"
        "Nothing was written: no request could be read.\n"
    )
    assert captured.err == "vram: No request could be read; nothing was written.\n"
    assert not out.exists()


def test_files_that_cannot_be_read_are_told_beside_those_that_can(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "w.parquet"
    missing = tmp_path / "missing.csv"
    assert run(["workload", "import", str(log), str(missing), "-o", str(out)]) == 0
    captured = capsys.readouterr()
    assert captured.err == (
        f"vram: {missing} cannot be read: No such file or directory; check its path.\n"
    )
    assert "1 file of 2 could not be read.\n" in captured.out
    assert "(file 1 line 3)" in captured.out


def test_a_missing_file_or_folder_is_refused(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "missing.csv"
    out = tmp_path / "w.parquet"
    assert run(["workload", "import", str(missing), "-o", str(out)]) == 2
    assert capsys.readouterr().err == (
        f"vram: {missing} cannot be read: No such file or directory; check its path.\n"
    )
    nowhere = tmp_path / "no" / "w.parquet"
    assert run(["workload", "import", str(log), "-o", str(nowhere)]) == 2
    assert capsys.readouterr().err == (
        f"vram: {nowhere} cannot be written: No such file or directory; choose another -o.\n"
    )


def test_what_is_kept_on_demand_is_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.csv"
    log.write_text("a,b,c\n1,1,gpt-x\n")
    out = tmp_path / "w.parquet"
    options = ["--map", "input=a,output=b,model=c", "--keep", "model"]
    assert run(["workload", "import", str(log), "-o", str(out), *options]) == 0
    assert capsys.readouterr().err == "vram: The workload names your models (--keep model).\n"
    assert pq.read_table(out, columns=["model"]).to_pylist() == [{"model": "gpt-x"}]


def test_bad_options_are_refused(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["workload", "import", str(log), "--time-zone", "Berlin"]) == 2
    assert capsys.readouterr().err == (
        "vram: --time-zone is 'Berlin'; write it as an offset from UTC, such as +02:00, or UTC.\n"
    )
    assert run(["workload", "import"]) == 2
    assert "Missing argument 'FILES...'" in capsys.readouterr().err


def test_help_needs_none_of_the_heavy_libraries(tmp_path: Path) -> None:
    done = vram(["workload", "import", "--help"], tmp_path)
    assert done.returncode == 0
    assert "FIELD=COLUMN" in done.stdout


def test_an_interruption_leaves_no_file(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("vramledger.workload.importer.placed", interrupted)
    assert run(["workload", "import", str(log), "-o", str(tmp_path / "w.parquet")]) == 130
    assert [each.name for each in tmp_path.iterdir()] == ["log.csv"]
