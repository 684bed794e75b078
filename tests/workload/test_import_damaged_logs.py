"""Logs with something wrong: sound rows are kept, and every other one is counted with its place."""

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from imported_logs import AZURE, azure, imported, second
from vramledger.errors import BadInput

DATES = (
    "2024-05-10T10:00:00Z,1,1",
    "2024-05-10 12:00:01.5+02:00,2,1",
    "10/May/2024:10:00:02 +0000,3,1",
    "1715335203,4,1",
    "1715335204250,5,1",
)


def places(found: Any, reason: str) -> list[int]:
    return [place.line for place in found.report.dropped_at[reason]]


def test_a_missing_field_text_in_a_number_and_negative_tokens_drop_their_rows(
    tmp_path: Path,
) -> None:
    rows = [
        second(0),
        second(1, ",10"),
        second(2, "many,10"),
        second(3, "-5,10"),
        second(4, "1.5,10"),
        second(5, "nan,10"),
        "2024-05-10 25:00:00,100,10",
        "yesterday,100,10",
        ",100,10",
        second(6),
    ]
    found = imported(tmp_path, azure(*rows))
    assert found.report.dropped == {
        "ContextTokens is missing": 1,
        "ContextTokens is not a number": 1,
        "ContextTokens is negative": 1,
        "ContextTokens is not a whole number": 1,
        "ContextTokens is not a finite number": 1,
        "TIMESTAMP is no date": 1,
        "TIMESTAMP is neither a date nor a number": 1,
        "TIMESTAMP is missing": 1,
    }
    assert places(found, "ContextTokens is negative") == [5]
    assert (found.report.rows_read, found.report.rows_kept, found.report.requests) == (10, 2, 2)
    assert found.column("arrival_s") == [0.0, 6.0]


def test_rows_with_a_column_too_few_or_too_many_are_dropped(tmp_path: Path) -> None:
    found = imported(tmp_path, azure(second(0), "2024-05-10 10:00:01,5", second(2, "1,2,3")))
    assert found.report.dropped == {"wrong number of columns": 2}
    assert places(found, "wrong number of columns") == [3, 4]
    assert found.report.requests == 1


def test_a_header_that_stands_again_in_the_middle_is_dropped(tmp_path: Path) -> None:
    found = imported(tmp_path, azure(second(0), AZURE.strip(), second(1), AZURE.strip()))
    assert found.report.dropped == {"the header repeated": 2}
    assert found.report.requests == 2


def test_a_header_that_names_a_column_twice_is_refused_by_name(tmp_path: Path) -> None:
    content = "TIMESTAMP,ContextTokens,GeneratedTokens,ContextTokens\n2024-05-10 10:00:00,1,2,3\n"
    with pytest.raises(BadInput) as refusal:
        imported(tmp_path, content)
    assert str(refusal.value) == (
        f"{tmp_path}/0-log.csv line 1: the header names 'ContextTokens' twice, so it is not known "
        "which column counts; rename or remove one of them."
    )


def test_other_files_are_read_where_one_cannot_be(tmp_path: Path) -> None:
    found = imported(tmp_path, azure(second(0)), "", "some words of no format\n", azure(second(1)))
    assert found.report.requests == 2
    assert (found.report.files, found.report.files_unread) == (4, 2)
    empty, unknown = found.imported.problems
    assert empty == (
        f"{tmp_path}/1-log.csv is empty, so there is nothing to read; name a log with rows in it."
    )
    assert unknown.startswith(f"{tmp_path}/2-log.csv has none of the ")
    assert "words" not in unknown


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty, so there is nothing to read; name a log with rows in it."),
        (b"PK\x03\x04rest", "is a ZIP archive or a spreadsheet, not a log; unpack it, or save it as CSV."),
        ("t,ö\n".encode("utf-16"), "is UTF-16 text, not a log; save it as UTF-8."),
        (b"PAR1 and then nothing", "is a damaged Parquet file; fetch it again, or export it anew."),
        (gzip.compress(azure(second(0)).encode(), mtime=0)[:10],
         "cannot be unpacked: the gzip file is cut off; fetch it again."),
    ],
)  # fmt: skip
def test_files_that_hold_no_log_are_refused_in_a_sentence(
    tmp_path: Path, content: bytes, said: str
) -> None:
    with pytest.raises(BadInput) as refusal:
        imported(tmp_path, content)
    assert str(refusal.value) == f"{tmp_path}/0-log.csv {said}"


