"""What a file that is put in its place would destroy is refused, wherever files are written."""

import os
from pathlib import Path

import pytest

from drawn_profile import whole
from imported_logs import azure, second
from stored_workloads import request, stored
from vramledger.cli.main import run
from vramledger.errors import BadInput
from vramledger.workload.importer import import_logs
from vramledger.workload.profile.json_form import write
from vramledger.workload.profile.load import load_profile
from vramledger.written_file import refuse_place


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    path.write_text(azure(second(0)), encoding="utf-8")
    return path


def test_a_log_is_not_replaced_by_what_is_made_of_it(log: Path, tmp_path: Path) -> None:
    before = log.read_bytes()
    (tmp_path / "linked.csv").symlink_to(log)
    for output in (log, tmp_path / "linked.csv"):
        with pytest.raises(BadInput) as refusal:
            import_logs([str(tmp_path / "*.csv")], output)
        assert str(refusal.value) == (
            f"{output} is what is read, and would be lost; choose another -o."
        )
    assert log.read_bytes() == before


@pytest.mark.parametrize("kind", [os.mkfifo, os.mkdir])
def test_a_pipe_or_a_directory_is_not_replaced(
    log: Path, tmp_path: Path, kind: object, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "place"
    kind(place)  # type: ignore[operator]
    mode = place.stat().st_mode
    said = (
        f"{place} is a directory, a pipe or a device, and no file to be replaced; choose another "
    )
    with pytest.raises(BadInput) as refusal:
        import_logs([str(log)], place)
    assert str(refusal.value) == f"{said}-o."
    with pytest.raises(BadInput) as refusal:
        write(whole(), place)
    assert str(refusal.value) == f"{said}-o."
    write(whole(), tmp_path / "profile.json")
    shown = ["workload", "show", str(tmp_path / "profile.json"), "--html", str(place), "--force"]
    assert run(shown) == 2
    assert capsys.readouterr().err == f"vram: {said}--html.\n"
    assert place.stat().st_mode == mode


def test_a_free_place_and_another_file_may_be_written(log: Path, tmp_path: Path) -> None:
    refuse_place(tmp_path / "free.parquet", [log])
    other = tmp_path / "other.parquet"
    other.write_bytes(b"")
    refuse_place(other, [log, tmp_path / "absent.csv"])


def test_a_pipe_in_the_place_of_a_profile_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(BadInput) as refusal:
        load_profile(tmp_path / "pipe.json")
    assert str(refusal.value) == (
        f"{tmp_path}/pipe.json is a pipe or a device, not a profile or a workload; save what it gives to "
        "a file and name that."
    )


def test_an_operator_may_not_fill_the_place_of_a_pipe(tmp_path: Path) -> None:
    source = stored(tmp_path / "w.parquet", [request(0, arrival_s=0.0)])
    os.mkfifo(tmp_path / "pipe")
    assert run(["workload", "head", str(source), "1", "-o", str(tmp_path / "pipe"), "--force"]) == 2
    assert (tmp_path / "pipe").is_fifo()
