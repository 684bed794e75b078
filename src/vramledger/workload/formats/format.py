"""What a log format is: how its records are framed, how it is recognised, what a record means."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from vramledger.frozen import frozen
from vramledger.workload.raw import RawRequest


class Framing(StrEnum):
    """How a file is cut into records."""

    CSV = "csv"  # a header line, then rows: a record is {column: text}
    CSV_BARE = "csv without a header"  # a record is {"0": text, "1": text, ...}
    JSONL = "jsonl"  # one JSON object a line
    JSON = "json"  # an array of objects, or an object that holds it under a usual name ("data",
    # "resourceSpans"): a record is an element. Any other object at the top is a record itself
    TEXT = "text"  # a record is {"line": text}
    PARQUET = "parquet"  # a record is {column: value}


class Clock(StrEnum):
    """What `RawRequest.arrival_ns` counts from in a format."""

    EPOCH = "epoch"
    RELATIVE = "relative"  # a zero of the log's own
    NONE = "none"


@frozen
class Record:
    """One record of a log, with its line (or number, where lines mean nothing) from 1."""

    line: int
    values: Mapping[str, Any]


@frozen
class Head:
    """The beginning of a file, to recognise its format by. Whatever does not apply is empty."""

    framing: Framing
    columns: tuple[str, ...] = ()  # of the header line or the Parquet schema; of JSON that holds
    # its array under a name: that name
    records: tuple[Mapping[str, Any], ...] = ()  # the first few
    lines: tuple[str, ...] = ()  # the first few, as text

    def has(self, *names: str) -> bool:
        """Whether the columns, or one of the first records, hold all these names."""
        wanted = set(names)
        return wanted <= set(self.columns) or any(wanted <= each.keys() for each in self.records)


@frozen
class Context:
    """What a parser may need beside the records of one file."""

    head: Head
    mapping: Mapping[str, str] = field(default_factory=dict)  # field -> column, of --map
    time_zone_s: int | None = None  # of times without one, seconds east of UTC; None: assume UTC
    infer: Callable[[str], None] = lambda _sentence: None  # what was inferred, once a sentence
    assume: Callable[[str], None] = lambda _sentence: None  # a unit or a time zone, once a sentence


class Parser(Protocol):
    """Turns the records of one file, in order, into requests."""

    def parse(self, record: Record) -> Iterable[RawRequest]:
        """The requests this record completes; none where a later record completes it.

        Raises:
            RowProblem: the record is no request, or its fields cannot be read.
        """
        ...

    def finish(self) -> Iterable[RawRequest]:
        """The requests that no record completed."""
        ...


ParseRow: TypeAlias = Callable[[Record, Context], RawRequest]


class RowParser:
    """A parser of formats in which every record is one request."""

    def __init__(self, row: ParseRow, context: Context) -> None:
        self._row, self._context = row, context

    def parse(self, record: Record) -> Iterable[RawRequest]:
        return (self._row(record, self._context),)

    def finish(self) -> Iterable[RawRequest]:
        return ()


def row_by_row(row: ParseRow) -> Callable[[Context], Parser]:
    """The parser factory of a format in which every record is one request."""
    return lambda context: RowParser(row, context)


@frozen
class LogFormat:
    """One format of logs or traces."""

    name: str  # what --format takes: "azure-llm"
    title: str  # what people call it
    framings: tuple[Framing, ...]
    clock: Clock
    recognise: Callable[[Head], bool]
    parser: Callable[[Context], Parser]
    block_tokens: int | None = None  # of its prefix ids
    lacks: Sequence[str] = ()  # what it does not tell, one finished sentence each
    needs_all: bool = False  # requests come out of order: those of one file are joined at its end
    source: str = ""  # where the format is written down
    per_file: bool = False  # its session and prefix ids mean something within one file only
    # Where the file itself decides what the fields above say for other formats:
    clock_in: Callable[[Head], Clock] | None = None
    block_tokens_in: Callable[[Head], int | None] | None = None
    # Where one record of the file holds many rows: its rows, each numbered by the record's line.
    # Raises RowProblem where the record does not hold them. None: a record is a row.
    rows: Callable[[Record], Iterable[Record]] | None = None
    refusal: str = (
        ""  # of what is recognised and no log of requests: a finished sentence on the way
    )

    def clock_of(self, head: Head) -> Clock:
        """What times count from in the file that begins so."""
        return self.clock if self.clock_in is None else self.clock_in(head)

    def block_tokens_of(self, head: Head) -> int | None:
        """How many tokens a prefix id stands for in the file that begins so."""
        return self.block_tokens if self.block_tokens_in is None else self.block_tokens_in(head)

    def rows_of(self, record: Record) -> Iterable[Record]:
        """The rows that one record of the file holds.

        Raises:
            RowProblem: the record does not hold them.
        """
        return (record,) if self.rows is None else self.rows(record)
