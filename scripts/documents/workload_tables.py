"""The log formats, the columns of a stored workload and the bins of lengths, from the program."""

from typing import Final

from vramledger.workload.formats.format import Clock, Framing, LogFormat
from vramledger.workload.formats.registry import formats
from vramledger.workload.profile.bins import EDGES
from vramledger.workload.schema import COLUMNS

_CLOCKS: Final = {
    Clock.EPOCH: "date and time",
    Clock.RELATIVE: "from a zero of its own",
    Clock.NONE: "no times",
}
_FILES: Final = {
    Framing.CSV: "CSV",
    Framing.CSV_BARE: "CSV",
    Framing.JSONL: "JSONL",
    Framing.JSON: "JSON",
    Framing.TEXT: "text",
    Framing.PARQUET: "Parquet",
}
_FIRST_EDGES: Final = 24


def log_formats() -> str:
    """Every format with what it lacks, in the order of recognition."""
    head = "| `--format` | what it is | files | times | what it does not tell |"
    rows = [_format_row(each) for each in formats()]
    return "\n".join([f"{len(rows)} formats.", "", head, "|---|---|---|---|---|", *rows])


def _format_row(each: LogFormat) -> str:
    title = f"[{each.title}]({each.source})" if "://" in each.source else each.title
    files = ", ".join(dict.fromkeys(_FILES[framing] for framing in each.framings))
    lacks = " ".join(each.lacks).replace("|", r"\|")
    return f"| `{each.name}` | {title} | {files} | {_CLOCKS[each.clock]} | {lacks} |"


def columns() -> str:
    """Every column of a stored workload."""
    rows = [f"| `{name}` | `{kind}` | {meaning} |" for name, (kind, meaning) in COLUMNS.items()]
    return "\n".join(["| column | type | meaning |", "|---|---|---|", *rows])


def first_edges() -> str:
    """The first edges of the length bins."""
    return ", ".join(f"{edge:,}" for edge in EDGES[:_FIRST_EDGES]) + " ..."
