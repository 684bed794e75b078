"""A simulation as a run directory."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from vramledger import __version__
from vramledger.record.computed_run import ComputedRun
from vramledger.record.document import Deployment, Description, Origin
from vramledger.record.requests import REQUESTS
from vramledger.record.samples import STEPS
from vramledger.record.table import Table, arrow_schema
from vramledger.simulate.engines import Engine
from vramledger.simulate.fast.records import UNSET
from vramledger.simulate.figures import Figures, seconds
from vramledger.simulate.offered import Offered
from vramledger.simulate.settings import Settings
from vramledger.simulate.silent_steps import silent_steps, steps_told

if TYPE_CHECKING:
    from typing import TypeAlias

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_BATCH: Final = 65_536  # rows


def description_of(
    name: str,
    deployment: Deployment,
    *,
    scenario: str | None,
    workload_sha256: str,
    seed: int,
    **more: Any,
) -> Description:
    """What the run says of itself; `more` are further keys of run.json."""
    return Description(
        origin=Origin.SIMULATED,
        name=name,
        scenario=scenario,
        asked=deployment,
        in_effect=deployment,
        workload_sha256=workload_sha256,
        seed=seed,
        client_version=__version__,
        **more,
    )


def write_run(
    folder: Path,
    description: Description,
    offered: Offered,
    figures: Figures,
    engines: Sequence[Engine],
    settings: Settings,
    *,
    rows_known: bool,
    notes: Sequence[str],
) -> None:
    """Write the directory; it appears whole or not at all.

    Args:
        folder: where; must not be there yet.
        description: its run.json.
        offered: the requests.
        figures: what became of them.
        engines: their steps.
        settings: the scheduler's arguments.
        rows_known: whether `offered.row` counts rows of the workload that the description names.
        notes: sentences for its journal.

    Raises:
        BadInput: it cannot be written.
    """
    requests = _requests(offered, figures, engines, rows_known=rows_known)
    with ComputedRun(folder, description) as run:
        for note in notes:
            run.note(0.0, "note", text=note)
        _add(run, REQUESTS, requests)
        for number, engine in enumerate(engines):
            for start in range(0, len(engine.found.steps), _BATCH):
                _add(run, STEPS, _steps(number, engine, settings, start))


def _add(run: ComputedRun, table: Table, columns: Mapping[str, pa.Array]) -> None:
    schema = arrow_schema(table)
    length = len(next(iter(columns.values())))
    arrays = [
        columns[field.name] if field.name in columns else pa.nulls(length, field.type)
        for field in schema
    ]
    whole = pa.RecordBatch.from_arrays(
        [array.cast(field.type) for array, field in zip(arrays, schema, strict=True)],
        schema=schema,
    )
    for start in range(0, length, _BATCH):
        run.add_batch(table, whole.slice(start, _BATCH))


def _requests(
    offered: Offered, figures: Figures, engines: Sequence[Engine], *, rows_known: bool
) -> dict[str, pa.Array]:
    """Columns of requests.parquet.

    first_step, last_step and silent_steps stand for the chunks; where an engine does not tell its
    pauses, they are left unknown of requests that were preempted.
    """
    found, count = figures.found, len(offered)
    spoke = (found["first_token_step"] != UNSET) & steps_told(figures, engines)
    waited = found["scheduled_ns"] != UNSET
    known = {name: _times(figures.columns[name]) for name in ("due_s", "done_s", "queue_s")}
    return {
        **known,
        "request_id": pa.array(np.arange(count)),
        "row": _counts(offered.row, np.full(count, rows_known)),
        "session": _counts(offered.session, offered.session != UNSET),
        "tenant": _counts(offered.tenant, offered.tenant != UNSET),
        "attempt": pa.array(np.zeros(count, np.int32)),
        "dispatched_s": known["due_s"],
        "first_content_s": _times(figures.columns["first_content_s"]),
        "last_content_s": _times(figures.columns["last_content_s"]),
        "input_tokens_asked": pa.array(offered.input_tokens),
        "input_tokens_got": _counts(offered.input_tokens, waited),
        "output_tokens_asked": pa.array(offered.output_tokens),
        "output_tokens_got": pa.array(found["output_tokens"]),
        "tokens_basis": pa.array(["simulated"] * count),
        "outcome": pa.array(figures.outcome.tolist()),
        "preemptions": pa.array(found["preemptions"]),
        "recomputed_tokens": pa.array(found["recomputed_tokens"]),
        "cached_tokens": _counts(found["hit_tokens"], waited),
        "engine": pa.array(figures.engine),
        "first_step": _counts(found["first_token_step"], spoke),
        "last_step": _counts(found["last_token_step"], spoke),
        "silent_steps": silent_steps(figures, engines),
    }


def _steps(number: int, engine: Engine, settings: Settings, start: int) -> dict[str, pa.Array]:
    """Columns of steps.parquet for a batch of the steps from `start` on."""
    steps = engine.found.steps[start : start + _BATCH]
    usable = max(settings.num_blocks - 1, 1)
    return {
        "step": pa.array(np.arange(start, start + len(steps))),
        "engine": pa.array(np.full(len(steps), number, np.int32)),
        "start_s": pa.array(seconds(steps["start_ns"])),
        "end_s": pa.array(seconds(steps["end_ns"])),
        "scheduled_tokens": pa.array(steps["prefill_tokens"] + steps["decode_tokens"]),
        "prefill_tokens": pa.array(steps["prefill_tokens"]),
        "running": pa.array(steps["running"].copy()),
        "waiting": pa.array(steps["waiting"].copy()),
        "preempted": pa.array(steps["preempted"].copy()),
        "kv_usage": pa.array(steps["used_blocks"] / usable),
    }


def _times(values: "Array") -> pa.Array:
    return pa.array(values, mask=np.isnan(values))


def _counts(values: "Array", known: "Array") -> pa.Array:
    return pa.array(np.ascontiguousarray(values), mask=~known)
