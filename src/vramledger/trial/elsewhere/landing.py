"""Segments of workers elsewhere, written into the run's folder here as they come."""

import os
import re
from pathlib import Path
from typing import Final

from vramledger.record.segments import FOLDER
from vramledger.trial.elsewhere.hand import Piece

_NAME: Final = re.compile(r"([a-z]+\.[\w-]+\.)(\d+)(\.arrows)")


class Landing:
    """The folder of segments; those of workers elsewhere are numbered after those that are there.

    Raises:
        OSError: it cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._place = folder / FOLDER
        self._place.mkdir(exist_ok=True)
        names = (_NAME.fullmatch(path.name) for path in self._place.iterdir())
        self._after = max((int(match[2]) for match in names if match), default=0)
        self._written: dict[Path, int] = {}

    def take(self, piece: Piece) -> None:
        """Add a piece to its segment, on disk when this returns.

        Raises:
            ValueError: the name is none, or pieces before it are missing.
            OSError: it cannot be written.
        """
        match = _NAME.fullmatch(piece.name)
        if match is None:
            raise ValueError(f"{piece.name!r} is no segment")
        path = self._place / f"{match[1]}{int(match[2]) + self._after:04}{match[3]}"
        if piece.start != self._written.get(path, 0):
            raise ValueError(f"{piece.name} goes on at {piece.start}, and {self._written.get(path, 0)} bytes are here")  # fmt: skip
        with path.open("ab") as file:
            file.write(piece.content)
            file.flush()
            os.fsync(file.fileno())
        self._written[path] = piece.start + len(piece.content)
