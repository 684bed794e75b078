"""Repairs of what web pages, chats and word processors do to a command before it is pasted."""

import re
from typing import Final

from vramledger.frozen import frozen

_QUOTES: Final = str.maketrans(
    dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"')
    | dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'")
)
_SPACES: Final = str.maketrans(
    {"\u00a0": " ", "\u2007": " ", "\u202f": " ", "\u3000": " ",
     "\u200b": None, "\u200c": None, "\u200d": None, "\u2060": None, "\ufeff": None}
)  # fmt: skip
_DASHES: Final = r"(?<![^\s'\"])(?P<dashes>[-\u2010-\u2015\u2212]+)(?P<name>[A-Za-z][\w.-]*)"
_PROMPT: Final = re.compile(r"^[ \t]*(?:\$|>|PS>)[ \t]+", re.MULTILINE)
_FENCE: Final = re.compile(r"^[ \t]*```[\w-]*[ \t]*$", re.MULTILINE)
_LOOSE_CONTINUATION: Final = re.compile(r"\\[ \t]+(?=\r?\n)")
_LONGEST_SHORT_NAME: Final = 3


@frozen
class Repaired:
    """The text as it was meant, with one sentence for each kind of repair."""

    text: str
    notes: tuple[str, ...]


def repair(text: str) -> Repaired:
    """Undo typographic quotes and dashes, prompts, code fences and broken line continuations."""
    notes: list[str] = []
    text = text.replace("\r\n", "\n")
    plain = text if text.isascii() else _typed(text, notes)
    continued = _LOOSE_CONTINUATION.sub(r"\\", plain)
    if continued != plain:
        notes.append("Blanks after a line's closing backslash were dropped.")
    return Repaired(_PROMPT.sub("", _FENCE.sub("", continued)), tuple(notes))


def _typed(text: str, notes: list[str]) -> str:
    """The text as a keyboard types it; what was not goes into the notes."""
    text = text.translate(_SPACES)
    quoted = text.translate(_QUOTES)
    if quoted != text:
        notes.append("Typographic quotation marks were read as plain ones.")
    dashed = re.sub(_DASHES, _plain_dashes, quoted)
    if dashed != quoted:
        notes.append("Typographic dashes in front of options were read as '-' or '--'.")
    return dashed


def _plain_dashes(match: re.Match[str]) -> str:
    """One typographic dash stands for ``--``, except before a name as short as ``-tp``."""
    dashes, name = match["dashes"], match["name"]
    if set(dashes) == {"-"}:
        return match[0]
    short = len(dashes) == 1 and len(name) <= _LONGEST_SHORT_NAME
    return ("-" if short else "--") + name
