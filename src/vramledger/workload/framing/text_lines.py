"""Every line that is not blank is a record {"line": text}."""

from collections.abc import Iterator

from vramledger.workload.formats.format import Record
from vramledger.workload.framing.framed import Flaw, Row
from vramledger.workload.framing.lines import Lines
from vramledger.workload.opener import LogStream


class TextLines:
    """The lines of a text log."""

    columns: tuple[str, ...] = ()

    def __init__(self, stream: LogStream) -> None:
        self._lines = Lines(stream)

    @property
    def line(self) -> int:
        return self._lines.number

    def __iter__(self) -> Iterator[Row]:
        for number, line in enumerate(self._lines, 1):
            if isinstance(line, Flaw):
                yield line
            elif line and not line.isspace():
                yield Record(number, {"line": line})
