"""A stretch of a workload: a scenario, a time, a model, a tenant."""

from pathlib import Path
from typing import TYPE_CHECKING

from vramledger.errors import BadInput, CannotKnow, UnknownName
from vramledger.frozen import frozen
from vramledger.workload.operators.change import (
    Change,
    Progress,
    change,
    figures,
    refuse_empty,
    silent,
    towards,
)
from vramledger.workload.operators.columns import Column, narrow, read
from vramledger.workload.operators.seconds_table import seconds_of
from vramledger.workload.operators.subset import batches, subset
from vramledger.workload.operators.tail import clustered
from vramledger.workload.operators.week import done, moved
from vramledger.workload.scenarios import DEFINITIONS, NotFound, Window, window
from vramledger.workload.store import Stored, read_metadata, write_workload

if TYPE_CHECKING:
    from vramledger.workload.operators.columns import Array


@frozen
class Selection:
    """What to keep; everything stated must hold.

    `model` and `tenant` come first: a scenario is that of the requests they leave.
    """

    scenario: str | None = None
    from_s: float | None = None  # arrivals from here on
    to_s: float | None = None  # and before here
    model: str | None = None
    tenant: int | None = None
    seed: int = 0  # of the tail's places


def slice_workload(
    path: Path, selection: Selection, out: Path, progress: Progress = silent
) -> Change:
    """Write the requests of `path` that the selection holds.

    Raises:
        BadInput: no workload, nothing selected, nothing left, or `out` cannot be written.
        UnknownName: no scenario or no model of that name.
        CannotKnow: the workload does not have the scenario, or no times to cut by.
    """
    source, before = read_metadata(path), figures(path)
    if selection == Selection(seed=selection.seed):
        raise BadInput("Nothing is selected; name a --scenario, --from, --to, --model or --tenant.")
    notes: list[str] = []
    kept = _owned(source, selection)
    kept &= _timed(source, selection, kept, notes)
    refuse_empty(int(kept.sum()), f"No request of {path} is in that slice.")
    chosen = subset(path, kept)
    metadata = done(moved(source.metadata, chosen.zero_s), f"slice: {_said(selection)}")
    rows, ordered = batches(chosen), True
    if selection.scenario == "tail":
        rows, ordered = clustered(chosen, selection.seed, notes), False
    stored = write_workload(
        rows, metadata, out, ordered=ordered, progress=towards(chosen.rows, progress)
    )
    return change("slice", (before,), stored, (*notes, *chosen.notes))


def refuse_scenario(source: Stored, name: str) -> None:
    """Refuse a scenario that a workload does not have.

    Raises:
        UnknownName: no scenario of that name.
        CannotKnow: the workload does not have it.
    """
    import numpy as np

    _window(source, name, np.ones(source.rows, np.bool_))


def _owned(source: Stored, selection: Selection) -> "Array":
    """The rows of the model and the tenant asked for."""
    import numpy as np

    kept = np.ones(source.rows, np.bool_)
    if selection.model is not None:
        kept &= _of_model(source.path, selection.model)
    if selection.tenant is not None:
        tenant = read(source.path, "tenant")
        kept &= ~tenant.absent & (tenant.values == selection.tenant)
        refuse_empty(int(kept.sum()), _no_tenant(source.path, selection.tenant, tenant))
    return kept


def _no_tenant(path: Path, asked: int, tenant: Column) -> str:
    """Why nobody is `asked`."""
    known = tenant.values[~tenant.absent]
    if not len(known):
        return f"{path} tells no tenants apart."
    return f"{path} has no tenant {asked}; its tenants have numbers {known.min()} to {known.max()}."


def _of_model(path: Path, label: str) -> "Array":
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    known: dict[str, None] = {}
    found = [np.zeros(0, np.bool_)]
    for batch in narrow(path, ("model",)):
        column = batch.column(0)
        known |= dict.fromkeys(name for name in pc.unique(column).to_pylist() if name is not None)
        same = pc.fill_null(pc.equal(column, pa.scalar(label)), False)
        found.append(same.to_numpy(zero_copy_only=False))
    if label not in known:
        raise UnknownName("model", label, known, str(path))
    return np.concatenate(found)


def _timed(source: Stored, selection: Selection, kept: "Array", notes: list[str]) -> "Array":
    """The rows of the scenario and of the time asked for."""
    import numpy as np

    arrival = read(source.path, "arrival_s")
    held = np.ones(source.rows, np.bool_)
    if selection.scenario is not None:
        found = _window(source, selection.scenario, kept)
        notes.append(_where(found))
        if found.spans:
            held &= _within(arrival.values, found) & ~arrival.absent
    if selection.from_s is None and selection.to_s is None:
        return held
    if arrival.absent.all():
        raise CannotKnow(f"{source.path} has no times to cut by; vram workload head counts rows.")
    low = 0.0 if selection.from_s is None else selection.from_s
    high = np.inf if selection.to_s is None else selection.to_s
    held &= (arrival.values >= low) & (arrival.values < high) & ~arrival.absent
    return held


def _window(source: Stored, name: str, kept: "Array") -> Window:
    if name not in DEFINITIONS:
        raise UnknownName("scenario", name, DEFINITIONS, "--scenario")
    try:
        return window(name, seconds_of(source.path, kept), source.metadata.week_offset_s)
    except NotFound as reason:
        raise CannotKnow(f"{source.path} has no scenario {name}. {reason}") from None


def _within(arrival_s: "Array", found: Window) -> "Array":
    import numpy as np

    edges = np.array([edge for span in found.spans for edge in (span.start_s, span.end_s)])
    inside: Array = np.searchsorted(edges, arrival_s, side="right") % 2 == 1
    return inside


def _where(found: Window) -> str:
    """Which stretch a scenario is, as one sentence or two."""
    if not found.spans:
        place = "at the log's own arrivals"
    elif len(found.spans) == 1:
        place = f"from {found.spans[0].start_s:,} s to {found.spans[0].end_s:,} s"
    else:
        place = f"{len(found.spans)} stretches of {found.seconds:,} s together"
    note = f" {found.note}" if found.note else ""
    return f"{found.name}: {found.definition}; {place}.{note}"


def _said(selection: Selection) -> str:
    """The selection as a line of history; a model's name is left out, it may have been kept."""
    parts = [] if selection.scenario is None else [f"scenario {selection.scenario}"]
    if selection.scenario == "tail":
        parts.append(f"seed {selection.seed}")
    if selection.from_s is not None:
        parts.append(f"from {selection.from_s:g} s")
    if selection.to_s is not None:
        parts.append(f"to {selection.to_s:g} s")
    if selection.model is not None:
        parts.append("one model")
    if selection.tenant is not None:
        parts.append("one tenant")
    return ", ".join(parts)
