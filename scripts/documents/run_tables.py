"""The tables of a run, the keys of its description and its latencies, from the program."""

from functools import partial
from typing import Final

from pydantic import BaseModel

from vramledger.methods.sweep.columns import RESULTS
from vramledger.record.document import Description, Part
from vramledger.record.latency import ITL_FORMULA, LATENCIES
from vramledger.record.requests import REQUESTS
from vramledger.record.samples import GPU, SERVER, STAGES, STEPS
from vramledger.record.table import Table

_ITL_MEANING: Final = (
    "time between two output events, one value a gap; a chunk may hold several tokens"
)


def columns(table: Table) -> str:
    """Every column of a table."""
    rows = [
        f"| `{name}` | `{each.kind}` | {each.unit} | {each.meaning} | {each.null or 'never'} |"
        for name, each in table.columns.items()
    ]
    return "\n".join(["| column | type | unit | meaning | null |", "|---|---|---|---|---|", *rows])


requests = partial(columns, REQUESTS)
server = partial(columns, SERVER)
gpu = partial(columns, GPU)
steps = partial(columns, STEPS)
stages = partial(columns, STAGES)
sweep = partial(columns, RESULTS)


def latencies() -> str:
    """Every latency with its formula."""
    rows = [(each.name, each.formula, f"{each.title}, one value a request") for each in LATENCIES]
    rows.insert(3, ("itl_s", ITL_FORMULA, _ITL_MEANING))
    lines = [f"| `{name}` | `{formula}` | {meaning} |" for name, formula, meaning in rows]
    return "\n".join(["| figure | formula | what it is |", "|---|---|---|", *lines])


def keys() -> str:
    """Every key of run.json, parts of parts after their whole."""
    return "\n".join(["| key | meaning |", "|---|---|", *_rows(Description, "")])


def _rows(part: type[BaseModel], prefix: str) -> list[str]:
    rows = []
    for name, field in part.model_fields.items():
        path = f"{prefix}{field.alias or name}"
        rows.append(f"| `{path}` | {field.description} |")
        inner = _part_of(field.annotation)
        if inner is not None:
            rows += _rows(inner, f"{path}.*." if name == "tables" else f"{path}.")
    return rows


def _part_of(annotation: object) -> type[Part] | None:
    """The part that a type is or holds: Part, Part | None, dict[str, Part]."""
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        found = _part_of(argument)
        if found is not None:
            return found
    return None
