"""Which format a log has: the first of the registry that knows its beginning."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.workload.formats.format import Framing, Head, LogFormat
from vramledger.workload.formats.registry import formats
from vramledger.workload.framing.frame import framed
from vramledger.workload.framing.framed import MOST_BYTES, TOO_LONG, Flaw
from vramledger.workload.opener import PARQUET_MAGIC, open_log, refuse_other_kinds

_RECORDS: Final = 20  # of a head
_LINES: Final = 400  # of a text head: servers print pages before their first request
_MOST: Final = MOST_BYTES + (1 << 24)  # of content: a little of a log may unpack to very much
_PEEK: Final = 1 << 16
_FRAMINGS: Final = {  # what a file may be that begins with this sign
    "{": (Framing.JSONL, Framing.JSON, Framing.TEXT),
    "[": (Framing.JSON, Framing.CSV_BARE, Framing.TEXT),
}
_OTHERWISE: Final = (Framing.CSV, Framing.CSV_BARE, Framing.TEXT)


@frozen
class Recognised:
    """A file's format and how it is framed."""

    format: LogFormat
    head: Head


class Heads:
    """The beginnings of one file, each under one framing, read when first asked for.

    Raises:
        BadInput: it cannot be read, is empty, or is of a kind that holds no log.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[Framing, Head] = {}
        beginning = _beginning(path)
        refuse_other_kinds(beginning, str(path))
        self.framings = _framings(beginning)

    def under(self, framing: Framing) -> Head:
        """The head under a framing; without records where the file is not framed so."""
        if framing not in self._known:
            self._known[framing] = _head(self._path, framing)
        return self._known[framing]

    def all(self, wanted: Iterable[Framing]) -> Iterable[Head]:
        """The heads under those of the wanted framings that the file may have."""
        return (self.under(each) for each in wanted if each in self.framings)


def recognise(path: Path) -> Recognised:
    """The format of a log.

    Raises:
        BadInput: as `Heads`; or no format knows it, with what was seen of it.
    """
    heads = Heads(path)
    for each in formats():
        for head in heads.all(each.framings):
            if each.recognise(head):
                return Recognised(each, head)
    raise BadInput(
        f"{path} has none of the {len(formats())} formats known{_seen(heads)}; name one with "
        "--format (vram workload import --help lists them), or say what its fields mean with "
        "--map arrival=COLUMN,input=COLUMN,output=COLUMN."
    )


def head_for(path: Path, wanted: LogFormat) -> Head:
    """The head of a file under the first framing of a format that it can have.

    Raises:
        BadInput: as `Heads`; or the file is framed in no way of this format.
    """
    heads = Heads(path)
    for head in heads.all(wanted.framings):
        if head.records or head.lines or head.columns:
            return head
    usual = " or ".join(framing.value for framing in wanted.framings)
    raise BadInput(
        f"{path} cannot be {wanted.title}, which comes as {usual}{_seen(heads)}; leave --format "
        "out, or name another."
    )


def _beginning(path: Path) -> bytes:
    with open_log(path) as stream:
        for chunk in stream:
            return chunk[:_PEEK]
        if stream.broke:
            raise BadInput(f"{path} cannot be unpacked: {stream.broke}; fetch it again.")
    return b""


def _framings(beginning: bytes) -> tuple[Framing, ...]:
    if beginning.startswith(PARQUET_MAGIC):
        return (Framing.PARQUET,)
    text = beginning.removeprefix(b"\xef\xbb\xbf").lstrip().decode(errors="replace")
    return _FRAMINGS.get(text[:1], _OTHERWISE)


def _head(path: Path, framing: Framing) -> Head:
    most = _LINES if framing is Framing.TEXT else _RECORDS
    records = []
    with framed(path, framing, _MOST) as file:
        for tried, row in enumerate(file.rows):
            if not isinstance(row, Flaw):
                records.append(row.values)
            elif row.reason == TOO_LONG:
                break  # reading on to its end may take long
            if len(records) == most or tried >= 10 * most:
                break
        columns = file.rows.columns
    if framing is Framing.TEXT:
        return Head(framing, lines=tuple(each["line"] for each in records))
    return Head(framing, columns, tuple(records))


def _seen(heads: Heads) -> str:
    """What the file looks like, without a word of it."""
    for framing in heads.framings:
        head = heads.under(framing)
        if framing is Framing.TEXT:
            return " (it is text)"
        width = (
            len((head.columns if framing is Framing.CSV else ()) or head.records[0])
            if head.records
            else 0
        )
        if width > 1 or (width and framing not in (Framing.CSV, Framing.CSV_BARE)):
            return f" (it looks like {framing.value} with {width} column{'s' if width > 1 else ''})"
    return ""
