"""What an operator did, in the figures its report gives."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.workload.operators.columns import column, narrow
from vramledger.workload.store import Stored

Progress: TypeAlias = Callable[[int, int], None]  # rows written, and about how many there will be


def silent(_rows: int, _all: int) -> None:
    """No progress is shown."""


def towards(rows: int, progress: Progress) -> Callable[[int], None]:
    """What takes the rows written on the way to so many."""
    return lambda written: progress(written, rows)


@frozen
class Figures:
    """The size of a workload. `span_s` is None where it has no times."""

    requests: int
    span_s: float | None
    input_tokens: int
    output_tokens: int


@frozen
class Change:
    """A workload made of others."""

    operator: str
    before: tuple[Figures, ...]  # one for each workload it was made of
    after: Figures
    notes: tuple[str, ...]  # finished sentences: what was lost, cut or assumed
    stored: Stored


def figures(path: Path) -> Figures:
    """Requests, span and tokens of a stored workload, in one pass over three columns."""
    rows = inputs = outputs = 0
    last: float | None = None
    for batch in narrow(path, ("arrival_s", "input_tokens", "output_tokens")):
        rows += len(batch)
        arrival = column(batch, "arrival_s")
        if not arrival.absent.all():
            last = float(arrival.values[~arrival.absent].max())
        inputs += int(column(batch, "input_tokens").values.sum())
        outputs += int(column(batch, "output_tokens").values.sum())
    return Figures(rows, last, inputs, outputs)


def change(
    operator: str, before: tuple[Figures, ...], stored: Stored, notes: Iterable[str]
) -> Change:
    """The record of an operator that has written `stored`."""
    return Change(operator, before, figures(stored.path), tuple(notes), stored)


def refuse_empty(kept: int, what: str) -> None:
    """Refuse to write a workload without requests.

    Raises:
        BadInput: nothing was kept; `what` says of what, and what to do.
    """
    if not kept:
        raise BadInput(f"{what} Nothing was written.")
