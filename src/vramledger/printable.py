r"""Text from files and names, made safe to show: no control character reaches a terminal.

Whatever Python does not call printable (control and format characters, half characters of broken
encodings, separators other than a space) is written as its escape, such as ``\x1b``.
"""

import re
from typing import Final

_LONGEST_LINE: Final = 2_000
_HEAD: Final = 1_500
_TAIL: Final = 400
_CREDENTIALS: Final = re.compile(r"//[^/@\s]*@")


def one_line(text: str) -> str:
    """The text on one line without control characters; the middle of an absurdly long one is cut."""
    if len(text) > _LONGEST_LINE:
        cut = len(text) - _HEAD - _TAIL
        text = f"{text[:_HEAD]} [{cut:,} characters left out] {text[-_TAIL:]}"
    return flat(text)


def flat(text: str) -> str:
    """The text on one line without control characters, whole: a line feed in a name makes no line of its own."""
    return text if text.isprintable() else "".join(map(_escaped, text))


def lines(text: str) -> str:
    """The text without control characters but for the ends of its lines."""
    return "\n".join(map(flat, text.split("\n")))


def without_password(text: str) -> str:
    """The text with user and password taken out of every address in it."""
    return _CREDENTIALS.sub("//", text)


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")
