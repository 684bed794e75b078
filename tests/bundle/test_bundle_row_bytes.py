"""Rows as bytes: the same values are the same bytes however a file is packed, and other values are others."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vramledger.bundle.pieces import ROWS, first_row, row_pieces
from vramledger.bundle.row_bytes import rows_of
from vramledger.errors import CannotKnow

SCHEMA = pa.schema(
    {
        "number": pa.int32(),
        "time": pa.float64(),
        "told": pa.bool_(),
        "text": pa.string(),
        "list": pa.list_(pa.int64()),
    }
)
ROW = st.fixed_dictionaries(
    {
        "number": st.none() | st.integers(-5, 5),
        "time": st.none() | st.floats(allow_nan=False),
        "told": st.none() | st.booleans(),
        "text": st.none() | st.text(max_size=3),
        "list": st.none() | st.lists(st.none() | st.integers(0, 3), max_size=3),
    }
)


def _bytes(rows: list[dict[str, Any]], first: int, end: int) -> list[bytes]:
    batch = pa.RecordBatch.from_pylist(rows, SCHEMA)
    return [bytes(part.between(first, end)) for part in rows_of(batch)]


@given(st.lists(ROW, max_size=6), st.lists(ROW, max_size=3), st.lists(ROW, max_size=3))
@settings(max_examples=150, deadline=None)
def test_the_bytes_of_rows_depend_on_nothing_around_them(
    rows: list[dict[str, Any]], before: list[dict[str, Any]], after: list[dict[str, Any]]
) -> None:
    end = len(before) + len(rows)
    assert _bytes([*before, *rows, *after], len(before), end) == _bytes(rows, 0, len(rows))


@given(st.lists(ROW, min_size=1, max_size=4), st.lists(ROW, min_size=1, max_size=4))
@settings(max_examples=300, deadline=None)
def test_other_rows_are_other_bytes(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> None:
    told = [[repr(sorted(row.items())) for row in rows] for rows in (one, other)]
    same = told[0] == told[1]  # as texts, which tell -0.0 from 0.0
    assert (_bytes(one, 0, len(one)) == _bytes(other, 0, len(other))) is same


def test_a_file_that_is_packed_otherwise_has_the_same_rows(tmp_path: Path) -> None:
    rows = [
        {
            "number": n,
            "time": n / 7,
            "told": n % 2 == 0,
            "text": "x" * (n % 5),
            "list": [n] * (n % 3),
        }
        for n in range(1000)
    ]
    table = pa.Table.from_pylist(rows, SCHEMA)
    one, other = tmp_path / "one.parquet", tmp_path / "other.parquet"
    pq.write_table(table, one, row_group_size=100, compression="zstd")
    pq.write_table(table, other, row_group_size=333, compression="none")
    assert row_pieces(one) == row_pieces(other)
    rows[700]["list"] = [1, 2]
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), other)
    assert first_row(row_pieces(one), row_pieces(other)) == 700 // ROWS * ROWS


def test_a_column_that_no_table_has_is_not_told(tmp_path: Path) -> None:
    table = pa.table({"when": pa.array([1], pa.timestamp("s"))})
    with pytest.raises(
        CannotKnow, match=r"A column of type timestamp\[s\] is in no table of a run"
    ):
        rows_of(table.to_batches()[0])
    pq.write_table(table, tmp_path / "a.parquet")
    assert row_pieces(tmp_path / "a.parquet") == ""
