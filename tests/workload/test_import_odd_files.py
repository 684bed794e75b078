"""Files that are packed oddly, are of another kind, or unpack to far more than they are."""

import gzip
import io
import sys
import tarfile
import time
import zlib
from pathlib import Path

import pytest

from imported_logs import AZURE, azure, imported, second
from vramledger.errors import BadInput
from vramledger.workload import opener

ROWS = [second(number, f"{number},10") for number in range(200)]
HALVES = (azure(*ROWS[:100]).encode(), "".join(f"{row}\n" for row in ROWS[100:]).encode())


def zstd(content: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression.zstd import compress
    else:
        from backports.zstd import compress
    return compress(content)


def tar(content: bytes) -> bytes:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w") as archive:
        member = tarfile.TarInfo("log.csv")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return sink.getvalue()


def bomb(start: bytes, piece: bytes, times: int) -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    parts = [packer.compress(start), *(packer.compress(piece) for _ in range(times))]
    return b"".join([*parts, packer.flush()])


@pytest.mark.parametrize("chunk", [5, 64, 999])
@pytest.mark.parametrize("padding", [b"", b"\0" * 700])
def test_members_of_a_packed_log_may_end_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int, padding: bytes
) -> None:
    monkeypatch.setattr(opener, "CHUNK", chunk)
    found = imported(tmp_path, padding.join(map(gzip.compress, HALVES)) + padding)
    assert found.report.broken == ()
    assert found.column("input_tokens") == list(range(200))


def test_frames_of_zstd_without_content_are_passed_over(tmp_path: Path) -> None:
    skipped = b"\x5e\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"seek"
    first, last = map(zstd, HALVES)
    found = imported(tmp_path, skipped + first + skipped + last + skipped)
    assert found.report.broken == ()
    assert found.column("input_tokens") == list(range(200))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (tar(azure(second(0)).encode()), "is a tar archive, not a log; unpack it."),
        (gzip.compress(tar(azure(second(0)).encode()), mtime=0), "is a tar archive, not a log; unpack it."),
        (gzip.compress(gzip.compress(HALVES[0], mtime=0), mtime=0), "is packed twice; unpack it once."),
        (b"\x04\x22\x4d\x18rest", "is packed by lz4, not a log; unpack it, or pack it by gzip or zstd."),
        (b"\x1f\x9drest", "is packed by compress, not a log; unpack it, or pack it by gzip or zstd."),
        (b"7z\xbc\xaf\x27\x1crest", "is a 7z archive, not a log; unpack it."),
        (b"Obj\x01rest", "is an Avro file, not a log; save it as Parquet or CSV."),
    ],
)  # fmt: skip
def test_files_of_other_kinds_are_refused_by_what_they_are(
    tmp_path: Path, content: bytes, said: str
) -> None:
    with pytest.raises(BadInput) as refusal:
        imported(tmp_path, content)
    assert str(refusal.value) == f"{tmp_path}/0-log.csv {said}"


@pytest.mark.parametrize("sign", [b" ", b"\0", b"[", b'{"a":"'])
def test_no_more_than_the_beginning_is_unpacked_to_know_a_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sign: bytes
) -> None:
    given = []
    plain = opener.LogStream._beginning

    def counted(stream: opener.LogStream, chunks: object, most: int) -> object:
        for chunk in plain(stream, chunks, most):  # type: ignore[arg-type]
            given.append(len(chunk))
            yield chunk

    monkeypatch.setattr(opener.LogStream, "_beginning", counted)
    monkeypatch.setattr("vramledger.workload.recognise._MOST", 4 << 20)
    with pytest.raises(BadInput, match="has none of the"):
        imported(tmp_path, bomb(sign, sign[:1] * (1 << 20), 40))
    assert 0 < sum(given) <= 3 * 5 * (1 << 20)  # under three framings


def test_lines_of_an_open_quote_are_held_only_so_far(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vramledger.workload.framing.csv_rows.MOST_BYTES", 1 << 12)
    content = azure(second(0)) + '"' + "\n" * 5_000 + second(1) + "\n"
    found = imported(tmp_path, content)
    assert found.report.dropped == {"wrong number of columns": 1}
    assert found.column("arrival_s") == [0.0, 1.0]


def test_a_log_of_a_hundred_thousand_columns_is_read_at_once(tmp_path: Path) -> None:
    names = ",".join(f"c{number}" for number in range(100_000))
    more = ",1" * 100_000
    start = time.process_time()
    found = imported(tmp_path, f"{AZURE.strip()},{names}\n{second(0)}{more}\n")
    assert found.report.requests == 1
    assert time.process_time() - start < 20


def test_a_header_with_many_repeated_names_is_refused_in_a_short_sentence(tmp_path: Path) -> None:
    names = ",".join(f"c{number},c{number}" for number in range(9))
    with pytest.raises(BadInput) as refusal:
        imported(
            tmp_path, f"{AZURE.strip()},{names},{'x' * 99},{'x' * 99}\n{second(0)}{',1' * 20}\n"
        )
    assert str(refusal.value) == (
        f"{tmp_path}/0-log.csv line 1: the header names 'c0', 'c1', 'c2', 'c3', 'c4' and 5 more twice, "
        "so it is not known which column counts; rename or remove one of them."
    )


def test_only_plain_digits_are_numbers(tmp_path: Path) -> None:
    odd = ("1_000", "\u0663", "\uff11\uff12", "\u00b2", "0x10")
    found = imported(tmp_path, azure(*(second(0, f"{each},1") for each in odd), second(9, " 7 ,1")))
    assert found.report.dropped == {"ContextTokens is not a number": len(odd)}
    assert found.column("input_tokens") == [7]


def test_a_leap_second_is_the_second_after_it_and_odd_zones_are_no_dates(tmp_path: Path) -> None:
    times = (
        "2016-12-31 23:59:59Z",
        "2016-12-31 23:59:60Z",
        "2017-01-01 00:00:01Z",
        "2017-01-01 00:00:02+24:00",
        "2017-01-01 00:00:02+00:60",
        "2017-01-01 00:00:61Z",
    )
    found = imported(tmp_path, azure(*(f"{each},1,1" for each in times)))
    assert found.column("arrival_s") == [0.0, 1.0, 2.0]
    assert found.report.dropped == {"TIMESTAMP is no date": 3}
