"""Which framing reads which file. A framing is one file beside this one and a row here."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from vramledger.frozen import frozen
from vramledger.workload.formats.format import Framing
from vramledger.workload.framing.csv_rows import CsvRows
from vramledger.workload.framing.framed import Framed
from vramledger.workload.framing.json_values import JsonValues
from vramledger.workload.framing.parquet_rows import ParquetRows
from vramledger.workload.framing.text_lines import JsonLines, TextLines
from vramledger.workload.opener import LogStream, open_log

FRAMERS: Final[Mapping[Framing, Callable[[LogStream], Framed]]] = {
    Framing.CSV: partial(CsvRows, bare=False),
    Framing.CSV_BARE: partial(CsvRows, bare=True),
    Framing.JSONL: JsonLines,
    Framing.JSON: JsonValues,
    Framing.TEXT: TextLines,
}


@frozen
class OpenFile:
    """A file's rows, and how far it was read."""

    rows: Framed
    position: Callable[[], int]  # bytes of the file read so far
    broke: Callable[[], str]  # how a damaged file ended; "" while it is sound


@contextmanager
def framed(path: Path, framing: Framing, most: int | None = None) -> Iterator[OpenFile]:
    """The file's rows under a framing; with `most`, those of about so many bytes of its content.

    Raises:
        BadInput: it cannot be read.
    """
    if framing is Framing.PARQUET:
        with closing(ParquetRows(path)) as rows:
            size = path.stat().st_size
            yield OpenFile(rows, lambda: size * rows.line // max(1, rows.size), lambda: "")
        return
    with open_log(path, most) as stream:
        yield OpenFile(FRAMERS[framing](stream), lambda: stream.position, lambda: stream.broke)
