"""A foreign table with the columns, types and units of a stored workload, as expressions over it."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from vramledger.errors import BadInput, UnknownName
from vramledger.frozen import frozen
from vramledger.workload.formats.mapped import FIELDS
from vramledger.workload.loss import LossReport
from vramledger.workload.metadata import Metadata
from vramledger.workload.placing import week_offset_s
from vramledger.workload.schema import COLUMNS
from vramledger.workload.table_flaws import Flaw, first_flaw, flaws, timed, whole
from vramledger.workload.tables import Fetch, Requests

_PER_S: Final = {"": 1, "s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_EPOCH: Final = ((1e17, "ns"), (1e14, "us"), (1e11, "ms"))  # how large numbers since 1970 are
_SINCE_1970_S: Final = 10**8  # 1973: a time beyond it counts from the epoch
_TIMES: Final = ("arrival", "duration", "first_token", "cancel_after", "think", "audio")
_BY_ATTRIBUTE: Final = {"prefix_ids": "prefix_blocks"} | {
    f"{name}_ns": f"{name}_s" for name in _TIMES
}
_FLAW: Final = "flaw"  # the number of a row's flaw, beside its columns
_ANY_TYPE: Final = ("session", "tenant", "retry_of")  # only told apart and counted


@frozen
class _Source:
    """A column of the foreign table, and what it becomes."""

    target: str
    column: str
    unit: str  # of times, one of `_PER_S`; "" where nobody says


def canonical(
    table: Any, mapping: Mapping[str, str], block_tokens: int | None, fetch: Fetch
) -> Requests:
    """The table as requests; one small question finds what it holds and where its clock starts.

    Rows with numbers that no request has are left out and counted in the loss report.

    Raises:
        UnknownName: a column that the table does not have.
        BadInput: a field that a table cannot give, a column of the wrong kind, or no row to count.
    """
    sources = _sources(table, mapping)
    columns = {each.target: _typed(table[each.column], each) for each in sources}
    seen = [flaw for each in sources for flaw in _flaws(table[each.column], each)]
    marked = table.select(**columns, **{_FLAW: first_flaw(seen)})
    found = dict(fetch(_question(marked, len(seen))).to_pylist()[0])
    loss = _loss(found, seen)
    typed = (marked.filter(marked[_FLAW] == 0) if loss else marked).drop(_FLAW)
    held = frozenset(each.target for each in sources if found[f"n_{each.target}"])
    metadata = Metadata(block_tokens=block_tokens, loss=loss)
    if "arrival_s" in held:
        arrival = next(each for each in sources if each.target == "arrival_s")
        typed, metadata = _on_clock(typed, table[arrival.column], arrival, found, metadata)
    kept = [name for name in COLUMNS if name in held]
    return Requests(typed.select(*kept), held, metadata, fetch)


def _sources(table: Any, mapping: Mapping[str, str]) -> tuple[_Source, ...]:
    if not mapping:
        found = tuple(_Source(name, name, "s") for name in COLUMNS if name in table.columns)
        if not {"input_tokens", "output_tokens", "arrival_s"} & {each.target for each in found}:
            raise BadInput(
                "The table has no column of a stored workload (arrival_s, input_tokens, "
                "output_tokens, ...); name its own with --map arrival=COLUMN,input=COLUMN,"
                "output=COLUMN."
            )
        return found
    for column in mapping.values():
        if column not in table.columns:
            raise UnknownName("column", column, table.columns, "the table")
    return tuple(_mapped(field, column) for field, column in mapping.items())


def _mapped(field: str, column: str) -> _Source:
    attribute = FIELDS[field].attribute
    target = _BY_ATTRIBUTE.get(attribute, attribute)
    if target not in COLUMNS:
        raise BadInput(
            f"--map {field} cannot be counted where the table lies; import an export of it with "
            "`vram workload import`."
        )
    unit = field.rpartition("_")[2] if field.partition("_")[0] != field else ""
    return _Source(target, column, unit if unit in _PER_S else "")


def _typed(column: Any, source: _Source) -> Any:
    """The column in the type of `schema.COLUMNS`; times in their own unit still.

    Raises:
        BadInput: it is of another kind.
    """
    kind, of = COLUMNS[source.target][0], column.type()
    if source.target in _ANY_TYPE:
        return column
    if source.target == "arrival_s" and of.is_timestamp():
        return _microseconds(column)
    if kind == "string":
        return column.cast("string")
    if kind == "list<int32>":
        _need(of.is_array() and of.value_type.is_integer(), source, "a list of whole numbers")
        return column
    _need(of.is_numeric(), source, "a time or numbers" if kind == "float64" else "whole numbers")
    if kind == "float64":
        return _in_seconds(timed(column, source.target), source)
    return column if of.is_integer() else whole(column)


def _flaws(column: Any, source: _Source) -> Sequence[Flaw]:
    """What can be wrong with its values; nothing with those that are only told apart and counted."""
    if source.target in _ANY_TYPE or not column.type().is_numeric():
        return ()
    return () if COLUMNS[source.target][0] == "string" else flaws(column, source.target)


def _in_seconds(column: Any, source: _Source) -> Any:
    """Times of a stated unit in seconds; arrivals keep theirs until their zero is known."""
    import ibis

    if source.target == "arrival_s" or _PER_S[source.unit] == 1:
        return column
    return column / ibis.literal(float(_PER_S[source.unit]), "float64")


def _need(holds: bool, source: _Source, kind: str) -> None:  # noqa: FBT001 - the condition
    if not holds:
        raise BadInput(
            f"The column {source.column!r} of the table must hold {kind} to be used as "
            f"{source.target}; give a view that converts it."
        )


def _microseconds(moment: Any) -> Any:
    """Whole microseconds since 1970, exactly."""
    seconds = moment.truncate("s").epoch_seconds().cast("int64")
    return seconds * 10**6 + moment.microsecond().cast("int64")


def _question(marked: Any, flaws: int) -> Any:
    """One row: how many rows there are, have each flaw and know each column; first and last arrival."""
    sound = marked[_FLAW] == 0
    asked = {"rows": marked.count()}
    asked |= {
        f"flaw_{number}": marked.count(where=marked[_FLAW] == number + 1) for number in range(flaws)
    }
    asked |= {
        f"n_{name}": marked[name].count(where=sound) for name in marked.columns if name != _FLAW
    }
    if "arrival_s" in marked.columns:
        asked["least_arrival_s"] = marked.arrival_s.min(where=sound)
        asked["most_arrival_s"] = marked.arrival_s.max(where=sound)
    return marked.aggregate(**asked)


def _loss(found: Mapping[str, Any], seen: Sequence[Flaw]) -> Mapping[str, Any]:
    """The loss report of a table; empty where every row is kept.

    Raises:
        BadInput: none is.
    """
    counts = {flaw.reason: found[f"flaw_{number}"] for number, flaw in enumerate(seen)}
    dropped = {reason: count for reason, count in counts.items() if count}
    if not dropped:
        return {}
    rows, kept = found["rows"], found["rows"] - sum(dropped.values())
    if not kept:
        said = ", ".join(f"{reason} in {count:,}" for reason, count in dropped.items())
        raise BadInput(f"No row of the table is a request ({said}); map other columns.")
    return LossReport(rows_read=rows, rows_kept=kept, requests=kept, dropped=dropped).to_json()


def _on_clock(
    typed: Any, column: Any, arrival: _Source, found: Mapping[str, Any], metadata: Metadata
) -> tuple[Any, Metadata]:
    """Times as seconds, arrivals since the first; and where in the week the first one is."""
    from dataclasses import replace

    import ibis

    first, stamps = found["least_arrival_s"], column.type().is_timestamp()
    unit = "us" if stamps else arrival.unit or _unit_of(found["most_arrival_s"])
    per_s = _PER_S[unit]
    since = typed.arrival_s - ibis.literal(first, "int64" if stamps else "float64")
    typed = typed.mutate(arrival_s=since.cast("float64") / ibis.literal(float(per_s), "float64"))
    first_ns = int(first) * 10**9 // per_s
    if first_ns >= _SINCE_1970_S * 10**9:
        offset = week_offset_s(first_ns, None)
        metadata = replace(metadata, week_offset_s=offset, time_zone="+00:00 (assumed)")
    return typed, metadata


def _unit_of(most: float) -> str:
    """The unit of numbers since 1970, by how large they are; seconds below."""
    return next((unit for least, unit in _EPOCH if most >= least), "s")
