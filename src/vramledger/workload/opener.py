"""Log files as streams of bytes, unpacked as they are read.

Compression is known by its magic bytes, not by the file's name. A stream that breaks off gives all
that came before, and says how it ended.
"""

import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from glob import glob, has_magic
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.named_file import opened

CHUNK: Final = 1 << 20  # bytes of one read, packed or not
_LONGEST_MAGIC: Final = 8


class Decompressor(Protocol):
    """The standard library's incremental decompressors; zstd's backport keeps to it."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class _Gzip:
    """zlib's object in the shape of the others; of damaged data it gives all that comes before."""

    def __init__(self) -> None:
        import zlib

        self._inner = zlib.decompressobj(wbits=31)
        self._error = zlib.error
        self._damaged = False

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail and not self._damaged

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        if self._damaged:
            raise self._error
        packed, before = self._inner.unconsumed_tail + data, self._inner.copy()
        try:
            return self._inner.decompress(packed, max_length)
        except self._error:
            self._damaged = True
            return b"".join(self._byte_by_byte(before, packed))

    def _byte_by_byte(self, unpacker: Any, packed: bytes) -> Iterator[bytes]:
        """What comes before the damage."""
        try:
            for place in range(len(packed)):
                yield unpacker.decompress(packed[place : place + 1])
        except self._error:
            return


def _bzip2() -> Decompressor:
    import bz2

    return bz2.BZ2Decompressor()


def _xz() -> Decompressor:
    import lzma

    return lzma.LZMADecompressor()


def _zstd() -> Decompressor:
    if sys.version_info >= (3, 14):
        from compression.zstd import ZstdDecompressor
    else:
        try:
            from backports.zstd import ZstdDecompressor
        except ImportError:
            raise BadInput(
                "Logs packed with zstd need backports.zstd, which the base installation leaves out; run "
                "pip install 'vramledger[full]'."
            ) from None
    return ZstdDecompressor()


@frozen
class Packing:
    """One way of compressing: what it is called, how a member of it begins, what unpacks one."""

    name: str
    magic: tuple[bytes, ...]
    decompressor: Callable[[], Decompressor]


