"""JSON as it streams: an array of objects, an object that holds one, or objects one after another.

No more of the file is held than one element (and what was read with it). An element that is no JSON
is one flaw; reading goes on at the next object that decodes and has keys of the sound ones.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

from vramledger.workload.formats.format import Record
from vramledger.workload.framing.framed import CUT_OFF, NOT_JSON, NOT_OBJECT, NOT_UTF8, Flaw, Row
from vramledger.workload.framing.json_text import JsonText, NotJson
from vramledger.workload.opener import LogStream

WRAPPERS: Final = (  # the keys under which exports hold their array of records
    "data",
    "rows",
    "records",
    "items",
    "logs",
    "observations",
    "generations",
    "benchmarks",
    "resourceSpans",
    "resource_spans",
)


class JsonValues:
    """The records of a JSON file."""

    def __init__(self, stream: LogStream) -> None:
        self._text = JsonText(stream)
        self._stream = stream
        self._lost = False  # whether nothing that follows can be told apart
        self._keys: set[str] = set()  # of the last sound object
        self.columns: tuple[str, ...] = ()

    @property
    def line(self) -> int:
        return self._text.line

    def __iter__(self) -> Iterator[Row]:
        while not self._lost and (sign := self._text.next_sign()):
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
        """The value at the place as a row."""
        line = self._text.line
        try:
            yield self._row(line, self._text.value())
        except NotJson as problem:
            yield self._flaw(line, problem)

    def _flaw(self, line: int, problem: NotJson) -> Flaw:
        """What is no JSON; the place becomes the next sound object, or reading ends."""
        cut_off = problem.reason == CUT_OFF
        if self._text.skip_to_object_like(self._keys):
            return Flaw(line, NOT_JSON if cut_off else problem.reason)
        self._lost = True
        how = "the JSON is not closed" if cut_off else "what follows is not JSON"
        self._stream.broke = self._stream.broke or how
        return Flaw(line, problem.reason)

    def _row(self, line: int, found: Any) -> Row:
        if not isinstance(found, dict):
            return Flaw(line, NOT_OBJECT)
        if self._text.has_bad_bytes and not _is_text(found):
            return Flaw(line, NOT_UTF8)
        self._keys = set(found)
        return Record(line, found)

    def _elements(self) -> Iterator[Row]:
        """The elements of the array that was just opened."""
        while not self._lost and (sign := self._text.next_sign()):
            if sign == "]":
                self._text.take("]")
                return
            if sign == ",":
                self._text.take(",")
                continue
            yield from self._one()
        if not self._lost:
            self._stream.broke = self._stream.broke or "the JSON is not closed"

    def _object(self) -> Iterator[Row]:
        """The object at the place as a record, or the elements of the array it holds."""
        line = self._text.line
        found: dict[str, Any] = {}
        holds = False
        self._text.take("{")
        try:
            while not self._lost and (key := self._text.next_key()) is not None:
                if key in WRAPPERS and self._text.take("["):
                    self.columns, holds = (key,), True
                    yield from self._elements()
                else:
                    found[key] = self._text.value()
        except NotJson as problem:
            yield self._flaw(line, problem)
            return
        if not holds and not self._lost:
            yield self._row(line, found)


def _is_text(found: dict[str, Any]) -> bool:
    """Whether no bytes that are not UTF-8 stand in it (as lone surrogates, since decoding)."""
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
