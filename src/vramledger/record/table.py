"""What a table of a run is: a Parquet file with columns of fixed names, types, units and nulls."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from vramledger.frozen import frozen

if TYPE_CHECKING:
    import pyarrow as pa

METADATA_KEY: Final = b"vramledger"  # of each Parquet file: one JSON object with schema and origin


@frozen
class Column:
    """One column: an Arrow type's name, its unit, its meaning, and what null means.

    An empty `null` promises that the column has none.
    """

    kind: str
    unit: str
    meaning: str
    null: str = ""


@frozen
class Table:
    """One table of a run's directory. Rows lie by the columns of `order`, nulls last."""

    name: str
    title: str
    columns: Mapping[str, Column]
    order: tuple[str, ...]

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def file(self) -> str:
        """Its file in the directory."""
        return f"{self.name}.parquet"

    @property
    def schema_name(self) -> str:
        """The schema that its file's metadata name."""
        return f"vramledger.{self.name}/1"


@cache
def arrow_schema(table: Table) -> "pa.Schema":
    """The columns of a table as an Arrow schema."""
    import pyarrow as pa

    kinds = {
        "int64": pa.int64(),
        "int32": pa.int32(),
        "float64": pa.float64(),
        "string": pa.string(),
        "bool": pa.bool_(),
        "list<int64>": pa.list_(pa.int64()),
        "list<int32>": pa.list_(pa.int32()),
    }
    return pa.schema(
        [
            pa.field(name, kinds[column.kind], bool(column.null))
            for name, column in table.columns.items()
        ]
    )