_SKIPPABLE: Final = tuple(bytes((0x50 + kind, 0x2A, 0x4D, 0x18)) for kind in range(16))
PACKINGS: Final = (
    Packing("gzip", (b"\x1f\x8b",), _Gzip),
    # also frames without content, as parallel and seekable writers add (RFC 8878, 3.1.2)
    Packing("zstd", (b"\x28\xb5\x2f\xfd", *_SKIPPABLE), _zstd),
    Packing("bzip2", (b"BZh",), _bzip2),
    Packing("xz", (b"\xfd7zXZ\x00",), _xz),
)
_REFUSED: Final = (  # magic bytes, what such a file is, what to do
    (b"PK\x03\x04", "a ZIP archive or a spreadsheet", "unpack it, or save it as CSV"),
    (b"\xff\xfe", "UTF-16 text", "save it as UTF-8"),
    (b"\xfe\xff", "UTF-16 text", "save it as UTF-8"),
    (b"SQLite format 3\x00"[:_LONGEST_MAGIC], "an SQLite database", "export its table as CSV"),
    (b"%PDF-", "a PDF document", "name the log itself"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it"),
    (b"Rar!\x1a\x07", "a RAR archive", "unpack it"),
    (b"\x04\x22\x4d\x18", "packed by lz4", "unpack it, or pack it by gzip or zstd"),
    (b"\x1f\x9d", "packed by compress", "unpack it, or pack it by gzip or zstd"),
    (b"ARROW1\0\0", "an Arrow file", "save it as Parquet or CSV"),
    (b"Obj\x01", "an Avro file", "save it as Parquet or CSV"),
)
_TAR: Final = slice(257, 262)  # where a tar archive says that it is one (POSIX.1-1988, ustar)
PARQUET_MAGIC: Final = b"PAR1"


class LogStream:
    """The bytes of one log, unpacked.

    `broke` is empty until the file turns out damaged, and then says how ("the gzip file is cut off");
    what was read before it is sound.
    """

    def __init__(self, packed: BinaryIO, size: int, name: str, most: int | None = None) -> None:
        self._packed = packed
        self.size = size  # bytes of the file as it lies on disk
        self.name = name
        self.position = 0  # of those, how many were read
        self.broke = ""
        self._head = self._raw(CHUNK)
        self.packing = next((each for each in PACKINGS if self._head.startswith(each.magic)), None)
        chunks = self._plain() if self.packing is None else self._unpacked(self.packing)
        self._chunks = chunks if most is None else self._beginning(chunks, most)

    def __iter__(self) -> Iterator[bytes]:
        """The content, in pieces of up to `CHUNK` bytes."""
        return self._chunks

    def _raw(self, most: int) -> bytes:
        found = self._packed.read(most)
        self.position += len(found)
        return found

    def _plain(self) -> Iterator[bytes]:
        chunk, self._head = self._head, b""
        while chunk:
            yield chunk
            chunk = self._raw(CHUNK)

    def _beginning(self, chunks: Iterator[bytes], most: int) -> Iterator[bytes]:
        """The first `most` bytes, and the rest of their chunk; then the stream breaks off."""
        for chunk in chunks:
            yield chunk
            most -= len(chunk)
            if most <= 0:
                self.broke = self.broke or "no more than its beginning was read"
                return

    def _unpacked(self, packing: Packing) -> Iterator[bytes]:
        """Members one after the other, as gzip, bzip2 and zstd allow; zeros after the last are padding."""
        packed, self._head = self._head, b""
        while packed and not self.broke:
            if not packed.startswith(packing.magic):
                self.broke = f"after its end the {packing.name} file holds something else"
                return
            packed = self._next_member((yield from self._member(packing, packed)))

    def _next_member(self, packed: bytes) -> bytes:
        """What follows, without zeros before it, and enough of it to tell what it is; b"" at the end."""
        packed = packed.lstrip(b"\0")
        while not self.broke and len(packed) < _LONGEST_MAGIC and (more := self._raw(CHUNK)):
            packed = (packed + more).lstrip(b"\0")
        return packed

    def _member(self, packing: Packing, packed: bytes) -> Generator[bytes, None, bytes]:
        """The content of one member; returns what follows it."""
        unpacker = packing.decompressor()
        while not unpacker.eof:
            try:
                content = unpacker.decompress(packed, CHUNK)
            except MemoryError:
                raise
            except Exception:  # noqa: BLE001 - each library has a class of its own
                self.broke = f"the {packing.name} file is damaged"
                return b""
            if content:
                yield content
            packed = b""
            if unpacker.needs_input and not unpacker.eof:
                packed = self._raw(CHUNK)
                if not packed:
                    self.broke = f"the {packing.name} file is cut off"
                    return b""
        return unpacker.unused_data


@contextmanager
def open_log(path: Path, most: int | None = None) -> Iterator[LogStream]:
    """The log as a stream; with `most`, about so many bytes of its content.

    Raises:
        BadInput: the file is missing, unreadable, no regular file, or of a kind that holds no log.
    """
    with opened(path, "a log") as file:
        stream = LogStream(file.stream, file.size, str(path), most)
        yield stream


def expanded(names: Sequence[str]) -> tuple[Path, ...]:
    """The files that names and patterns stand for, each once; those of a pattern sorted by name.

    Raises:
        BadInput: a pattern that matches no file.
    """
    found: dict[Path, None] = {}
    for name in names:
        if not has_magic(name) or Path(name).exists():
            found[Path(name)] = None
            continue
        matching = sorted(each for each in glob(name, recursive=True) if Path(each).is_file())  # noqa: PTH207 - takes any pattern
        if not matching:
            raise BadInput(f"No file matches {name}; check the pattern and the folder.")
        found |= dict.fromkeys(map(Path, matching))
    return tuple(found)


def refuse_other_kinds(beginning: bytes, name: str) -> None:
    """Refuse what is recognisably no log.

    Raises:
        BadInput: it is empty, or starts like a file of another kind.
    """
    if not beginning:
        raise BadInput(f"{name} is empty, so there is nothing to read; name a log with rows in it.")
    for magic, kind, remedy in _REFUSED:
        if beginning.startswith(magic):
            raise BadInput(f"{name} is {kind}, not a log; {remedy}.")
    if beginning[_TAR] == b"ustar":
        raise BadInput(f"{name} is a tar archive, not a log; unpack it.")
    if any(beginning.startswith(each.magic) for each in PACKINGS):
        raise BadInput(f"{name} is packed twice; unpack it once.")
