"""Lines of UTF-8 text, each sound or a flaw."""

from collections.abc import Iterator
from typing import Final

from vramledger.workload.framing.framed import CUT_OFF, MOST_BYTES, NOT_UTF8, NUL, TOO_LONG, Flaw
from vramledger.workload.opener import LogStream

_BOM: Final = b"\xef\xbb\xbf"


class Lines:
    """An iterator over lines without their ends, which can take lines back.

    A line that cannot be text is a `Flaw`. `number` is that of the line given last, from 1. A byte
    order mark is no part of the first line; CRLF ends a line as LF does.
    """

    def __init__(self, stream: LogStream) -> None:
        self.number = 0
        self._lines = _lines(stream)
        self._returned: list[str | Flaw] = []

    def __iter__(self) -> "Lines":
        return self

    def __next__(self) -> str | Flaw:
        found = self._returned.pop() if self._returned else next(self._lines)
        self.number += 1
        return found

    def take_back(self, lines: list[str | Flaw]) -> None:
        """Give these lines, in this order, once more."""
        self._returned.extend(reversed(lines))
        self.number -= len(lines)


def _lines(stream: LogStream) -> Iterator[str | Flaw]:
    number = 0
    for block in _blocks(stream):
        if block is None:
            number += 1
            yield Flaw(number, TOO_LONG)
            continue
        texts = _sound(block)
        if texts is not None:
            number += len(texts)
            yield from texts
            continue
        for line in block.split(b"\n"):
            number += 1
            yield _checked(line, number)


def _blocks(stream: LogStream) -> Iterator[bytes | None]:
    """Whole lines together, without the last line's end; None for a line beyond the bound."""
    held: list[bytes] = []
    size, too_long, first = 0, False, True
    for chunk in stream:
        piece = chunk.removeprefix(_BOM) if first else chunk
        first = False
        if too_long:
            end = piece.find(b"\n")
            if end < 0:
                continue
            piece, too_long = piece[end + 1 :], False
        last = piece.rfind(b"\n")
        if last >= 0:
            yield b"".join([*held, piece[:last]])
            held, size, piece = [], 0, piece[last + 1 :]
        if piece:
            held.append(piece)
            size += len(piece)
        if size > MOST_BYTES:
            held, size, too_long = [], 0, True
            yield None
    if held:
        yield b"".join(held) if not stream.broke else b"".join(held) + _BROKEN


_BROKEN: Final = b"\0\xff"  # marks the line in which the file broke off; no text holds it


def _sound(block: bytes) -> list[str] | None:
    """The lines of a block in which all is well, which is quick to see; None otherwise."""
    if b"\0" in block:
        return None
    try:
        text = block.decode()
    except UnicodeDecodeError:
        return None
    lines = text.split("\n")
    return [line.removesuffix("\r") for line in lines] if "\r" in text else lines


def _checked(line: bytes, number: int) -> str | Flaw:
    if line.endswith(_BROKEN):
        return Flaw(number, CUT_OFF)
    if b"\0" in line:
        return Flaw(number, NUL)
    try:
        return line.decode().removesuffix("\r")
    except UnicodeDecodeError:
        return Flaw(number, NOT_UTF8)
