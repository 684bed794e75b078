"""Server-sent events out of pieces of a stream, split anywhere, also within a character or between CR and LF.

Format: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation. Only data
and the type ``error`` count. One thing beside the standard: llama.cpp's server reports failures in a field of its own, ``error: {...}``,
which is read as the data ``{"error": {...}}`` that others send.
"""

import re
from typing import Final

from vramledger.frozen import frozen

_BLANK: Final = b"\n\n"
_BOM: Final = b"\xef\xbb\xbf"
_PLAIN_TEXT: Final = re.compile(rb'[^"\\\x00-\x1f]+')  # of a JSON string without escapes


class LineTooLong(Exception):
    """A line of the stream goes on beyond the limit."""


class EventSplitter:
    """Takes pieces of a stream and gives whole events; holds at most one unfinished event.

    Raises:
        LineTooLong: the unfinished event is longer than `longest` bytes.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._begun = False
        self._held = b""  # the beginning of a BOM, or a CR that waits for what follows it
        self.rest: bytes | bytearray = b""  # grows in place: a long line may come byte by byte

    def feed(self, piece: bytes) -> list[bytes]:
        """The blocks of lines that this piece completes: LF line ends, without the blank line at the end."""
        if self._held or not self._begun or b"\r" in piece:
            piece = self._readable(piece)
        rest = self.rest
        if rest:
            looked_at = len(rest) - 1  # of a blank line, its first LF may be there
            rest = self.rest = bytearray(rest) if isinstance(rest, bytes) else rest
            rest += piece
            if rest.find(_BLANK, looked_at) < 0:
                if len(rest) > self._longest:
                    raise LineTooLong
                return []
            piece = bytes(rest)
        *whole, self.rest = piece.split(_BLANK)
        if len(piece) > self._longest and max(map(len, (*whole, self.rest))) > self._longest:
            raise LineTooLong
        return whole

    def _readable(self, piece: bytes) -> bytes:
        """The piece behind what was held back, without a BOM, every line end as LF; its last bytes may be held in turn."""
        piece, self._held = self._held + piece, b""
        if not self._begun:
            if len(piece) < len(_BOM) and _BOM.startswith(piece):
                self._held = piece
                return b""
            piece, self._begun = piece.removeprefix(_BOM), True
        if piece.endswith(b"\r"):
            piece, self._held = piece[:-1], b"\r"
        return piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def data_of(block: bytes) -> bytes | None:
    """The data of one event; None where it has none, as a comment has."""
    if block.startswith(b"data: ") and b"\n" not in block:
        return block[6:]
    found: list[bytes] = []
    for line in block.split(b"\n"):
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            found.append(value)
        elif name == b"error":
            found.append(b'{"error":%b}' % value)
    return b"\n".join(found) if found else None


def is_of_type_error(block: bytes) -> bool:
    """Whether the event is of the type ``error``, whatever its data say."""
    if b"event" not in block:
        return False
    types = [line[6:].strip() for line in block.split(b"\n") if line.startswith(b"event:")]
    return bool(types) and types[-1] == b"error"


@frozen
class Shape:
    """What an event with a token looks like around its text; another event of the shape differs in nothing else.

    `thinking` is whether the text is thinking. Comparing bytes is several times as fast as reading JSON.
    """

    prefix: bytes
    suffix: bytes
    thinking: bool

    def fits(self, block: bytes) -> bool:
        """Whether the block is such an event, with a text that is not empty and that JSON would read without fail."""
        return (
            block.startswith(self.prefix)
            and block.endswith(self.suffix)
            and plain_text(block, len(self.prefix), len(block) - len(self.suffix))
        )


def shape_of(block: bytes, key: bytes, text: str, *, thinking: bool) -> Shape | None:
    """The shape of an event that was read the plain way and had one text under one key; None where that is not sure.

    Args:
        block: the event: one line of data.
        key: the key of the text in the JSON, for example ``content``.
        text: what stood there.
        thinking: whether it is thinking.
    """
    opening = b'"%b":"' % key
    if block.count(opening) != 1:
        opening = b'"%b": "' % key
        if block.count(opening) != 1:
            return None
    start = block.index(opening) + len(opening)
    end = start + len(text.encode())
    if b"\n" in block or block[start:end] != text.encode() or block[end : end + 1] != b'"':
        return None
    return Shape(block[:start], block[end:], thinking)


def plain_text(block: bytes, start: int, end: int) -> bool:
    """Whether these bytes are the inside of a JSON string: not empty, no escapes, no control characters, UTF-8."""
    if end <= start or _PLAIN_TEXT.fullmatch(block, start, end) is None:
        return False
    text = block[start:end]
    if text.isascii():
        return True
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
