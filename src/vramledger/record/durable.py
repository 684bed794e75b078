"""Files that are whole or absent, also after a loss of power."""

import hashlib
import os
from pathlib import Path
from typing import BinaryIO, Final

_PIECE: Final = 1 << 20


def replace_file(path: Path, content: bytes) -> None:
    """Put the content in the file's place, on disk before it is visible.

    Raises:
        OSError: it cannot be written.
    """
    waiting = path.with_name(f".{path.name}.waiting")
    try:
        with waiting.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        publish(waiting, path)
    except OSError:
        waiting.unlink(missing_ok=True)
        raise


def publish(waiting: Path, path: Path) -> None:
    """Rename a finished file into its place, and put the folder's entry on disk."""
    waiting.replace(path)
    sync_folder(path.parent)


def sync_file(path: Path) -> None:
    """Wait until a file's bytes are on disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """Wait until a folder's entries are on disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return stream_sha256(file)


def stream_sha256(stream: BinaryIO) -> str:
    """SHA-256 of the rest of a stream, in hexadecimal."""
    digest = hashlib.sha256()
    while piece := stream.read(_PIECE):
        digest.update(piece)
    return digest.hexdigest()
