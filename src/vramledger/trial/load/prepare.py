"""From what a user asks to a load that workers can open."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vramledger.errors import BadInput, CannotKnow
from vramledger.frozen import frozen
from vramledger.record.outcome import Outcome
from vramledger.trial.load.job import LoadJob, PromptSettings
from vramledger.trial.load.refusals import refuse_empty, refuse_sending
from vramledger.trial.load.report import LoadReport
from vramledger.trial.load.sendable import COLUMNS, left_out
from vramledger.trial.prompts.own import OwnPrompts
from vramledger.workload.operators.drawn_answers import with_answers
from vramledger.workload.operators.prepared import Part, prepare
from vramledger.workload.store import read_batches, read_metadata, write_workload

if TYPE_CHECKING:
    import pyarrow as pa

    from vramledger.workload.operators.columns import Array

_SHORTEST_S: Final = 1e-3  # of a workload that can be repeated
_LEFT: Final = (Outcome.CANCELLED, Outcome.TIMED_OUT)
_LOOKED_AT: Final = (
    "arrival_s", "output_tokens", "outcome", "cancel_after_s", "retry_of", "prefix_blocks",
)  # fmt: skip


@frozen
class LoadAsked:
    """A load as a user asks for it: the part of a workload, and how it is sent.

    `closed` clients send one request after another; else the workload's own times decide. `duration_s` cuts the
    workload, or repeats it until then. `context` is the most tokens of a request that the server takes, where it tells.
    """

    part: Part
    prompts: PromptSettings
    seed: int = 0
    closed: int | None = None
    duration_s: float | None = None
    context: int | None = None


@frozen
class Prepared:
    """A load, and what is to be said of it."""

    job: LoadJob
    report: LoadReport


def prepare_load(asked: LoadAsked, folder: Path) -> Prepared:
    """The load; what it needs beside the workload itself is written into `folder`, which must outlive it.

    The same question gives the same load.

    Raises:
        BadInput: no workload, nothing in the part, an option out of range, or no prompt in the file of prompts.
        UnknownName: no scenario of that name.
        CannotKnow: the workload lacks the scenario, times, or lengths.
    """
    refuse_sending(asked.part, asked.closed, asked.duration_s)
    path = prepare(asked.part, asked.seed, folder)
    stored = refuse_empty(path)
    report = _counted(path, stored.rows, asked)
    if not report.offered:
        why = " or ".join(reason for reason, count in report.left_out.items() if count)
        raise CannotKnow(
            f"{path} has no request that can be sent: all of them have {why}; import it with lengths, or "
            "with --tokenizer where texts are there."
        )
    if report.drawn:
        path = _with_answers(path, asked.seed, folder)
    job = LoadJob(
        workload=str(path.absolute()),
        prompts=asked.prompts,
        period_s=_period_s(path, asked),
        duration_s=asked.duration_s,
        closed=asked.closed,
    )
    return Prepared(job, report)


def _counted(path: Path, rows: int, asked: LoadAsked) -> LoadReport:
    """What becomes of the rows of a prepared workload."""
    lost: Counter[str] = Counter()
    found: Counter[str] = Counter()
    around = 0 if asked.prompts.lexicon is None else asked.prompts.lexicon.around
    for batch in read_batches(path, tuple(dict.fromkeys((*_LOOKED_AT, *COLUMNS)))):
        if asked.closed is None and batch.column("arrival_s").null_count:
            raise CannotKnow(
                f"{path} has requests without times, so there is no order to send them in; vram workload "
                "synth makes arrivals for it, and --closed needs none."
            )
        reasons = left_out(batch)
        for reason, here in reasons.items():
            lost[reason] += int(here.sum())
        found.update(dict(_figures(batch, reasons, around, asked.context)))
    report = LoadReport(
        rows,
        dict(lost),
        drawn=found["drawn"],
        around=around,
        too_short=found["too_short"],
        context=asked.context,
        too_long=found["too_long"],
        cancelled=found["cancelled"],
        timed_out=found["timed_out"],
        unknown_end=found["unknown_end"],
        retries=found["retries"],
        sharing=found["sharing"],
    )
    own = asked.prompts.own
    if own is None:
        return report
    prompts = OwnPrompts(Path(own), asked.prompts.style.endpoint)
    prompts.check()
    return replace(report, too_short=0, own_prompts=len(prompts))


def _figures(
    batch: "pa.RecordBatch", reasons: "dict[str, Array]", around: int, context: int | None
) -> Iterator[tuple[str, int]]:
    """Counts of a batch by the field of the report."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    from vramledger.workload.operators.columns import column

    kept = batch.filter(pa.array(~np.logical_or.reduce(list(reasons.values()))))
    leaves = np.asarray(kept.column("cancel_after_s").is_valid())
    outcome = np.asarray(kept.column("outcome").to_pylist(), dtype=object)
    inputs, output = column(kept, "input_tokens").values, column(kept, "output_tokens")
    if context is not None:
        whole = np.maximum(inputs, around) + np.where(output.absent, 0, output.values)
        yield "too_long", int((whole > context).sum())
    yield "drawn", int((output.absent | (output.values < 1)).sum())
    yield "too_short", int((inputs < around).sum())
    yield "cancelled", int(leaves.sum())
    yield "timed_out", int((leaves & (outcome == Outcome.TIMED_OUT)).sum())
    yield "unknown_end", int((~leaves & np.isin(outcome, [str(each) for each in _LEFT])).sum())
    yield "retries", len(kept) - kept.column("retry_of").null_count
    blocks = pc.fill_null(pc.list_value_length(kept.column("prefix_blocks")), 0)
    yield "sharing", int(pc.sum(pc.greater(blocks, 0)).as_py() or 0)


def _with_answers(path: Path, seed: int, folder: Path) -> Path:
    """The workload with an answer in every row that has a prompt.

    Raises:
        CannotKnow: no row has both.
    """
    from vramledger.workload.operators.columns import read

    inputs, outputs = read(path, "input_tokens"), read(path, "output_tokens")
    asks = ~inputs.absent & (inputs.values >= 1)
    if not (asks & ~outputs.absent & (outputs.values >= 1)).any():
        raise CannotKnow(
            f"{path} has no request with known input and output tokens; import it with lengths, or "
            "with --tokenizer where texts are there."
        )
    values = outputs.values * ~outputs.absent
    values[asks] = with_answers(inputs.values[asks], values[asks], seed)
    out = folder / "answered.parquet"
    write_workload(_replaced(path, values), read_metadata(path).metadata, out, ordered=True)
    return out


def _replaced(path: Path, outputs: "Array") -> "Iterator[pa.RecordBatch]":
    from vramledger.workload.operators.columns import Column, with_column

    place = 0
    for batch in read_batches(path):
        here = outputs[place : place + len(batch)]
        place += len(batch)
        yield with_column(batch, "output_tokens", Column(here, here < 1))


def _period_s(path: Path, asked: LoadAsked) -> float:
    """First arrival to last, and one mean gap.

    Raises:
        BadInput: it is to be repeated, and has no time after which to.
    """
    from vramledger.workload.operators.columns import NS
    from vramledger.workload.operators.part import source_of

    period = source_of(read_metadata(path)).period_ns / NS
    if asked.duration_s is not None and asked.closed is None and period < _SHORTEST_S:
        raise BadInput(
            f"{path} has all its requests at one moment, so --for {asked.duration_s:g} s has no rate to go on with; leave "
            "--for out, or give --closed."
        )
    return period
