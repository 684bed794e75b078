"""The stored workload is canonical: its bytes depend on what the requests are, not on who made them."""

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vramledger.errors import BadInput
from vramledger.workload.metadata import Metadata
from vramledger.workload.renumber import FirstAppearance
from vramledger.workload.schema import COLUMNS, arrow_schema
from vramledger.workload.store import ROW_GROUP, read_batches, read_metadata, write_workload

META = Metadata(block_tokens=16, history=("import",))


def _request(row: int, **values: Any) -> dict[str, Any]:
    return dict.fromkeys(COLUMNS) | {"row": row, "outcome": "ok"} | values


def _requests(count: int, seed: int = 0) -> list[dict[str, Any]]:
    draw = random.Random(seed)
    return [
        _request(
            row,
            arrival_s=draw.random() * 100,
            input_tokens=draw.randrange(1000),
            session=draw.randrange(5, 30),
            tenant=draw.randrange(3),
            prefix_blocks=[7, 7 + draw.randrange(4)] if row % 3 else None,
            model=f"model-{draw.randrange(4)}",
            retry_of=row - 1 if row % 5 == 1 else None,
        )
        for row in range(count)
    ]


def _batches(requests: list[dict[str, Any]], cut: int = 1000) -> list[pa.RecordBatch]:
    batch = pa.RecordBatch.from_pylist(requests, arrow_schema())
    return [batch.slice(start, cut) for start in range(0, len(batch), cut)]


def _stored(requests: list[dict[str, Any]], path: Path, cut: int = 1000) -> list[dict[str, Any]]:
    write_workload(_batches(requests, cut), META, path)
    return [row for batch in read_batches(path) for row in batch.to_pylist()]


def test_rows_come_back_by_arrival_and_numbered_from_zero(tmp_path: Path) -> None:
    given = _requests(500)
    rows = _stored(given, tmp_path / "w.parquet")
    assert [row["arrival_s"] for row in rows] == sorted(row["arrival_s"] for row in given)
    assert [row["row"] for row in rows] == list(range(500))


def test_a_retry_still_names_the_request_it_repeats(tmp_path: Path) -> None:
    given = _requests(500)
    arrival = {row["row"]: row["arrival_s"] for row in given}
    meant = {
        row["arrival_s"]: arrival[row["retry_of"]] for row in given if row["retry_of"] is not None
    }
    rows = _stored(given, tmp_path / "w.parquet")
    found = {
        row["arrival_s"]: rows[row["retry_of"]]["arrival_s"]
        for row in rows
        if row["retry_of"] is not None
    }
    assert found == meant


@pytest.mark.parametrize("name", ["session", "tenant"])
def test_numbers_are_given_by_first_appearance(tmp_path: Path, name: str) -> None:
    rows = _stored(_requests(500), tmp_path / "w.parquet")
    first = list(dict.fromkeys(row[name] for row in rows))
    assert first == list(range(len(first)))


def _renamed(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same requests of other people, with other models."""
    blocks = {old: 900 - old for old in range(20)}
    return [
        row
        | {
            "session": row["session"] * 31 + 2,
            "tenant": 50 - row["tenant"],
            "model": f"model-{9 - int(row['model'][-1])}",
            "prefix_blocks": row["prefix_blocks"] and [blocks[old] for old in row["prefix_blocks"]],
        }
        for row in requests
    ]


def test_other_identities_give_the_same_bytes(tmp_path: Path) -> None:
    given = _requests(2000)
    mine, theirs = tmp_path / "mine.parquet", tmp_path / "theirs.parquet"
    write_workload(_batches(given), META, mine)
    write_workload(_batches(_renamed(given)), META, theirs)
    assert mine.read_bytes() == theirs.read_bytes()


def test_the_cut_into_batches_does_not_change_the_bytes(tmp_path: Path) -> None:
    given = _requests(1000)
    whole, cut = tmp_path / "whole.parquet", tmp_path / "cut.parquet"
    write_workload(_batches(given, 1000), META, whole)
    write_workload(_batches(given, 7), META, cut)
    assert whole.read_bytes() == cut.read_bytes()


def test_rows_given_in_order_need_no_sort_and_give_the_same_bytes(tmp_path: Path) -> None:
    rows = [_request(row, arrival_s=float(row), session=row % 9) for row in range(ROW_GROUP + 5)]
    sorted_, ordered = tmp_path / "sorted.parquet", tmp_path / "ordered.parquet"
    write_workload(_batches(rows, 50_000), META, sorted_)
    write_workload(_batches(rows, 50_000), META, ordered, ordered=True)
    assert sorted_.read_bytes() == ordered.read_bytes()
    assert pq.ParquetFile(ordered).metadata.num_row_groups == 2


def test_kept_model_names_stay(tmp_path: Path) -> None:
    rows = [_request(0, model="chat"), _request(1, model="model-4"), _request(2, model=None)]
    assert [row["model"] for row in _stored(rows, tmp_path / "w.parquet")] == [
        "chat",
        "model-0",
        None,
    ]


def test_metadata_come_back(tmp_path: Path) -> None:
    path = tmp_path / "w.parquet"
    write_workload(_batches(_requests(10)), META, path)
    found = read_metadata(path)
    assert (found.rows, found.metadata) == (10, META)


def test_a_failure_on_the_way_leaves_no_file(tmp_path: Path) -> None:
    def broken() -> Any:
        yield from _batches(_requests(10))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_workload(broken(), META, tmp_path / "w.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_parquet_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "w.parquet"
    path.write_text("arrival,input\n")
    with pytest.raises(BadInput) as caught:
        read_metadata(path)
    assert str(caught.value) == (
        f"{path} is not a Parquet file, or a damaged one; `vram workload import` makes workloads of "
        "logs."
    )


def test_a_foreign_parquet_file_is_refused_with_the_way_to_import_it(tmp_path: Path) -> None:
    path = tmp_path / "w.parquet"
    pq.write_table(pa.table({"ts": [1.0]}), path)
    with pytest.raises(BadInput, match="is a Parquet file, but no workload of ours; import it"):
        read_metadata(path)


@given(st.lists(st.lists(st.integers(0, 5000), max_size=30), max_size=10))
def test_first_appearance_agrees_with_a_dictionary(arrays: list[list[int]]) -> None:
    import numpy as np

    numbers, plain = FirstAppearance(), dict[int, int]()
    for array in arrays:
        expected = [plain.setdefault(value, len(plain)) for value in array]
        assert numbers.of(np.array(array, np.int32)).tolist() == expected
