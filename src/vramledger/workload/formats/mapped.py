"""Any table whose columns a person names: --map arrival=ts,input=prompt_tokens,output=completion_tokens.

The columns may be paths into JSON objects ("usage.prompt_tokens", "choices.0.finish_reason"); a CSV
file without a header has columns "0", "1", and so on. Times take a unit as suffix: `duration_ms`,
`arrival_us`; without one, durations are seconds and arrivals whatever `moment_ns` reads.
"""

import json
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

from vramledger.errors import BadInput, UnknownName
from vramledger.frozen import frozen
from vramledger.record.outcome import Outcome, of_status
from vramledger.workload.fields import (
    MILLISECOND,
    SECOND,
    nanoseconds,
    optional_duration_ns,
    optional_whole_number,
    whole_number,
)
from vramledger.workload.formats.format import (
    Clock,
    Context,
    Framing,
    Head,
    LogFormat,
    Record,
    row_by_row,
)
from vramledger.workload.raw import RawRequest, RowProblem
from vramledger.workload.timestamps import moment_ns

Read: TypeAlias = Callable[[Any, str, Context], Any]

_UNITS: Final = {"_s": SECOND, "_ms": MILLISECOND, "_us": 1000, "_ns": 1}
_SINCE_1970_NS: Final = 10**17  # 1973: a time beyond it counts from the epoch
_WORDS: Final = {
    "ok": Outcome.OK, "success": Outcome.OK, "succeeded": Outcome.OK, "completed": Outcome.OK,
    "true": Outcome.OK, "stop": Outcome.OK, "length": Outcome.OK, "tool_calls": Outcome.OK,
    "failed": Outcome.FAILED, "failure": Outcome.FAILED, "error": Outcome.FAILED,
    "false": Outcome.FAILED, "rejected": Outcome.REJECTED, "rate_limited": Outcome.REJECTED,
    "cancelled": Outcome.CANCELLED, "canceled": Outcome.CANCELLED, "aborted": Outcome.CANCELLED,
    "abort": Outcome.CANCELLED, "timed_out": Outcome.TIMED_OUT, "timeout": Outcome.TIMED_OUT,
    "incomplete": Outcome.INCOMPLETE,
}  # fmt: skip


def _count(value: Any, name: str, _: Context) -> int | None:
    return optional_whole_number(value, name)


def _required(value: Any, name: str, _: Context) -> int:
    return whole_number(value, name)


def _text(value: Any, _name: str, _: Context) -> str | None:
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return None if value is None or value == "" else str(value)


def _duration(value: Any, name: str, _: Context, unit_ns: int) -> int | None:
    return optional_duration_ns(value, name, unit_ns)


def _arrival(value: Any, name: str, _: Context, unit_ns: int) -> int:
    return nanoseconds(value, name, unit_ns)


def _outcome(value: Any, _name: str, context: Context) -> Outcome:
    text = "" if value is None else str(value).strip()
    found = outcome_of(text)
    if found is Outcome.UNKNOWN and text:
        context.infer("Outcomes in words that are not known are taken as unknown (inferred).")
    return found


def outcome_of(text: str) -> Outcome:
    """The outcome that an HTTP status or a usual word tells; UNKNOWN where neither does."""
    if re.fullmatch(r"[0-9]{3}", text):
        return of_status(int(text))
    return _WORDS.get(text.strip().casefold(), Outcome.UNKNOWN)


def _ids(value: Any, name: str, _: Context) -> Sequence[Hashable] | None:
    """A list, or text that holds one: "[1, 2]" or "1 2" or "1;2"."""
    if isinstance(value, str):
        value = re.findall(r"[^\s,;|\[\]\"']+", value)
    if value is None:
        return None
    if not isinstance(value, list):
        raise RowProblem(f"{name} is not a list")
    return [str(each) for each in value]


@frozen
class Field:
    """A field that --map can fill: which part of a request, and how its value is read."""

    attribute: str
    read: Read


FIELDS: Final[Mapping[str, Field]] = {
    "arrival": Field("arrival_ns", moment_ns),
    "input": Field("input_tokens", _required),
    "output": Field("output_tokens", _required),
    "thinking": Field("thinking_tokens", _count),
    "cached": Field("cached_tokens", _count),
    "max_output": Field("max_output_tokens", _count),
    "input_text": Field("input_text", _text),
    "output_text": Field("output_text", _text),
    "outcome": Field("outcome", _outcome),
    "session": Field("session", _text),
    "turn": Field("turn", _count),
    "tenant": Field("tenant", _text),
    "model": Field("model", _text),
    "request_id": Field("request_id", _text),
    "retry_of": Field("retry_of", _text),
    "prefix": Field("prefix_ids", _ids),
    "images": Field("images", _count),
    **{f"arrival{suffix}": Field("arrival_ns", partial(_arrival, unit_ns=unit))
       for suffix, unit in _UNITS.items()},
    **{f"{name}{suffix}": Field(f"{name}_ns", partial(_duration, unit_ns=unit))
       for name in ("duration", "first_token", "cancel_after", "think", "audio")
       for suffix, unit in {"": SECOND, **_UNITS}.items()},
}  # fmt: skip


