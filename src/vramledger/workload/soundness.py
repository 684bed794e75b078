"""Whether a stored workload can be one: the types of its columns, and the bounds of their numbers.

The bounds are looked up in the statistics of the file's footer, which every writer of workloads fills in, so
that the check costs nothing. What statistics cannot tell (a NaN among numbers, a damaged page) is
told by whoever reads the rows.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from vramledger.errors import BadInput
from vramledger.workload.schema import COLUMNS, arrow_schema

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_MOST_S: Final = 10**10  # some 300 years: more than the nanoseconds of 64 bits hold
_FROM: Final[Mapping[str, int]] = {"think_s": -_MOST_S}  # the least there may be; 0 of all others
_PER_ROW: Final = ("row", "session", "tenant", "retry_of")  # numbers below the number of rows


def check_stored(path: Path, file: "pq.ParquetFile") -> None:
    """Refuse a file whose columns or numbers are none of a workload.

    Raises:
        BadInput: a column is missing, there twice or of another type; or a number is beyond its bounds.
    """
    _check_columns(path, file.schema_arrow)
    bounds = _bounds(file.metadata)
    for name, least, most in _statistics(file.metadata):
        if name in bounds and not (bounds[name][0] <= least and most <= bounds[name][1]):
            raise BadInput(
                f"{path}: the column {name} holds numbers that no workload has; import the logs again."
            )


def _check_columns(path: Path, schema: Any) -> None:
    missing = [name for name in COLUMNS if name not in schema.names]
    if missing:
        raise BadInput(
            f"{path} is a workload without the columns {', '.join(missing)}; import the logs again."
        )
    for field in arrow_schema():
        places = schema.get_all_field_indices(field.name)
        found = schema.field(places[0])
        if len(places) > 1 or not _alike(found, field):
            said = "twice" if len(places) > 1 else f"as {found.type}"
            said += ", which may be null" if found.nullable and not field.nullable else ""
            raise BadInput(
                f"{path} has the column {field.name} {said}, and a workload has it once as "
                f"{field.type}; import the logs again."
            )


def _alike(found: Any, wanted: Any) -> bool:
    """Whether two fields hold the same, whatever the elements of a list are called."""
    import pyarrow as pa

    if found.nullable and not wanted.nullable:
        return False
    if pa.types.is_list(wanted.type):
        return bool(
            pa.types.is_list(found.type) and found.type.value_type == wanted.type.value_type
        )
    return bool(found.type == wanted.type)


def _bounds(footer: Any) -> Mapping[str, tuple[int, int]]:
    """The least and the most that each column of numbers may hold.

    Identities are numbered by first appearance, so that none reaches how many there are.
    """
    kinds = {"int32": (1 << 31) - 1, "float64": _MOST_S}
    found = {
        name: (_FROM.get(name, 0), kinds[kind])
        for name, (kind, _) in COLUMNS.items()
        if kind in kinds
    }
    blocks = sum(chunk.num_values for name, chunk in _chunks(footer) if name == "prefix_blocks")
    per_row = dict.fromkeys(_PER_ROW, (0, footer.num_rows - 1))
    return found | per_row | {"prefix_blocks": (0, blocks - 1)}


def _statistics(footer: Any) -> Iterator[tuple[str, Any, Any]]:
    """Column, least and most of every chunk that says so.

    Statistics leave NaN out: numbers of which none has a least are all NaN, and said to be.
    """
    for name, chunk in _chunks(footer):
        statistics = chunk.statistics
        if statistics is None:
            continue
        if statistics.has_min_max:
            yield name, statistics.min, statistics.max
        elif COLUMNS[name][0] == "float64" and statistics.null_count < chunk.num_values:
            yield name, float("nan"), float("nan")


def _chunks(footer: Any) -> Iterator[tuple[str, Any]]:
    names = [footer.schema.column(place).path.split(".")[0] for place in range(footer.num_columns)]
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        for place, name in enumerate(names):
            if name in COLUMNS:
                yield name, group.column(place)
