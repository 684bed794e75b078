"""The rows of one file become requests; every row that does not is counted with the reason."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.workload.collect import Collector
from vramledger.workload.formats.format import Context, Parser, Record
from vramledger.workload.framing.frame import OpenFile, framed
from vramledger.workload.framing.framed import Flaw
from vramledger.workload.loss import Broken, Tally
from vramledger.workload.raw import RawRequest, RowProblem
from vramledger.workload.recognise import Recognised

_EVERY: Final = 1024  # rows between two reports of progress
_NAMES: Final = 5  # of columns, in a message
_LONGEST_NAME: Final = 60
_ODD: Final = (TypeError, AttributeError, ValueError, LookupError, ArithmeticError, RecursionError)


@frozen
class Sink:
    """Where the requests go and the rows are counted; `progress` gets bytes read of the file."""

    collector: Collector
    tally: Tally
    progress: Callable[[int], None]


def read_file(path: Path, found: Recognised, context: Context, sink: Sink) -> None:
    """Read a whole file, whose format is known and whose collector has begun.

    Raises:
        BadInput: it cannot be read, or its header names a column twice.
    """
    _refuse_ambiguous(path, found.head.columns)
    parser = found.format.parser(context)
    with framed(path, found.head.framing) as file:
        _read_rows(file, found, parser, sink)
        _finish(parser, sink)
        broke = file.broke()
        if broke:
            sink.tally.broken.append(Broken(sink.tally.file, file.rows.line, broke))


def _read_rows(file: OpenFile, found: Recognised, parser: Parser, sink: Sink) -> None:
    tally, rows_of = sink.tally, found.format.rows_of
    for count, row in enumerate(file.rows):
        if count % _EVERY == 0:
            sink.progress(file.position())
        if isinstance(row, Flaw):
            tally.rows_read += 1
            tally.drop(row.reason, row.line)
        elif found.format.rows is None:
            _read(row, parser, sink)
        else:
            _read_all(row, rows_of, parser, sink)


def _read_all(
    record: Record, rows_of: Callable[[Record], Iterable[Record]], parser: Parser, sink: Sink
) -> None:
    """Read the rows that one record holds."""
    reasons: list[str] = []
    for row in _rows(record, rows_of, reasons):
        _read(row, parser, sink)
    for reason in reasons:
        sink.tally.rows_read += 1
        sink.tally.drop(reason, record.line)


def _rows(
    record: Record, rows_of: Callable[[Record], Iterable[Record]], reasons: list[str]
) -> Iterator[Record]:
    """As `_parsed`, of the rows that one record holds."""
    try:
        yield from rows_of(record)
    except (RowProblem, *_ODD) as problem:
        reasons.append(_reason(problem))


def _read(record: Record, parser: Parser, sink: Sink) -> None:
    """Store the requests of a row; where none is stored for some reason, the row is dropped."""
    sink.tally.rows_read += 1
    stored = 0
    reasons: list[str] = []
    for request in _parsed(record, parser, reasons):
        reason = sink.collector.add(request)
        if reason:
            reasons.append(reason)
        else:
            stored += 1
    if reasons:
        _leave_out(reasons, record.line, sink.tally, kept=stored > 0)


def _parsed(record: Record, parser: Parser, reasons: list[str]) -> Iterator[RawRequest]:
    """The requests of a row, until a reason why there is no further one is added to `reasons`.

    What goes wrong with a request that is whole is nobody's odd field, and is not caught.
    """
    try:
        yield from parser.parse(record)
    except (RowProblem, *_ODD) as problem:
        reasons.append(_reason(problem))


def _leave_out(reasons: list[str], line: int, tally: Tally, *, kept: bool) -> None:
    if not kept:
        tally.drop(reasons[0], line)
        return
    for reason in reasons:
        tally.drop_request(reason)


def _finish(parser: Parser, sink: Sink) -> None:
    """Take the requests that no row completed."""
    for request in parser.finish():
        reason = sink.collector.add(request)
        if reason:
            sink.tally.drop_request(reason)


def _reason(problem: Exception) -> str:
    """What is counted: a parser's own phrase, or one for fields of a form that it did not expect."""
    if isinstance(problem, RowProblem):
        return problem.reason
    return "a field is missing" if isinstance(problem, KeyError) else "a field has another form"


def _refuse_ambiguous(path: Path, columns: tuple[str, ...]) -> None:
    twice = sorted(name for name, times in Counter(columns).items() if times > 1)
    if twice:
        shown = ", ".join(repr(name[:_LONGEST_NAME]) for name in twice[:_NAMES])
        more = f" and {len(twice) - _NAMES:,} more" if len(twice) > _NAMES else ""
        raise BadInput(
            f"{path} line 1: the header names {shown}{more} twice, so it is not known which "
            "column counts; rename or remove one of them."
        )
