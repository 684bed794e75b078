"""The loss report of an import, as text and as JSON."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from vramledger.report.number import duration
from vramledger.workload.importer import Imported
from vramledger.workload.loss import ClockReport, LossReport, Place

SCHEMA: Final = "vramledger.import/1"


def to_json(found: Imported) -> dict[str, Any]:
    """The loss report and what was stored; it names no file and quotes no log."""
    metadata = None if found.stored is None else found.stored.metadata
    return {
        "schema": SCHEMA,
        **found.report.to_json(),
        "basis": {} if metadata is None else dict(metadata.basis),
        "block_tokens": None if metadata is None else metadata.block_tokens,
        "time_zone": None if metadata is None else metadata.time_zone,
        "history": [] if metadata is None else list(metadata.history),
        "warnings": list(found.warnings),
    }


def to_text(found: Imported, output: Path) -> str:
    """The loss report for a person."""
    report = found.report
    lines = [_first(report), *_dropped(report), *_files(report), *_clock(report.clock)]
    lines += [f"Inferred: {_once(sentence, 'inferred')}" for sentence in report.inferred]
    lines += [f"Assumed: {_once(sentence, 'assumed')}" for sentence in report.assumed]
    lines += [f"Not in the log: {sentence}" for sentence in report.lacks]
    if found.stored is None:
        lines.append("Nothing was written: no request could be read.")
    else:
        of = f" of {_count(report.rows_kept, 'row')}" if report.requests != report.rows_kept else ""
        lines.append(
            f"Wrote {output}: {_count(report.requests, 'request')}{of}, "
            + ("with what --keep asked for." if found.warnings else "without identities.")
        )
    return "\n".join(lines)


def _once(sentence: str, basis: str) -> str:
    """The sentence without the basis that the line begins with."""
    return sentence.replace(f" ({basis}).", ".")


def _first(report: LossReport) -> str:
    formats = ", ".join(
        f"{name} ({_count(count, 'file')})" for name, count in report.formats.items()
    )
    dropped = report.rows_read - report.rows_kept
    return (
        f"{_count(report.rows_read, 'row')} read, {report.rows_kept:,} kept, {dropped:,} dropped"
        f"{'; ' + formats if formats else ''}."
    )


def _dropped(report: LossReport) -> Iterator[str]:
    for reason, count in report.dropped.items():
        named = report.dropped_at.get(reason, ())
        where = ", ".join(dict.fromkeys(_place(each, report) for each in named))
        more = ", ..." if count > len(named) else ""
        yield f"  dropped {count:,}: {reason} ({where}{more})"
    for reason, count in report.requests_dropped.items():
        yield f"  left out {_count(count, 'request')} of rows that were kept: {reason}"


def _place(place: Place, report: LossReport) -> str:
    return f"line {place.line:,}" if report.files == 1 else f"file {place.file} line {place.line:,}"


def _files(report: LossReport) -> Iterator[str]:
    for each in report.broken:
        name = "The file" if report.files == 1 else f"File {each.file}"
        yield f"{name} broke off after line {each.line:,} ({each.how}); what came before was kept."
    if report.files_unread:
        yield f"{_count(report.files_unread, 'file')} of {report.files} could not be read."
    if report.identical_rows:
        yield (
            f"Rows that repeat one before: {report.identical_rows:,}, kept, since no id says that they "
            "are one request."
        )
    if report.retries_unmatched:
        yield f"Attempts that were retried and are not in the log: {report.retries_unmatched:,}."


def _clock(clock: ClockReport) -> Iterator[str]:
    if clock.out_of_order:
        yield (
            f"{_count(clock.out_of_order, 'row')} came out of order, the furthest by "
            f"{duration(clock.largest_step_back_s)}; they were put in order."
        )
    if clock.largest_gap_s:
        yield f"The longest time without an arrival is {duration(clock.largest_gap_s)}."
    if clock.gaps_over_a_day:
        yield (
            f"Times without an arrival for more than a day: {clock.gaps_over_a_day:,}; the clock jumped, "
            "or nothing was logged."
        )
    if clock.quantum_s is not None:
        done = (
            "the requests of an instant were spread over the step."
            if clock.spread
            else "replayed so they make bursts that never were; --spread spreads them over the step."
        )
        yield (
            f"Times come in steps of {clock.quantum_s:.3g} s ({clock.instants:,} instants): {done}"
        )


def _count(count: int, one: str) -> str:
    return f"{count:,} {one}{'' if count == 1 else 's'}"
