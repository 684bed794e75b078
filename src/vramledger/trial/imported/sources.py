"""The files of a result: opened with bounds, unpacked where they are packed, told apart by what is in them.

No file is held whole. Each is read once for its hash and its outline, and again for every list that is asked for.
"""

import codecs
import csv
import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.named_file import opened, read_text
from vramledger.trial.imported.json_stream import outline, values
from vramledger.workload.opener import LogStream
from vramledger.yaml_text import parse_yaml

MOST_BYTES: Final = 1 << 34  # unpacked
_MOST_TEXT: Final = 1 << 26  # of a file that is read whole: YAML and tables
_LONGEST_LINE: Final = 1 << 24
_BLOCK: Final = 1 << 20
_IN_FOLDERS: Final = tuple(f".{kind}{packed}" for kind in ("json", "jsonl", "csv") for packed in ("", ".gz", ".zst"))  # fmt: skip
_PACKED: Final = (".gz", ".zst", ".bz2", ".xz")
_MOST_FILES: Final = 1_000


@frozen
class Source:
    """One file. `document` is the outline of its JSON value, or its YAML; of a file with a JSON object a line, that of the first line.

    `lengths` is how long the lists of `document` are in truth. `table` has the rows of a CSV file. `span` is
    where in the unpacked file the value lies, where it is not alone there.
    """

    path: Path
    sha256: str
    document: Any = None
    lengths: Mapping[str, tuple[int, ...]] | None = None
    is_lines: bool = False
    table: tuple[tuple[str, ...], ...] = ()
    span: tuple[int, int] | None = None

    def length(self, place: str, number: int = 0) -> int:
        """How long the list of that number at a place is."""
        if self.lengths is None:
            found = tuple(len(each) for each in _inside(self.document, place.split(".")) if isinstance(each, list))  # fmt: skip
        else:
            found = self.lengths.get(place, ())
        return found[number] if number < len(found) else 0

    def values(self, place: str) -> Iterator[Any]:
        """The values at a place, read anew.

        Raises:
            BadInput: the file is damaged.
        """
        if self.lengths is None:
            yield from _inside(self.document, place.split("."))
            return
        with _stream(self.path, self.span) as stream:
            yield from values(stream, place, str(self.path))

    def documents(self) -> Iterator["Source"]:
        """The one value of the file, or one a line of it, each with its outline.

        Raises:
            BadInput: a line is no JSON.
        """
        if not self.is_lines:
            yield self
            return
        with _stream(self.path) as stream:
            spans = list(_spans(stream))
        for number, span in enumerate(spans, 1):
            with _stream(self.path, span) as stream:
                found = outline(stream, f"{self.path}, result {number}")
            yield Source(self.path, self.sha256, document=found.value, lengths=found.lengths, span=span)  # fmt: skip

    def objects(self) -> Iterator[tuple[int, Any]]:
        """Line numbers with their values, one after the other.

        Raises:
            BadInput: a line is no JSON.
        """
        import orjson

        if not self.is_lines:
            yield 1, self.document
            return
        with _stream(self.path) as stream:
            for number, line in enumerate(_lines(stream, self.path), 1):
                if not line.strip():
                    continue
                try:
                    yield number, orjson.loads(line)
                except orjson.JSONDecodeError:
                    raise BadInput(
                        f"{self.path}:{number} is no JSON, so the file is cut off or damaged; use an unchanged copy."
                    ) from None


def read_sources(paths: Sequence[Path]) -> tuple[Source, ...]:
    """All files; those of a folder that have a name like a result's.

    Raises:
        BadInput: one cannot be read, is too large, no UTF-8 or no JSON, or is named twice.
    """
    files = [file for path in paths for file in (_in_folder(path) if path.is_dir() else [path])]
    resolved = [file.resolve() for file in files]
    twice = next((file for file, real in zip(files, resolved, strict=True) if resolved.count(real) > 1), None)  # fmt: skip
    if twice is not None:
        raise BadInput(f"{twice} is named twice; name every file once.")
    return tuple(_read(file) for file in files)


def _in_folder(folder: Path) -> list[Path]:
    try:
        found = sorted(each for each in folder.iterdir() if each.name.endswith(_IN_FOLDERS))
    except OSError as error:
        raise BadInput(
            f"{folder} cannot be read: {error.strerror or error}; make it readable to you."
        ) from None
    if not found or len(found) > _MOST_FILES:
        how_many = "no file" if not found else f"{len(found):,} files"
        raise BadInput(
            f"{folder} has {how_many} whose name ends in .json, .jsonl or .csv; name the files of one result."
        )
    return found


def _read(path: Path) -> Source:
    sha256 = _looked_through(path)
    kind = _kind(path)
    if kind in (".yaml", ".yml"):
        return Source(path, sha256, document=parse_yaml(_text(path), str(path)).value)
    if kind == ".csv":
        rows = csv.reader(io.StringIO(_text(path)))
        return Source(path, sha256, table=tuple(tuple(each) for each in rows if each))
    first = _first_object(path)
    if first is not None:
        return Source(path, sha256, document=first, is_lines=True)
    with _stream(path) as stream:
        found = outline(stream, str(path))
    return Source(path, sha256, document=found.value, lengths=found.lengths)


