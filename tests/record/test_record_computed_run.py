"""A run that is computed appears whole or not at all, and equal runs are equal bytes."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorded_runs import described, measured_request, simulated_run, steps_of
from vramledger.errors import BadInput
from vramledger.record import parquet
from vramledger.record.computed_run import ComputedRun
from vramledger.record.document import Ended
from vramledger.record.parquet import TableFile
from vramledger.record.requests import REQUESTS
from vramledger.record.run import read_run
from vramledger.record.samples import STEPS
from vramledger.record.tables import batch_of

RECORDS = [measured_request(number, number / 3, (0, 7, 19)) for number in range(50)]


def test_equal_runs_are_equal_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        simulated_run(tmp_path / name, RECORDS, steps_of([0.5, 1.0]))
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == ["journal.jsonl", "requests.parquet", "run.json", "steps.parquet"]
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_rows_keep_the_order_they_are_given_in(tmp_path: Path) -> None:
    run = simulated_run(tmp_path / "run", RECORDS[::-1], [])
    assert run.requests.read(["request_id"])["request_id"].to_pylist() == list(range(49, -1, -1))


@given(st.lists(st.integers(1, 50), max_size=6))
def test_bytes_do_not_depend_on_how_rows_are_cut_into_batches(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int]
) -> None:
    origin, whole = described().origin, batch_of(REQUESTS, RECORDS)
    folders = [tmp_path_factory.mktemp("cut") for _ in range(2)]
    with TableFile(folders[0], REQUESTS, origin) as file:
        file.add_batch(whole)
        expected = file.finish()
    with TableFile(folders[1], REQUESTS, origin) as file:
        for start, stop in zip([0, *sorted(cuts)], [*sorted(cuts), 50], strict=True):
            file.add_batch(whole.slice(start, stop - start))
        assert file.finish() == expected


def test_row_groups_are_small_whatever_the_rows_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "_GROUP_BYTES", 2_000)
    long = measured_request(1, 0.0, (0,), silent_steps=tuple(range(1_000)))
    run = simulated_run(tmp_path / "run", [*RECORDS[:20], long, *RECORDS[:3]], [])
    found = run.requests.read(["silent_steps"])["silent_steps"].to_pylist()
    assert [len(each or ()) for each in found] == [0] * 20 + [1_000] + [0] * 3
    with pq.ParquetFile(run.requests.path) as file:
        groups = [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)]
    assert groups == [6, 6, 6, 2, 1, 3]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_error_leaves_nothing_behind(tmp_path: Path, error: type[BaseException]) -> None:
    def compute() -> None:
        with ComputedRun(tmp_path / "run", described()) as run:
            run.append(RECORDS[0])
            raise error

    with pytest.raises(error):
        compute()
    assert list(tmp_path.iterdir()) == []


def test_a_run_can_say_that_it_was_cut(tmp_path: Path) -> None:
    with ComputedRun(tmp_path / "run", described()) as run:
        run.add_batch(STEPS, batch_of(STEPS, steps_of([1.0])))
        run.note(1.0, "limit reached")
        run.close(Ended.CUT)
    found = read_run(tmp_path / "run")
    assert found.description.ended is Ended.CUT
    assert (found.requests.rows, found.table(STEPS).rows) == (0, 1)


def test_a_folder_that_holds_something_is_not_replaced(tmp_path: Path) -> None:
    simulated_run(tmp_path / "run", RECORDS, [])
    with pytest.raises(BadInput) as refused:
        ComputedRun(tmp_path / "run", described())
    assert str(refused.value) == (
        f"{tmp_path / 'run'} holds something already; name a folder that is not there yet."
    )


def test_a_place_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(BadInput) as refused:
        ComputedRun(tmp_path / "file" / "run", described())
    assert str(refused.value) == (
        f"{tmp_path / 'file' / 'run'} cannot be written: {tmp_path / 'file'} is a file; make room "
        "there or name another folder."
    )


def test_a_name_too_long_for_the_file_system_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        ComputedRun(tmp_path / ("x" * 300), described())
    assert str(refused.value).endswith(
        "cannot be written: File name too long; make room there or name another folder."
    )
