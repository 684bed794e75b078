"""Copies in a folder of this machine: another disk, a mounted share."""

import hashlib
import os
import shutil
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final

from vramledger.frozen import frozen
from vramledger.methods.trialplan.home.not_home import NotHome
from vramledger.record.durable import file_sha256, publish, sync_file, sync_folder

_PIECE: Final = 1 << 20


@frozen
class Directory:
    """A folder, made where it is missing."""

    folder: Path

    @property
    def name(self) -> str:
        """The folder."""
        return str(self.folder)

    def put(self, source: Path, relative: PurePosixPath) -> None:
        """Copied beside its place, put on disk, read again, and only then put there.

        Raises:
            NotHome: it is not there afterwards.
            FileNotFoundError: there is no such source.
        """
        with source.open("rb") as reading:
            self._take(reading, self.folder / relative)

    def _take(self, reading: BinaryIO, place: Path) -> None:
        waiting = place.with_name(f".{place.name}.coming")
        try:
            self._made(place.parent)
            sent = _copied(reading, waiting)
            if file_sha256(waiting) != sent:
                waiting.unlink(missing_ok=True)
                raise NotHome(f"{place} was read back otherwise than it was written")
            publish(waiting, place)
        except OSError as error:
            _dropped(waiting)
            raise NotHome(f"{place} cannot be written: {error.strerror or error}") from None

    def remove(self, relative: PurePosixPath) -> None:
        """A folder and all in it; none is fine.

        Raises:
            NotHome: it is still there.
        """
        try:
            shutil.rmtree(self.folder / relative)
        except FileNotFoundError:
            return
        except OSError as error:
            raise NotHome(
                f"{self.folder / relative} cannot be removed: {error.strerror or error}"
            ) from None

    def _made(self, folder: Path) -> None:
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
            sync_folder(folder.parent)


def _copied(reading: BinaryIO, to: Path) -> str:
    """The SHA-256 of what was read; a file that grows is copied as far as it was."""
    digest = hashlib.sha256()
    with to.open("wb") as writing:
        left = os.fstat(reading.fileno()).st_size
        while left > 0 and (piece := reading.read(min(_PIECE, left))):
            digest.update(piece)
            writing.write(piece)
            left -= len(piece)
    sync_file(to)
    return digest.hexdigest()


def _dropped(waiting: Path) -> None:
    try:
        waiting.unlink(missing_ok=True)
    except OSError:
        return  # what could not be written cannot always be removed either
