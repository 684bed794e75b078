"""One JSON object a line."""

import json
from collections.abc import Iterator
from typing import Any

from vramledger.workload.formats.format import Record
from vramledger.workload.framing.framed import NOT_JSON, NOT_OBJECT, Flaw, Row
from vramledger.workload.framing.lines import Lines
from vramledger.workload.opener import LogStream


class JsonLines:
    """The objects of a JSON Lines file; blank lines are none."""

    columns: tuple[str, ...] = ()

    def __init__(self, stream: LogStream) -> None:
        self._lines = Lines(stream)

    @property
    def line(self) -> int:
        return self._lines.number

    def __iter__(self) -> Iterator[Row]:
        decode = json.JSONDecoder().decode
        for number, line in enumerate(self._lines, 1):
            if isinstance(line, Flaw):
                yield line
            elif line and not line.isspace():
                yield _row(decode, number, line)


def _row(decode: Any, number: int, line: str) -> Row:
    try:
        found = decode(line)
    except (ValueError, RecursionError):
        return Flaw(number, NOT_JSON)
    return Record(number, found) if isinstance(found, dict) else Flaw(number, NOT_OBJECT)