def _kind(path: Path) -> str:
    """The end of a name, without that of its packing."""
    return Path(path.name.removesuffix(path.suffix) if path.suffix in _PACKED else path.name).suffix


def _text(path: Path) -> str:
    """A file that is read whole."""
    if path.suffix not in _PACKED:
        return read_text(path, _MOST_TEXT, "a table of results")
    with _stream(path) as stream:
        found = stream.read(_MOST_TEXT + 1)
    if len(found) > _MOST_TEXT:
        raise BadInput(f"{path} has more than {_MOST_TEXT:,} bytes when unpacked; name the right file.")  # fmt: skip
    return found.decode()


def _looked_through(path: Path) -> str:
    """The hash of the file as it lies; refuses what is empty, no UTF-8, damaged or far too large."""
    with opened(path, "a result") as file:
        digest = hashlib.sha256()
        while block := file.stream.read(_BLOCK):
            digest.update(block)
    decoder, begun, said = codecs.getincrementaldecoder("utf-8")(), False, 0
    with _stream(path) as stream:
        block = b"first"
        while block:
            block = stream.read(_BLOCK)
            said += len(block)
            try:
                begun = bool(decoder.decode(block, final=not block).strip()) or begun
            except UnicodeDecodeError as error:
                place = said - len(error.object) + error.start
                raise BadInput(f"{path} is not UTF-8 text (byte {place:,}); save it as UTF-8.") from None  # fmt: skip
            if said > MOST_BYTES:
                raise BadInput(f"{path} has more than {MOST_BYTES:,} bytes when unpacked; name a smaller result.")  # fmt: skip
    if not begun:
        raise BadInput(f"{path} is empty; name the result of a load generator.")
    return digest.hexdigest()


def _first_object(path: Path) -> dict[str, Any] | None:
    """That of the first line, where it is an object by itself and others follow."""
    import orjson

    with _stream(path) as stream:
        lines = (line for line in _lines(stream, path, cut=True) if line.strip())
        first, second = next(lines, None), next(lines, None)
    if first is None or second is None:
        return None
    try:
        found = orjson.loads(first)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _inside(found: Any, steps: Sequence[str]) -> Iterator[Any]:
    """What is at a place of a value that is held whole."""
    if not steps:
        yield found
    elif steps[0] == "item" and isinstance(found, list):
        for each in found:
            yield from _inside(each, steps[1:])
    elif isinstance(found, dict) and steps[0] in found:
        yield from _inside(found[steps[0]], steps[1:])


class _Reader:
    """The content of a file as a parser reads it, or a part of it."""

    def __init__(self, stream: LogStream, span: tuple[int, int] | None) -> None:
        self._stream, self._chunks, self._left = stream, iter(stream), b""
        start, end = (0, None) if span is None else span
        while start and (skipped := len(self._piece(min(start, _BLOCK)))):
            start -= skipped
        self._room = None if span is None or end is None else end - span[0]

    def read(self, most: int = -1, /) -> bytes:
        if self._room is not None:
            most = self._room if most < 0 else min(most, self._room)
        found = self._piece(most)
        if self._room is not None:
            self._room -= len(found)
        return found

    def _piece(self, most: int) -> bytes:
        while len(self._left) < most or most < 0:
            chunk = next(self._chunks, b"")
            if not chunk:
                if self._stream.broke:
                    raise BadInput(f"{self._stream.name} cannot be unpacked: {self._stream.broke}; use an unchanged copy.")  # fmt: skip
                break
            self._left += chunk
        found, self._left = (self._left, b"") if most < 0 else (self._left[:most], self._left[most:])  # fmt: skip
        return found


@contextmanager
def _stream(path: Path, span: tuple[int, int] | None = None) -> Iterator[_Reader]:
    with opened(path, "a result") as file:
        yield _Reader(LogStream(file.stream, file.size, str(path)), span)


def _spans(stream: _Reader) -> Iterator[tuple[int, int]]:
    """Where each line that is not blank begins and ends."""
    begin = place = 0
    blank = True
    while block := stream.read(_BLOCK):
        for part in block.splitlines(keepends=True):
            place += len(part)
            blank = blank and not part.strip()
            if part.endswith(b"\n"):
                if not blank:
                    yield begin, place
                begin, blank = place, True
    if not blank:
        yield begin, place


def _lines(stream: _Reader, path: Path, *, cut: bool = False) -> Iterator[bytes]:
    """Lines; with `cut`, the beginning of one that is longer than any line of a result ends them."""
    rest = b""
    while block := stream.read(_BLOCK):
        *whole, rest = (rest + block).split(b"\n")
        yield from whole
        if len(rest) > _LONGEST_LINE:
            if cut:
                yield rest
                return
            raise BadInput(f"{path} has a line of more than {_LONGEST_LINE:,} bytes; use an unchanged copy.")  # fmt: skip
    if rest:
        yield rest