@frozen
class _Column:
    """Where one field's value stands in a record."""

    field: str
    path: tuple[str, ...]
    name: str

    def value(self, record: Mapping[str, Any]) -> Any:
        """None where the record does not hold it."""
        if self.name in record:
            return record[self.name]
        found: Any = record
        for step in self.path:
            if isinstance(found, Mapping):
                found = found.get(step)
            elif isinstance(found, list) and step.isdecimal() and int(step) < len(found):
                found = found[int(step)]
            else:
                return None
        return found


def read_mapping(given: Sequence[str]) -> Mapping[str, str]:
    """The values of --map, each FIELD=COLUMN or several with commas between.

    Raises:
        UnknownName: no such field.
        BadInput: not of that form, or a field that is given twice.
    """
    found: dict[str, str] = {}
    for pair in (part for each in given for part in each.split(",")):
        name, equals, column = (each.strip() for each in pair.partition("="))
        if not equals or not column:
            raise BadInput(
                f"--map has {pair.strip()!r} where FIELD=COLUMN should stand; write it as "
                "arrival=ts,input=prompt_tokens,output=completion_tokens."
            )
        if name not in FIELDS:
            swapped = f"Write FIELD=COLUMN: {column}={name}." if column in FIELDS else ""
            known = f"It maps {', '.join(MAPPED)}; times take a unit (arrival_ms)."
            raise UnknownName("field", name, FIELDS, "--map", swapped or known)
        if FIELDS[name].attribute in {FIELDS[other].attribute for other in found}:
            raise BadInput(f"--map gives {name} twice; one column fills a field.")
        found[name] = column
    return found


MAPPED: Final = tuple(
    name for name in FIELDS if not name.endswith(tuple(_UNITS))
)  # without the units


def mapped_format(mapping: Mapping[str, str], block_tokens: int) -> LogFormat:
    """The format that a mapping makes; `block_tokens` are those of an id of `prefix`."""
    bare = all(column.isdecimal() for column in mapping.values())
    framings = (Framing.CSV, Framing.JSONL, Framing.JSON, Framing.PARQUET)
    return LogFormat(
        name="mapped",
        title="a table read with --map",
        framings=(Framing.CSV_BARE,) if bare else framings,
        clock=Clock.EPOCH,
        recognise=lambda head: bool(head.records),
        parser=row_by_row(_reader(mapping)),
        block_tokens=block_tokens if "prefix" in mapping else None,
        clock_in=partial(_clock, _columns(mapping)),
    )


def check_columns(mapping: Mapping[str, str], head: Head, where: str) -> None:
    """Refuse columns that a file does not have.

    In JSON a field may be absent from the first records, so that only arrival, input and output must
    stand in one of them.

    Raises:
        UnknownName: with the nearest that it has.
    """
    table = bool(head.columns) and head.framing in (Framing.CSV, Framing.PARQUET)
    known = [*head.columns] if table else [*dict.fromkeys(_paths(head.records))]
    for column in _columns(mapping):
        needed = table or column.field.partition("_")[0] in ("arrival", "input", "output")
        held = any(column.value(record) is not None for record in head.records)
        if needed and not held and column.name not in known:
            raise UnknownName(
                "column", column.name, known, where, f"--map {column.field}= names it."
            )


def _columns(mapping: Mapping[str, str]) -> tuple[_Column, ...]:
    return tuple(
        _Column(name, tuple(column.split(".")), column) for name, column in mapping.items()
    )


def _reader(mapping: Mapping[str, str]) -> Callable[[Record, Context], RawRequest]:
    columns = [(column, FIELDS[column.field]) for column in _columns(mapping)]

    def row(record: Record, context: Context) -> RawRequest:
        found = {
            field.attribute: field.read(column.value(record.values), column.field, context)
            for column, field in columns
        }
        return RawRequest(line=record.line, **found)

    return row


def _clock(columns: Sequence[_Column], head: Head) -> Clock:
    """Numbers too small to count from 1970 count from a zero of the log's own."""
    arrival = next((each for each in columns if each.field.startswith("arrival")), None)
    if arrival is None:
        return Clock.NONE
    context = Context(head)
    for record in head.records:
        try:
            found = FIELDS[arrival.field].read(arrival.value(record), arrival.field, context)
        except RowProblem:
            continue
        return Clock.EPOCH if found >= _SINCE_1970_NS else Clock.RELATIVE
    return Clock.EPOCH


def _paths(records: Sequence[Mapping[str, Any]], before: str = "") -> list[str]:
    """The paths to all values of these records, each as --map takes it."""
    found: list[str] = []
    for record in records:
        for name, value in record.items():
            nested = isinstance(value, Mapping)
            found += _paths((value,), f"{before}{name}.") if nested else [f"{before}{name}"]
    return found
