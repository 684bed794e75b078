"""Every line that is not blank is a record: of its text, or of the JSON object it holds."""

import json
from collections.abc import Iterator
from typing import Final

from vramledger.workload.formats.format import Record
from vramledger.workload.framing.framed import NOT_JSON, NOT_OBJECT, Flaw, Row
from vramledger.workload.framing.lines import Lines
from vramledger.workload.opener import LogStream

_decode: Final = json.JSONDecoder().decode


class TextLines:
    """The lines of a text log, each {"line": text}."""

    columns: tuple[str, ...] = ()

    def __init__(self, stream: LogStream) -> None:
        self._lines = Lines(stream)

    @property
    def line(self) -> int:
        return self._lines.number

    def __iter__(self) -> Iterator[Row]:
        row = self._row
        for number, line in enumerate(self._lines, 1):
            if isinstance(line, Flaw):
                yield line
            elif line and not line.isspace():
                yield row(number, line)

    def _row(self, number: int, line: str) -> Row:
        return Record(number, {"line": line})


class JsonLines(TextLines):
    """The objects of a JSON Lines file."""

    def _row(self, number: int, line: str) -> Row:
        try:
            found = _decode(line)
        except (ValueError, RecursionError):
            return Flaw(number, NOT_JSON)
        return Record(number, found) if isinstance(found, dict) else Flaw(number, NOT_OBJECT)
