"""Requests ahead of the measured ones: lengths of the workload itself, text of their own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from vramledger.trial.load.job import LoadJob
from vramledger.trial.load.opening import body_of
from vramledger.trial.load.rows import Row
from vramledger.trial.load.sendable import COLUMNS, sent
from vramledger.trial.planned import PlannedRequest
from vramledger.trial.prompts.numbering import WARM_UP
from vramledger.workload.store import read_batches

MOST_OUTPUT: Final = 64  # tokens: what matters is that the server has decoded


def warm_up(job: LoadJob, requests: int, first: int = 0) -> tuple[PlannedRequest, ...]:
    """So many requests, spread evenly over the prompt lengths of the workload, shortest first.

    They have no row and no time, share no prefix, and are marked `warm_up`. Numbers count from `first`: each number
    is a prompt of its own, so that a second series needs another `first`.
    """
    make = body_of(job.prompts, 0, WARM_UP)
    own = job.prompts.own is not None
    planned = []
    for number, row in enumerate(_spread(Path(job.workload), requests), first):
        planned.append(
            PlannedRequest(
                number=number,
                row=None,
                due_s=None,
                body=make(number, row, ()),
                input_tokens=None if own else row.input_tokens,
                output_tokens=row.output_tokens,
                exact=job.prompts.style.is_exact,
                warm_up=True,
            )
        )
    return tuple(planned)


def _spread(path: Path, requests: int) -> Iterator[Row]:
    """Rows at evenly spaced ranks of the prompt length, the shortest and the longest among them."""
    import numpy as np
    import pyarrow as pa

    inputs, outputs = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for batch in read_batches(path, ("output_tokens", *COLUMNS)):
        kept = batch.filter(pa.array(sent(batch)))
        inputs.append(kept.column("input_tokens").to_numpy(zero_copy_only=False).astype(np.int64))
        outputs.append(kept.column("output_tokens").to_numpy(zero_copy_only=False).astype(np.int64))
    lengths, answers = np.concatenate(inputs), np.concatenate(outputs)
    order = np.argsort(lengths, kind="stable")
    for place in np.linspace(0, len(order) - 1, requests).round().astype(np.int64):
        at = order[place]
        yield Row(
            row=-1,
            arrival_s=None,
            input_tokens=int(lengths[at]),
            output_tokens=min(MOST_OUTPUT, int(answers[at])),
            blocks=(),
            session=None,
            turn=None,
            think_s=None,
            tenant=None,
            cancel_after_s=None,
            times_out=False,
            attempt=0,
        )
