"""What an operator made of workloads, as a paragraph and as JSON."""

from collections.abc import Sequence
from typing import Any, Final

from vramledger.report.number import duration
from vramledger.report.table import table
from vramledger.workload.operators.change import Change, Figures

SCHEMA: Final = "vramledger.workload-operator/1"
_HEAD: Final = ("", "requests", "span", "input tokens", "output tokens")


def to_text(change: Change) -> str:
    """Sizes before and after, then what else is to be known."""
    names = ["before"] if len(change.before) == 1 else _numbered(change.before)
    rows = [_row(name, each) for name, each in zip(names, change.before, strict=True)]
    lines = table(_HEAD, [*rows, _row("after", change.after)], frozenset(range(1, len(_HEAD))))
    said = f"{change.operator} wrote {change.stored.path}."
    return "\n".join([*lines, "", " ".join([said, *change.notes])])


def to_json(change: Change) -> dict[str, Any]:
    """The same as one JSON object."""
    return {
        "schema": SCHEMA,
        "operator": change.operator,
        "before": [_figures(each) for each in change.before],
        "after": _figures(change.after),
        "notes": list(change.notes),
        "history": list(change.stored.metadata.history),
    }


def _numbered(before: Sequence[Figures]) -> list[str]:
    return [f"workload {place}" for place in range(1, len(before) + 1)]


def _row(name: str, figures: Figures) -> tuple[str, ...]:
    span = "no times" if figures.span_s is None else duration(figures.span_s)
    counts = (figures.input_tokens, figures.output_tokens)
    return (name, f"{figures.requests:,}", span, *(f"{count:,}" for count in counts))


def _figures(figures: Figures) -> dict[str, Any]:
    return {
        "requests": figures.requests,
        "span_s": figures.span_s,
        "input_tokens": figures.input_tokens,
        "output_tokens": figures.output_tokens,
    }
