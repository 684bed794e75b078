"""Where a file was changed: hashes of its pieces of 64 KiB, and of a table's rows by 64."""

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Final

from vramledger.errors import CannotKnow
from vramledger.frozen import frozen

PIECE: Final = 1 << 16  # bytes
ROWS: Final = 64
_DIGITS: Final = 16  # of a piece's hash: it tells where, the file's own hash tells whether


@frozen
class Hashed:
    """A file's size in bytes, its SHA-256, and the first 64 bits of that of each piece, one after the other."""

    size: int
    sha256: str
    pieces: str


def hashed(path: Path) -> Hashed:
    """Read a file once."""
    whole, size, pieces = sha256(), 0, []
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            whole.update(piece)
            size += len(piece)
            pieces.append(sha256(piece).hexdigest()[:_DIGITS])
    return Hashed(size, whole.hexdigest(), "".join(pieces))


def first_difference(stated: str, found: str) -> int | None:
    """The first byte of the first piece that differs; None where no piece does."""
    for place in range(0, max(len(stated), len(found)), _DIGITS):
        if stated[place : place + _DIGITS] != found[place : place + _DIGITS]:
            return place // _DIGITS * PIECE
    return None


def row_pieces(path: Path) -> str:
    """The same of a table's content, by 64 rows, however its file is packed; empty where it is no table.

    A file that was written anew differs everywhere; its rows tell which of them are others.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from vramledger.bundle.row_bytes import rows_of

    found: list[str] = []
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=ROWS * 128):
                parts = rows_of(batch)
                found += (
                    _digest(part.between(at, min(at + ROWS, batch.num_rows)) for part in parts)
                    for at in range(0, batch.num_rows, ROWS)
                )
    except (pa.ArrowException, OSError, UnicodeDecodeError, CannotKnow):
        return ""
    return "".join(found)


def _digest(parts: Iterable[memoryview]) -> str:
    whole = sha256()
    for part in parts:
        whole.update(part)
    return whole.hexdigest()[:_DIGITS]


def first_row(stated: str, found: str) -> int | None:
    """The first row of the first 64 that differ; None where that cannot be told."""
    at = first_difference(stated, found) if stated and found else None
    return None if at is None else at // PIECE * ROWS
