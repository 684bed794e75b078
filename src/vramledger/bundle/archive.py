"""A bundle as one file: a ZIP archive in which nothing is packed, so that its bytes follow from its files alone.

Tables are packed inside already. Every entry is a regular file of 1980-01-01 with mode 644; the order is that of `ordered`.
An archive is looked at before anything is unpacked, and afterwards written anew and compared: what another program made, or what has
anything between its files, is not a bundle.
"""

import re
import struct
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import BinaryIO, Final, NoReturn

from vramledger.errors import BadInput
from vramledger.named_file import opened

MANIFEST: Final = "manifest.json"
SIGNATURE: Final = "signature.json"
MOST_FILES: Final = 10_000
MOST_BYTES: Final = 1 << 38  # 256 GiB
_FIRST: Final = (MANIFEST, SIGNATURE)
_DATE: Final = (1980, 1, 1, 0, 0, 0)
_MODE: Final = 0o100644 << 16
_LOCAL: Final = struct.Struct("<4s22xHH")  # signature, then lengths of name and extra field
_COPY: Final = 1 << 20
_PART: Final = re.compile(r"[A-Za-z0-9_+=@,-][A-Za-z0-9._+=@,-]{0,200}")
_DEVICES: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def ordered(names: Iterable[str]) -> list[str]:
    """Manifest and signature first, the others by name."""
    return sorted(names, key=lambda name: (name not in _FIRST, name))


def write_archive(folder: Path, names: Iterable[str], stream: BinaryIO) -> None:
    """Write these files of a folder; equal files are equal bytes."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name in ordered(names):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.create_system, entry.external_attr = 3, _MODE
            entry.file_size = (folder / name).stat().st_size
            with (folder / name).open("rb") as source, archive.open(entry, "w") as target:
                while piece := source.read(_COPY):
                    target.write(piece)


def unpack(path: Path, folder: Path) -> list[str]:
    """Look at an archive, then put its files into a new folder; their names in the archive's order.

    Raises:
        BadInput: it is cut off, no archive of this kind, or has an entry that no bundle has, by name.
    """
    with opened(path, "a bundle") as file:
        entries = _entries(path, file.stream)
        _check(path, entries, file.size)
        for entry in entries:
            _copy(path, file.stream, entry, folder / entry.filename)
    return [entry.filename for entry in entries]


def other_byte(path: Path, folder: Path, names: Iterable[str]) -> int | None:
    """The first byte in which an archive is not the one of these files; None where it is that."""
    import tempfile

    with (
        tempfile.TemporaryFile(dir=folder.parent) as anew,
        opened(path, "a bundle") as file,
    ):
        write_archive(folder, names, anew)
        anew.seek(0)
        file.stream.seek(0)
        return _differs(anew, file.stream)


def _differs(one: BinaryIO, other: BinaryIO) -> int | None:
    at = 0
    while True:
        left, right = one.read(_COPY), other.read(_COPY)
        if left != right:
            pairs = zip(left, right, strict=False)
            same = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))
            return at + same
        if not left:
            return None
        at += len(left)


def _entries(path: Path, stream: BinaryIO) -> list[zipfile.ZipInfo]:
    try:
        with zipfile.ZipFile(stream) as archive:
            return archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, struct.error, EOFError):
        raise BadInput(
            f"{path} is no ZIP archive, or one that was cut off or changed; use an unchanged copy of the bundle."
        ) from None


def _check(path: Path, entries: Sequence[zipfile.ZipInfo], size: int) -> None:
    if len(entries) > MOST_FILES:
        _refuse(path, f"has {len(entries):,} entries, and a bundle has at most {MOST_FILES:,}")
    seen: dict[str, str] = {}
    for entry in entries:
        why = _unfit(entry)
        if why is not None:
            _refuse(path, f"has the entry {entry.filename!r}, which {why}")
        if entry.orig_filename != entry.filename:
            _refuse(path, f"has the entry {entry.orig_filename!r}, which hides a part of its name")
        folded = entry.filename.casefold()
        if folded in seen:
            _refuse(path, f"has both {seen[folded]!r} and {entry.filename!r}, which are one file")
        seen[folded] = entry.filename
    for name in seen:
        above = next((other for other in _above(name) if other in seen), None)
        if above is not None:
            _refuse(path, f"has {seen[above]!r} as a file and as a folder")
    total = sum(entry.file_size for entry in entries)
    if total > min(size, MOST_BYTES):
        _refuse(path, f"has entries of {total:,} bytes in a file of {size:,}")


def _above(name: str) -> Iterable[str]:
    parts = name.split("/")
    return ("/".join(parts[:count]) for count in range(1, len(parts)))


def _unfit(entry: zipfile.ZipInfo) -> str | None:
    """Why no bundle has such an entry."""
    kind = entry.external_attr >> 28
    if kind == 0o12:
        return "is a link"
    if kind != 0o10:
        return "is no regular file"
    if entry.compress_type != zipfile.ZIP_STORED or entry.compress_size != entry.file_size:
        return "is packed, and in a bundle nothing is"
    if entry.flag_bits & 1:
        return "is encrypted"
    return unfit_name(entry.filename)


def unfit_name(name: str) -> str | None:
    """Why no file of a bundle has such a name; None where one may."""
    if name.startswith("/") or "\\" in name or ":" in name:
        return "leads out of the bundle"
    parts = name.split("/")
    if ".." in parts:
        return "leads out of the bundle"
    if not all(_PART.fullmatch(part) and not part.endswith(".") for part in parts):
        return "is a name that not every file system takes"
    return "is the name of a device" if any(_DEVICES.fullmatch(part) for part in parts) else None


def _copy(path: Path, stream: BinaryIO, entry: zipfile.ZipInfo, target: Path) -> None:
    stream.seek(entry.header_offset)
    head = stream.read(_LOCAL.size)
    if len(head) < _LOCAL.size or not head.startswith(b"PK\x03\x04"):
        _refuse(path, f"has no file where {entry.filename!r} should be")
    _, name, extra = _LOCAL.unpack(head)
    stream.seek(name + extra, 1)
    target.parent.mkdir(parents=True, exist_ok=True)
    left = entry.file_size
    with target.open("xb") as file:
        while left and (piece := stream.read(min(left, _COPY))):
            file.write(piece)
            left -= len(piece)
    if left:
        _refuse(path, f"ends within {entry.filename!r}")


def _refuse(path: Path, what: str) -> NoReturn:
    raise BadInput(
        f"{path} {what}; nothing of it was used: it was not made by vram verify --seal, or was changed since."
    )
