"""JSON as it streams: an array of objects, an object that holds one, or objects one after another.

No more of the file is held than one element (and what was read with it). An element that is no JSON
is one flaw; reading goes on at the next object that decodes and has keys of the sound ones.
"""

import json
import re
from codecs import getincrementaldecoder
from collections.abc import Iterator
from typing import Any, Final

from vramledger.workload.formats.format import Record
from vramledger.workload.framing.framed import (
    CUT_OFF,
    MOST_BYTES,
    NOT_JSON,
    NOT_OBJECT,
    NOT_UTF8,
    TOO_LONG,
    Flaw,
    Row,
)
from vramledger.workload.opener import CHUNK, LogStream

WRAPPERS: Final = (  # the keys under which exports hold their array of records
    "data",
    "rows",
    "records",
    "items",
    "logs",
    "observations",
    "generations",
    "resourceSpans",
    "resource_spans",
)
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_NEXT_OBJECT: Final = re.compile(r"[,\n\]\[]\s*(?=\{)")
_LONGEST_LITERAL: Final = 12  # -Infinity and half a \uXXXX: an error so near the end may be a cut
_UNTERMINATED: Final = "Unterminated string"


class _NotJson(Exception):
    """What stands at the place is no JSON, or more of it than the bound."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _Text:
    """The text of a stream from the place that was reached."""

    def __init__(self, stream: LogStream) -> None:
        self._chunks, self._stream = iter(stream), stream
        self._decode = getincrementaldecoder("utf-8-sig")("surrogateescape").decode
        self._scan = json.JSONDecoder().raw_decode
        self.text, self.at, self.line = "", 0, 1
        self.ended = False

    def more(self) -> bool:
        """Read on, at least as much as is held; False at the end of the stream."""
        held = self.text[self.at :]
        pieces, size = [held], 0
        while size < max(CHUNK, len(held)) and not self.ended:
            chunk = next(self._chunks, b"")
            self.ended = not chunk
            pieces.append(self._decode(chunk, final=self.ended))
            size += len(chunk)
        self.text, self.at = "".join(pieces), 0
        return size > 0

    def go_to(self, place: int) -> None:
        self.line += self.text.count("\n", self.at, place)
        self.at = place

    def next_sign(self) -> str:
        """The next character that is not space, "" at the end; the place is moved to it."""
        while True:
            end = _SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]
            self.go_to(end)
            if end < len(self.text):
                return self.text[end]
            if not self.more():
                return ""

    def take(self, sign: str) -> bool:
        """Move past this character where it comes next."""
        found = self.next_sign() == sign
        if found:
            self.go_to(self.at + 1)
        return found

    def value(self) -> Any:
        """The value at the place, which is moved past it.

        Raises:
            _NotJson: there is none, or it is cut off by the end.
        """
        while True:
            try:
                found, end = self._scan(self.text, self.at)
            except RecursionError:
                raise _NotJson(NOT_JSON) from None
            except json.JSONDecodeError as error:
                self._read_on(error)
                continue
            except ValueError:  # a number of thousands of digits
                raise _NotJson(NOT_JSON) from None
            if end == len(self.text) and isinstance(found, int | float) and self.more():
                continue  # the digits may go on
            self.go_to(end)
            return found

    def _read_on(self, error: json.JSONDecodeError) -> None:
        """Read more where that can mend the error."""
        cut = error.msg.startswith(_UNTERMINATED) or error.pos >= len(self.text) - _LONGEST_LITERAL
        if cut and len(self.text) - self.at > MOST_BYTES:
            raise _NotJson(TOO_LONG)
        if not cut or not self.more():
            raise _NotJson(CUT_OFF if cut and self._stream.broke else NOT_JSON)

    def skip_to_object_like(self, keys: set[str]) -> bool:
        """Move to the next object that is JSON and shares half of these keys; False: there is none."""
        while len(self.text) - self.at < MOST_BYTES and self.more():
            pass
        for found in _NEXT_OBJECT.finditer(self.text, self.at + 1):
            try:
                value, _ = self._scan(self.text, found.end())
            except (ValueError, RecursionError):
                continue
            if len(value.keys() & keys) * 2 >= len(keys):
                self.go_to(found.end())
                return True
        return False


class JsonValues:
    """The records of a JSON file."""

    def __init__(self, stream: LogStream) -> None:
        self._text = _Text(stream)
        self._stream = stream
        self._keys: set[str] = set()  # of the last sound object
        self.columns: tuple[str, ...] = ()

    @property
    def line(self) -> int:
        return self._text.line

    def __iter__(self) -> Iterator[Row]:
        while sign := self._text.next_sign():
            if sign == "[":
                self._text.take("[")
                yield from self._elements()
            elif sign == "{":
                yield from self._object()
            elif sign in ",]}" and self._text.take(sign):
                continue  # left over from a record that was none
            else:
                yield from self._one()

    def _one(self) -> Iterator[Row]:
        """The value at the place as a row; after a flaw, the place is the next sound object."""
        line = self._text.line
        try:
            found = self._text.value()
        except _NotJson as problem:
            yield Flaw(line, problem.reason)
            if not self._text.skip_to_object_like(self._keys):
                self._text.go_to(len(self._text.text))
                while self._text.more():  # so that a damaged file is found out
                    self._text.go_to(len(self._text.text))
            return
        yield self._row(line, found)

    def _row(self, line: int, found: Any) -> Row:
        if not isinstance(found, dict):
            return Flaw(line, NOT_OBJECT)
        if self._stream_has_bad_bytes(found):
            return Flaw(line, NOT_UTF8)
        self._keys = set(found)
        return Record(line, found)

    def _stream_has_bad_bytes(self, found: dict[str, Any]) -> bool:
        """Whether bytes that are not UTF-8 stand in it (as lone surrogates, since decoding)."""
        try:
            json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            return True
        return False

    def _elements(self) -> Iterator[Row]:
        """The elements of the array that was just opened."""
        while sign := self._text.next_sign():
            if sign == "]":
                self._text.take("]")
                return
            if sign == ",":
                self._text.take(",")
                continue
            yield from self._one()
        self._stream.broke = self._stream.broke or "the JSON array is not closed"

    def _object(self) -> Iterator[Row]:
        """The object at the place as a record, or the elements of the array it holds."""
        line = self._text.line
        found: dict[str, Any] = {}
        held = False
        self._text.take("{")
        try:
            while not self._text.take("}"):
                key = self._text.value()
                if not isinstance(key, str) or not self._text.take(":"):
                    raise _NotJson(NOT_JSON)
                if key in WRAPPERS and self._text.take("["):
                    self.columns, held = (key,), True
                    yield from self._elements()
                else:
                    self._text.next_sign()  # past the space after the colon
                    found[key] = self._text.value()
                if not self._text.take(",") and self._text.next_sign() != "}":
                    raise _NotJson(NOT_JSON)
        except _NotJson as problem:
            yield Flaw(line, problem.reason)
            if not self._text.skip_to_object_like(self._keys):
                self._text.go_to(len(self._text.text))
            return
        if not held:
            yield self._row(line, found)
