"""Where copies go: a folder, or one on another machine."""

from pathlib import Path, PurePosixPath
from typing import Protocol

from vramledger.errors import BadInput
from vramledger.methods.trialplan.home.directory import Directory
from vramledger.methods.trialplan.home.remote import Remote


class Home(Protocol):
    """A place for copies, by paths relative to it."""

    @property
    def name(self) -> str:
        """As it was given."""
        ...

    def put(self, source: Path, relative: PurePosixPath) -> None:
        """Copy a file there, whole and verified, in the place of one that is there.

        Raises:
            NotHome: it is not there afterwards.
        """
        ...

    def remove(self, relative: PurePosixPath) -> None:
        """Take a folder away that is copied no more.

        Raises:
            NotHome: it is still there.
        """
        ...


def home_of(text: str) -> Home:
    """``DIR`` or ``user@host:dir``; what has a slash before its first colon is a folder.

    Raises:
        BadInput: it is neither.
    """
    before, colon, folder = text.partition(":")
    if not text.strip() or text.startswith("-"):
        raise BadInput(f"--home {text!r} is no folder and no user@host:dir; name one.")
    if not colon or "/" in before:
        return Directory(Path(text))
    if not before or not folder:
        raise BadInput(f"--home {text} lacks the host or the folder; write user@host:dir.")
    return Remote(before, folder)
