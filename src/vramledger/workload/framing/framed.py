"""What a framing gives: records, and what was no record with the reason."""

from collections.abc import Iterator
from typing import Final, Protocol, TypeAlias

from vramledger.frozen import frozen
from vramledger.workload.formats.format import Record

MOST_BYTES: Final = 1 << 26  # of one record: a request with a document or an image in it fits
CUT_OFF: Final = "cut off where the file breaks off"
TOO_LONG: Final = "longer than 64 MiB"
NUL: Final = "a NUL byte in the row"
NOT_UTF8: Final = "not UTF-8 text"
NOT_JSON: Final = "not JSON"
NOT_OBJECT: Final = "not a JSON object"
WRONG_WIDTH: Final = "wrong number of columns"
REPEATED_HEADER: Final = "the header repeated"


@frozen
class Flaw:
    """A row that is no record; `reason` is a fixed phrase."""

    line: int
    reason: str


Row: TypeAlias = Record | Flaw


class Framed(Protocol):
    """The rows of one file, in order."""

    @property
    def columns(self) -> tuple[str, ...]:
        """As `Head.columns`; of JSON only once the first row was read."""
        ...

    @property
    def line(self) -> int:
        """The last line (or number of a record) that was read."""
        ...

    def __iter__(self) -> Iterator[Row]: ...
