"""How files are cut into records."""

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vramledger.errors import BadInput
from vramledger.workload.formats.format import Framing
from vramledger.workload.framing.frame import framed
from vramledger.workload.framing.framed import Flaw


def records(path: Path, content: str | bytes, framing: Framing) -> list[Any]:
    """(line, values) of each record, (line, reason) of each flaw."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with framed(path, framing) as file:
        return [
            (row.line, row.reason) if isinstance(row, Flaw) else (row.line, dict(row.values))
            for row in file.rows
        ]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_the_one_of_the_header(log: Path, delimiter: str) -> None:
    content = '"a, b",c,d\n1,2,"x,y"\n'.replace(",", delimiter)
    (row,) = records(log, content, Framing.CSV)
    assert row == (2, {f"a{delimiter} b": "1", "c": "2", "d": f"x{delimiter}y"})


def test_quoted_fields_hold_quotes_delimiters_and_line_ends(log: Path) -> None:
    content = 'a,b\r\n1,"say ""x"", then\r\nmore"\r\n\r\n2,plain\r\n'
    assert records(log, content, Framing.CSV) == [
        (2, {"a": "1", "b": 'say "x", then\nmore'}),
        (5, {"a": "2", "b": "plain"}),
    ]


@pytest.mark.parametrize("opened", ['1,"open', '"open,1'])
def test_a_quote_that_is_never_closed_costs_its_own_row_alone(log: Path, opened: str) -> None:
    content = f"a,b\n{opened}\n2,y\n3,z\n"
    assert records(log, content, Framing.CSV) == [
        (2, "wrong number of columns"),
        (3, {"a": "2", "b": "y"}),
        (4, {"a": "3", "b": "z"}),
    ]


def test_a_carriage_return_within_a_line_is_a_character_like_others(log: Path) -> None:
    assert records(log, "a\rx,b\n1\r,2\n", Framing.CSV) == [(2, {"a\rx": "1\r", "b": "2"})]


def test_columns_of_a_file_without_header_are_numbered(log: Path) -> None:
    assert records(log, "5,6\n7,8\n", Framing.CSV_BARE) == [
        (1, {"0": "5", "1": "6"}),
        (2, {"0": "7", "1": "8"}),
    ]


def test_lines_of_json_that_are_no_objects_are_flaws(log: Path) -> None:
    content = '{"a": 1}\n\n[1]\n{"a": \n{"a": 2}\n' + "[" * 100_000
    assert records(log, content, Framing.JSONL) == [
        (1, {"a": 1}),
        (3, "not a JSON object"),
        (4, "not JSON"),
        (5, {"a": 2}),
        (6, "not JSON"),
    ]


@pytest.mark.parametrize(
    "content",
    [
        '[{"a": 1},\n {"a": [{"b": "}"}]}\n]',
        '{"object": "page", "data": [{"a": 1},\n {"a": [{"b": "}"}]}], "has_more": false}',
        '{"a": 1}\n{"a": [{"b": "}"}]}',
    ],
)
def test_json_holds_records_in_an_array_under_a_name_or_one_after_another(
    log: Path, content: str
) -> None:
    assert records(log, content, Framing.JSON) == [(1, {"a": 1}), (2, {"a": [{"b": "}"}]})]


def test_the_name_that_holds_the_array_is_the_column(log: Path) -> None:
    log.write_text('{"data": [{"a": 1}]}')
    with framed(log, Framing.JSON) as file:
        assert len(list(file.rows)) == 1
        assert file.rows.columns == ("data",)


def test_an_object_with_arrays_under_other_names_is_a_record(log: Path) -> None:
    content = '{\n"messages": [{"role": "user"}],\n"n": 3}'
    assert records(log, content, Framing.JSON) == [
        (1, {"messages": [{"role": "user"}], "n": 3}),
    ]


@pytest.mark.parametrize("broken", ['{"a": 2, "b": }', '{"a": 2 "b": 3}', '{"a": "2}', "{'a': 2}"])
def test_a_broken_element_of_json_costs_itself_alone(log: Path, broken: str) -> None:
    content = (
        f'[\n{{"a": 1, "b": [{{"c": 1}}]}},\n{broken},\n{{"a": 3, "b": []}},\n{{"a": 4, "b": []}}]'
    )
    assert records(log, content, Framing.JSON) == [
        (2, {"a": 1, "b": [{"c": 1}]}),
        (3, "not JSON"),
        (4, {"a": 3, "b": []}),
        (5, {"a": 4, "b": []}),
    ]


def test_json_that_cannot_be_followed_ends_there_and_says_so(log: Path) -> None:
    log.write_text('[{"a": 1},\n{"a": 2, b, c, d, e, f, g, h')
    with framed(log, Framing.JSON) as file:
        rows = list(file.rows)
        assert [row.line for row in rows] == [1, 2]
        assert isinstance(rows[1], Flaw)
        assert file.broke() == "what follows is not JSON"


def test_json_elements_with_bytes_that_are_not_utf8_are_flaws(log: Path) -> None:
    content = b'[{"a": "\xff"},\n{"a": "\xc3\xa9"}]'
    assert records(log, content, Framing.JSON) == [(1, "not UTF-8 text"), (2, {"a": "é"})]


def test_json_that_ends_early_gives_what_is_whole_and_says_so(log: Path) -> None:
    log.write_text('[{"a": 1},\n{"a": 2')
    with framed(log, Framing.JSON) as file:
        rows = list(file.rows)
        assert [type(row).__name__ for row in rows] == ["Record", "Flaw"]
        assert file.broke() == "the JSON is not closed"


@given(
    values=st.lists(
        st.dictionaries(
            st.text(max_size=4),
            st.recursive(
                st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.text(max_size=9),
                lambda inner: st.lists(inner, max_size=3),
                max_leaves=5,
            ),
            max_size=4,
        ),
        max_size=8,
    ),
    piece=st.integers(1, 7),
    ascii_only=st.booleans(),
)
def test_json_read_in_small_pieces_is_what_the_library_reads_whole(
    values: list[dict[str, Any]], piece: int, *, ascii_only: bool
) -> None:
    from vramledger.workload.framing.json_values import JsonValues

    content = json.dumps(values, ensure_ascii=ascii_only, indent=1).encode()
    pieces = [content[start : start + piece] for start in range(0, len(content), piece)]
    rows = list(JsonValues(_Pieces(pieces)))  # type: ignore[arg-type]
    assert [dict(row.values) for row in rows if not isinstance(row, Flaw)] == values


class _Pieces:
    """A stream that comes in small pieces."""

    broke = ""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces

    def __iter__(self) -> Any:
        return iter(self._pieces)


def test_parquet_rows_keep_all_digits_of_their_moments(log: Path) -> None:
    moments = pa.array([1_700_000_000_123_456_789], pa.timestamp("ns", tz="UTC"))
    pq.write_table(pa.table({"t": moments, "n": [7]}), log)
    with framed(log, Framing.PARQUET) as file:
        (row,) = file.rows
        assert not isinstance(row, Flaw)
        assert row.values == {"t": "2023-11-14 22:13:20.123456789Z", "n": 7}
        assert file.rows.columns == ("t", "n")


def test_members_of_packed_files_follow_one_another(log: Path) -> None:
    from backports.zstd import compress

    for pack in (gzip.compress, compress):
        content = pack(b"a\n1\n") + pack(b"2\n") + b"\0\0"
        assert records(log, content, Framing.CSV) == [(2, {"a": "1"}), (3, {"a": "2"})]


def test_a_packed_file_with_something_else_behind_it_says_so(log: Path) -> None:
    log.write_bytes(gzip.compress(b"a\n1\n") + b"something else")
    with framed(log, Framing.CSV) as file:
        assert len(list(file.rows)) == 1
        assert file.broke() == "after its end the gzip file holds something else"


def test_a_packed_file_with_a_bit_turned_says_so(log: Path) -> None:
    packed = bytearray(gzip.compress(b"a\n" + b"1\n" * 1000))
    packed[-6] ^= 1  # of the checksum
    log.write_bytes(bytes(packed))
    with framed(log, Framing.CSV) as file:
        assert len(list(file.rows)) == 1000
        assert file.broke() == "the gzip file is damaged"


def test_what_unpacks_a_thousandfold_is_read_piece_by_piece(log: Path) -> None:
    from vramledger.workload.opener import CHUNK, open_log

    log.write_bytes(gzip.compress(b"\n" * (50 * CHUNK)))
    with open_log(log) as stream:
        sizes = [len(chunk) for chunk in stream]
        assert sum(sizes) == 50 * CHUNK
        assert max(sizes) <= CHUNK


def test_a_stored_workload_is_no_log(tmp_path: Path) -> None:
    from imported_logs import azure, imported, second

    stored = imported(tmp_path, azure(second(0))).path
    with (
        pytest.raises(BadInput, match="is a stored workload already"),
        framed(stored, Framing.PARQUET),
    ):
        pass
