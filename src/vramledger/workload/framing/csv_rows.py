"""Rows of comma-separated values, RFC 4180, with or without a header line.

The delimiter is the one of , ; tab | that the first line holds most often.
"""

import csv
from collections.abc import Iterator
from typing import Final

from vramledger.workload.formats.format import Record
from vramledger.workload.framing.framed import (
    MOST_BYTES,
    REPEATED_HEADER,
    WRONG_WIDTH,
    Flaw,
    Row,
)
from vramledger.workload.framing.lines import Lines
from vramledger.workload.opener import LogStream

_LINE_BYTES: Final = 64  # what a line weighs at least while it is held
_DELIMITERS: Final = (",", ";", "\t", "|")


class CsvRows:
    """The rows of a CSV file; blank lines are none.

    A quote that is opened and never closed would swallow the rows after it: where the row that it
    makes has the wrong number of columns or no end, the lines after its first are read again for themselves.
    """

    def __init__(self, stream: LogStream, *, bare: bool) -> None:
        csv.field_size_limit(MOST_BYTES)
        self._lines = Lines(stream)
        self._flaws: list[Flaw] = []
        first = self._first()
        self._delimiter = _delimiter(first)
        header = _split(first, self._delimiter)
        self._header = [] if bare else header
        if bare:
            self._lines.take_back([first] if first else [])
        self.columns = () if bare else tuple(name.strip() for name in header)
        self._names = tuple(map(str, range(len(header)))) if bare else self.columns

    @property
    def line(self) -> int:
        return self._lines.number

    def __iter__(self) -> Iterator[Row]:
        yield from self._flaws
        names, width, header, lines = self._names, len(self._names), self._header, self._lines
        delimiter = self._delimiter
        first = header[0] if header else None
        for line in lines:
            if isinstance(line, Flaw):
                yield line
                continue
            number = lines.number
            if '"' in line:
                fields = self._fields(line)
            elif not line or line.isspace():
                continue
            else:
                fields = line.split(delimiter)
            if len(fields) != width:
                yield Flaw(number, WRONG_WIDTH)
            elif fields[0] == first and fields == header:
                yield Flaw(number, REPEATED_HEADER)
            else:
                yield Record(number, dict(zip(names, fields, strict=True)))

    def _first(self) -> str:
        """The first line that holds something; "" where none does."""
        for line in self._lines:
            if isinstance(line, Flaw):
                self._flaws.append(line)
            elif line and not line.isspace():
                return line
        return ""

    def _fields(self, line: str) -> list[str]:
        """The fields of a row that may go on over further lines."""
        taken: list[str | Flaw] = []
        try:
            fields = next(csv.reader(self._with_next(line, taken), delimiter=self._delimiter), [])
        except csv.Error:
            fields = []
        if self._unclosed or len(fields) != len(self._names):
            self._lines.take_back(taken)
            return []
        return fields

    def _with_next(self, line: str, taken: list[str | Flaw]) -> Iterator[str]:
        self._unclosed = False
        yield line + "\n"
        size = len(line)
        for further in self._lines:
            taken.append(further)
            if isinstance(further, Flaw) or size > MOST_BYTES:
                break
            size += max(len(further), _LINE_BYTES)
            yield further + "\n"
        self._unclosed = True


def _split(line: str, delimiter: str) -> list[str]:
    """The fields of a row that is one line, quoted soundly or not."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return line.split(delimiter)


def _delimiter(line: str) -> str:
    plain = "".join(line.split('"')[::2])  # what stands outside of quotes
    return max(_DELIMITERS, key=plain.count)
