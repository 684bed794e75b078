"""Tables of other people, profiled where they lie."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pytest

from vramledger.errors import BadInput
from vramledger.report.workload_show import to_text
from vramledger.workload.canonical import canonical
from vramledger.workload.foreign import opened_url
from vramledger.workload.profile.compute import profile_table
from vramledger.workload.profile.profile import Profile
from vramledger.workload.tables import by_ibis


@contextmanager
def _table(*rows: dict[str, Any]) -> Iterator[Any]:
    connection = ibis.duckdb.connect()
    names = list(rows[0])
    kinds = {name: next(r[name] for r in rows if r[name] is not None) for name in names}
    types = {int: "BIGINT", float: "DOUBLE", str: "VARCHAR", list: "INTEGER[]"}
    connection.raw_sql(
        f"CREATE TABLE t ({', '.join(f'{name} {types[type(kinds[name])]}' for name in names)})"
    )
    marks = ", ".join("?" for _ in names)
    connection.con.executemany(
        f"INSERT INTO t VALUES ({marks})",  # noqa: S608 - our own names
        [list(row.values()) for row in rows],
    )
    yield connection.table("t")
    connection.disconnect()


def _profile(*rows: dict[str, Any], block_tokens: int | None = None) -> Profile:
    with _table(*rows) as table:
        return profile_table(canonical(table, {}, block_tokens, by_ibis))


def _row(at: float, given: float, made: int | None = 5, **more: Any) -> dict[str, Any]:
    return {"arrival_s": at, "input_tokens": given, "output_tokens": made} | more


def test_rows_with_numbers_that_no_request_has_are_left_out_and_counted() -> None:
    nan = float("nan")
    found = _profile(
        _row(0.0, 10.0), _row(1.0, -2.0), _row(2.0, 2.5), _row(3.0, nan, -7), _row(4.0, 20.0, -1),
        _row(9.0, 30.0), _row(nan, 30.0),
    )  # fmt: skip
    assert found.requests == 2
    assert found.loss["rows_read"] == 7
    assert found.loss["rows_kept"] == 2
    assert found.loss["dropped"] == {
        "arrival_s is beyond any clock": 1,
        "input_tokens is not a whole number": 2,
        "input_tokens is negative": 1,
        "output_tokens is negative": 1,
    }
    assert found.input_tokens is not None
    assert (found.input_tokens.total, found.arrival.span_s) == (40, 9.0)
    said = to_text(found, 100)
    assert "7 rows were read and 2 kept." in said
    assert "2 dropped: input_tokens is not a whole number." in said


def test_a_table_in_which_every_row_is_sound_has_no_loss() -> None:
    assert _profile(_row(0.0, 10.0), _row(1.0, 20.0, None)).loss == {}


def test_a_table_without_a_sound_row_is_refused() -> None:
    with pytest.raises(BadInput) as refused:
        _profile(_row(0.0, 1.5), _row(1.0, -1.0))
    assert str(refused.value) == (
        "No row of the table is a request (input_tokens is not a whole number in 1, input_tokens is "
        "negative in 1); map other columns."
    )


def test_what_needs_the_order_of_rows_says_so_where_there_is_none() -> None:
    rows = [_row(float(at), 40.0, 5, session=at % 2, prefix_blocks=[0, at]) for at in range(6)]
    found = _profile(*rows, block_tokens=16)
    why = "The table has no column row, which tells the order of requests."
    assert found.unknown["prefix.shared_blocks"] == why
    assert found.unknown["sessions.carried"] == why
    assert found.prefix.blocks == 12
    assert found.sessions is not None
    ordered = _profile(*({"row": at} | row for at, row in enumerate(rows)), block_tokens=16)
    assert not {"prefix.shared_blocks", "sessions.carried"} & set(ordered.unknown)
    assert ordered.prefix.shared_blocks
    assert ordered.sessions is not None
    assert ordered.sessions.carried is not None


def test_a_table_of_a_file_of_duckdb_is_found_by_its_url(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "log.db")) as connection:
        connection.execute("CREATE TABLE calls AS SELECT 5 AS i, 7 AS o")
    url = f"duckdb://{tmp_path}/log.db?table=calls"
    with opened_url(url, {"input": "i", "output": "o"}) as requests:
        assert profile_table(requests).requests == 1
