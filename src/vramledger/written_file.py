"""Where files may be written: in no file's place, or in that of a regular one that is not read from."""

import stat
from collections.abc import Iterable
from pathlib import Path

from vramledger.errors import BadInput


def refuse_place(path: Path, sources: Iterable[Path] = (), option: str = "-o") -> None:
    """Refuse what a file that is written whole and then put in its place would destroy.

    Whether the place can be written at all is told by writing. `option` names the place in messages.

    Raises:
        BadInput: a directory, a pipe or a device; or one of `sources`, from which is read.
    """
    try:
        mode = path.stat().st_mode
    except OSError:
        return
    if not stat.S_ISREG(mode):
        raise BadInput(
            f"{path} is a directory, a pipe or a device, and no file to be replaced; choose another "
            f"{option}."
        )
    for source in sources:
        if source.exists() and source.samefile(path):
            raise BadInput(f"{path} is what is read, and would be lost; choose another {option}.")