def test_a_log_with_a_header_alone_has_no_row(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refusal:
        imported(tmp_path, AZURE)
    assert str(refusal.value) == (
        f"{tmp_path}/0-log.csv: there is no row to read; name a log with rows in it."
    )


def test_a_log_of_nothing_but_bad_rows_is_reported_and_nothing_is_written(tmp_path: Path) -> None:
    found = imported(tmp_path, azure(second(0, "x,1"), second(1, "y,1")))
    assert found.imported.stored is None
    assert found.report.dropped == {"ContextTokens is not a number": 2}
    assert not found.path.exists()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["0-log.csv"]


def test_dates_may_come_in_any_form_within_one_log(tmp_path: Path) -> None:
    found = imported(tmp_path, azure(*DATES))
    assert found.report.dropped == {}
    assert found.column("arrival_s") == [0.0, 1.5, 2.0, 3.0, 4.25]
    assert found.column("input_tokens") == [1, 2, 3, 4, 5]


def test_a_byte_order_mark_and_crlf_change_nothing(tmp_path: Path) -> None:
    plain = azure(second(0), second(1))
    marked = b"\xef\xbb\xbf" + plain.replace("\n", "\r\n").removesuffix("\r\n").encode()
    first = imported(tmp_path, plain)
    before = first.path.read_bytes()
    assert imported(tmp_path, marked).path.read_bytes() == before


def test_nul_bytes_and_bytes_that_are_not_utf8_drop_their_rows_alone(tmp_path: Path) -> None:
    bad = second(1).encode() + b"\0", second(2).encode() + b"\xff", second(3).encode()
    content = azure(second(0)).encode() + b"\n".join(bad)
    found = imported(tmp_path, content)
    assert found.report.dropped == {"a NUL byte in the row": 1, "not UTF-8 text": 1}
    assert places(found, "a NUL byte in the row") == [3]
    assert places(found, "not UTF-8 text") == [4]
    assert found.column("arrival_s") == [0.0, 3.0]


def test_a_line_of_ten_megabytes_is_read(tmp_path: Path) -> None:
    lines = [
        '{"timestamp": 0, "input_length": 7, "output_length": 1, "hash_ids": [5]}',
        '{"timestamp": 9, "input_length": 9, "output_length": 1, "hash_ids": [5], "note": "%s"}'
        % ("x" * 10_000_000),
        '{"timestamp": 99, "input_length": 8, "output_length": 1, "hash_ids": [6]}',
    ]
    found = imported(tmp_path, "\n".join(lines), name="log.jsonl")
    assert found.column("input_tokens") == [7, 9, 8]
    assert found.report.dropped == {}


def test_a_line_beyond_the_bound_is_dropped_and_reading_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vramledger.workload.framing.lines.MOST_BYTES", 1 << 21)
    content = azure(second(0), second(1, "9" * (5 << 20) + ",1"), second(2))
    found = imported(tmp_path, content)
    assert found.report.dropped == {"longer than 64 MiB": 1}
    assert places(found, "longer than 64 MiB") == [3]
    assert found.column("arrival_s") == [0.0, 2.0]


@pytest.mark.parametrize(
    ("pack", "name"), [(gzip.compress, "gzip"), (bz2.compress, "bzip2"), (lzma.compress, "xz")]
)
def test_a_packed_log_that_is_cut_off_gives_the_rows_before(
    tmp_path: Path, pack: Callable[[bytes], bytes], name: str
) -> None:
    rows = [second(number % 3600, f"{number * 7919 % 5003},10") for number in range(30_000)]
    packed = pack(azure(*rows).encode())
    found = imported(tmp_path, packed[: len(packed) * 9 // 10], name="log")
    (broken,) = found.report.broken
    assert broken.how == f"the {name} file is cut off"
    assert 1000 < found.report.requests < 30_000
    assert broken.line in (found.report.requests + 1, found.report.requests + 2)
    assert set(found.report.dropped) <= {"cut off where the file breaks off"}
    stored = {(row["input_tokens"], row["output_tokens"]) for row in found.rows}
    assert stored <= {(number, 10) for number in range(5003)}


def test_a_number_cut_short_by_the_end_of_a_packed_file_is_not_taken(tmp_path: Path) -> None:
    whole = azure(second(0, "1234,5678"), second(1, "1234,5678"))
    packer = gzip.zlib.compressobj(wbits=31)  # type: ignore[attr-defined]
    packed = packer.compress(whole[:-3].encode()) + packer.flush(gzip.zlib.Z_SYNC_FLUSH)  # type: ignore[attr-defined]
    found = imported(tmp_path, packed)
    assert found.column("output_tokens") == [5678]
    assert found.report.dropped == {"cut off where the file breaks off": 1}
    assert found.report.broken[0].line == 3


@pytest.mark.parametrize("moment", ["0", "-1", "1970-01-01 00:00:00Z", "1999-12-31 23:59:59Z"])
def test_a_moment_that_stands_for_no_time_does_not_put_decades_before_the_others(
    tmp_path: Path, moment: str
) -> None:
    found = imported(tmp_path, azure(second(0), f"{moment},100,10", second(1)))
    assert found.report.dropped == {"the arrival is beyond any clock": 1}
    assert found.column("arrival_s") == [0, 1]


def test_counts_that_add_up_to_more_than_any_context_drop_their_row_alone(tmp_path: Path) -> None:
    rows = [
        {
            "id": name,
            "traceId": "t",
            "startTime": "2024-05-10T10:00:00Z",
            "level": "DEFAULT",
            "usageDetails": {"input": tokens, "input_cached_tokens": tokens, "output": 5},
        }
        for name, tokens in (("a", 1 << 30), ("b", 10))
    ]
    log = "".join(f"{json.dumps(row)}\n" for row in rows)
    found = imported(tmp_path, log, name="log.jsonl")
    assert found.report.dropped == {"input tokens beyond any context": 1}
    assert found.column("input_tokens") == [20]


def test_parts_that_are_more_than_their_whole_are_not_known(tmp_path: Path) -> None:
    mapping = {"input": "i", "output": "o", "thinking": "t", "cached": "c"}
    log = "i,o,t,c\n10,5,6,11\n10,5,5,10\n10,5,,\n"
    found = imported(tmp_path, log, mapping=mapping)
    assert found.column("thinking_tokens") == [None, 5, None]
    assert found.column("cached_tokens") == [None, 10, None]
    assert found.report.inferred == (
        "Thinking tokens that are more than the output are taken as not known (inferred).",
        "Cached tokens that are more than the input are taken as not known (inferred).",
    )
