"""The error tree. Every message is one finished sentence: what, where, why and the remedy.

    VramError
    |- BadInput        exit 2   a file, argument or name that cannot be used
    |  `- UnknownName  exit 2   a name we do not know; carries the nearest known ones
    `- CannotKnow      exit 3   the question is sound, the answer is not to be had from what is given

Exit 0 means "holds", 1 "does not hold", 130 "interrupted"; these are verdicts, not errors.
"""

from collections.abc import Iterable
from enum import IntEnum

from vramledger.printable import one_line


class ExitCode(IntEnum):
    """Exit codes are verdicts and mean the same for every verb."""

    HOLDS = 0
    DOES_NOT_HOLD = 1
    BAD_INPUT = 2
    CANNOT_KNOW = 3
    INTERRUPTED = 130


class VramError(Exception):
    """Base of everything the user may see; `str(error)` is the whole message, on one line.

    Names out of files and arguments stand in messages, so control characters in it are escaped.
    """

    exit_code = ExitCode.BAD_INPUT

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class BadInput(VramError):
    """Input that cannot be used as it is."""

    exit_code = ExitCode.BAD_INPUT


class UnknownName(BadInput):
    """A name that is not in our lists.

    Args:
        kind: what the name should be, for example ``GPU`` or ``model_type``.
        name: what was given.
        known: every name that would have been understood.
        where: file and key the name came from, empty for the command line.
        hint: a closing remedy; by default "the nearest known ones are listed".
    """

    def __init__(
        self, kind: str, name: str, known: Iterable[str], where: str = "", hint: str = ""
    ) -> None:
        self.name = name
        self.nearest = nearest(name, known)
        place = f" in {where}" if where else ""
        closest = (
            f"; the nearest known {'one is' if len(self.nearest) == 1 else 'ones are'} "
            + ", ".join(self.nearest)
            if self.nearest
            else "; nothing known comes near it"
        )
        super().__init__(f"Unknown {kind} {name!r}{place}{closest}.{' ' + hint if hint else ''}")


class CannotKnow(VramError):
    """The answer cannot be known from what is given; the message says what would settle it."""

    exit_code = ExitCode.CANNOT_KNOW


def nearest(name: str, known: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """Up to `count` known names that resemble `name`, closest first; case and ``-_`` are ignored."""
    import difflib  # kept off the start-up path: only failing commands need it

    folded = {_fold(candidate): candidate for candidate in known}
    matches = difflib.get_close_matches(_fold(name), folded, n=count, cutoff=0.55)
    return tuple(folded[match] for match in matches)


def _fold(name: str) -> str:
    return name.casefold().replace("_", "-")
