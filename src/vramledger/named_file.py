"""Files that people name: regular files of bounded size, opened without waiting.

A directory, a pipe or a device in a file's place is refused by name, and so is what is far larger
than any file of its kind. Sizes are checked on the open file, so that one that changes in between
cannot get past the bound.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen

_REMEDIES: Final = {
    errno.ENOENT: "check its path",
    errno.ENOTDIR: "check its path",
    errno.EACCES: "make it readable to you",
    errno.EPERM: "make it readable to you",
    errno.ELOOP: "mend the link",
    errno.ENAMETOOLONG: "check its path",
}
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")


@frozen
class NamedFile:
    """An open regular file with its size in bytes."""

    stream: BinaryIO
    size: int


@contextmanager
def opened(path: Path, what: str) -> Iterator[NamedFile]:
    """The file, open for reading bytes. `what` says in messages what it should be: "a plan".

    Raises:
        BadInput: missing, unreadable, a link in circles, no regular file; also when reading fails.
    """
    name = _name(path)
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            status = os.fstat(descriptor)
            _check_kind(status.st_mode, path, what)
            with os.fdopen(descriptor, "rb", closefd=False) as stream:
                yield NamedFile(stream, status.st_size)
        finally:
            os.close(descriptor)
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0, "check the file")
        raise BadInput(f"{path} cannot be read: {error.strerror or error}; {remedy}.") from None


def read_bytes(path: Path, most: int, what: str) -> bytes:
    """The whole file.

    Raises:
        BadInput: as `opened`, or more than `most` bytes.
    """
    with opened(path, what) as file:
        content = file.stream.read(most + 1) if file.size <= most else b""
        if file.size > most or len(content) > most:
            raise BadInput(
                f"{path} has {max(file.size, len(content)):,} bytes, far more than {what}, which "
                f"stays under {most:,}; name the right file."
            )
    return content


def read_text(path: Path, most: int, what: str) -> str:
    """The whole file as UTF-8 text, without its byte order mark.

    Raises:
        BadInput: as `read_bytes`, or not UTF-8.
    """
    content = read_bytes(path, most, what)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        kind = "is UTF-16, not UTF-8 text" if content[:2] in _UTF16 else "is not UTF-8 text"
        raise BadInput(f"{path} {kind} (byte {error.start}); save it as UTF-8.") from None


def _name(path: Path) -> bytes:
    """The path as the system takes it."""
    try:
        name = os.fsencode(path)
    except UnicodeEncodeError:
        name = b"\0"
    if b"\0" in name:
        raise BadInput(f"{str(path)!r} cannot be the name of a file; check its path.")
    return name


def _check_kind(mode: int, path: Path, what: str) -> None:
    if stat.S_ISDIR(mode):
        raise BadInput(f"{path} is a directory, not {what}; name the file itself.")
    if not stat.S_ISREG(mode):
        raise BadInput(
            f"{path} is a pipe or a device, not {what}; save what it gives to a file and name that."
        )
