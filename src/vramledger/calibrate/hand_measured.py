"""The three measurements on a live server, by the trial's own client: one stream, one full prompt, a large batch."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vramledger.calibrate.quick import Front, Timed
from vramledger.calibrate.run_deployment import Stated, case_of
from vramledger.engine.vllm.deployment import Deployment
from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.record.outcome import Outcome
from vramledger.record.requests import RequestRecord
from vramledger.trial.client.single import fetch_all
from vramledger.trial.load.rows import Row
from vramledger.trial.planned import PlannedRequest
from vramledger.workload.operators.prepared import Part

if TYPE_CHECKING:
    from vramledger.trial.conduct.approach import Approached

_PROMPT: Final = 64  # tokens of a short one
_STREAM: Final = 128  # tokens of an answer by itself
_BATCH: Final = 256  # tokens of each answer of the batch
_LARGEST: Final = 64  # requests of the batch
_TIMES: Final = 3
_FEWEST_GAPS: Final = 8
_LONG_ERROR: Final = 0.02


@frozen
class HandMeasured:
    """What was timed, on which deployment."""

    deployment: Deployment
    steps: tuple[Timed, ...]
    fronts: tuple[Front, ...]
    rehearsed: bool


def measure(url: str, stated: Stated, options: dict[str, Any] | None = None) -> HandMeasured:
    """Ask the server what it is, and time it; a minute or two.

    Raises:
        BadInput: the server cannot be reached, or too little is known of its deployment.
        CannotKnow: it does not answer, or its engine's steps are not modelled.
    """
    from vramledger.record.document import Description, Origin
    from vramledger.trial.conduct.approach import approach
    from vramledger.trial.conduct.asked import TrialAsked

    with tempfile.TemporaryDirectory(prefix="vram-quick-") as scratch:
        workload = _one_row(Path(scratch, "quick.parquet"))
        found = approach(TrialAsked(url, Part(workload), **(options or {})), Path(scratch))
        description = Description(
            origin=Origin.MEASURED, name="quick", in_effect=found.facts.deployment()
        )
        deployment = case_of(description, stated).deployment()
        return _measured(found, deployment)


def _measured(found: "Approached", deployment: Deployment) -> HandMeasured:
    send = _Sender(found)
    longest = deployment.max_model_len.value or deployment.derived_model_len
    stream = min(_STREAM, longest - _PROMPT)
    send(_PROMPT, stream, 2)  # what comes first is slower
    alone = [record for _ in range(_TIMES) for record in send(_PROMPT, stream, 1)]
    full = min(deployment.max_num_batched_tokens.value, longest - 2)
    long = [record for _ in range(_TIMES) for record in send(full, 2, 1)]
    size, answer = _batch_size(found, deployment, longest)
    together = send(_PROMPT, answer, size)
    return HandMeasured(
        deployment=deployment,
        steps=(
            Timed(median(map(_tpot, alone)), 1, _PROMPT + stream / 2),
            Timed(_common_gap(together), size, _PROMPT + answer / 2),
        ),
        fronts=(
            Front(median(map(_ttft, alone)), _PROMPT),
            Front(median(map(_ttft, long)), full, _LONG_ERROR),
        ),
        rehearsed=found.facts.rehearsal,
    )


def _batch_size(found: "Approached", deployment: Deployment, longest: int) -> tuple[int, int]:
    """Requests that the cache holds together, and the tokens of their answers."""
    answer = min(_BATCH, longest - _PROMPT)
    held = found.facts.seen.kv_tokens
    most = min(_LARGEST, deployment.max_num_seqs.value)
    if held is not None:
        most = min(most, max(int(held * 0.8) // (_PROMPT + answer), 1))
    return most, answer


class _Sender:
    """Sends prompts that no cache has, some at once, and returns what came of them."""

    def __init__(self, found: "Approached") -> None:
        from vramledger.trial.load.opening import body_of

        self._target, self._make = found.target, body_of(found.prepared.job.prompts, 0)
        self._exact = found.prepared.job.prompts.style.is_exact
        self._next = 0

    def __call__(self, input_tokens: int, output_tokens: int, count: int) -> list[RequestRecord]:
        row = Row(-1, None, input_tokens, output_tokens, (), None, None, None, None, None, False, 0)
        planned = []
        for _ in range(count):
            body = self._make(self._next, row, ())
            planned.append(
                PlannedRequest(
                    self._next, None, None, body, input_tokens, output_tokens, exact=self._exact
                )
            )
            self._next += 1
        records = fetch_all(self._target, planned, count)
        if any(record.outcome is not Outcome.OK for record in records):
            raise CannotKnow(
                f"The server did not answer {count} requests of {input_tokens} tokens in and {output_tokens} out in full, "
                "so it cannot be measured so; look into its log."
            )
        return records


def _ttft(record: RequestRecord) -> float:
    return _known(record.first_content_s) - _known(record.dispatched_s)


def _tpot(record: RequestRecord) -> float:
    tokens = max((record.output_tokens_got or 2) - 1, 1)
    return (_known(record.last_content_s) - _known(record.first_content_s)) / tokens


def _known(moment: float | None) -> float:
    if moment is None:
        raise CannotKnow(
            "The server sent no token, so there is nothing to time; look into its log."
        )
    return moment


def _common_gap(records: Sequence[RequestRecord]) -> float:
    """The mean time between two tokens of a request while all of them are decoded, the median of the requests."""
    begun = max(_known(record.first_content_s) for record in records)
    over = min(_known(record.last_content_s) for record in records)
    found = []
    for record in records:
        offsets = np.asarray(record.chunk_offset_us, np.float64) / 1e6
        inside = _known(record.first_content_s) + offsets
        inside = inside[(inside >= begun) & (inside <= over)]
        if len(inside) > _FEWEST_GAPS:
            found.append(float(inside[-1] - inside[0]) / (len(inside) - 1))
    if not found:
        raise CannotKnow(
            "The requests of the batch were not decoded side by side for long enough to time a step; give the server "
            "more KV cache or measure it with vram trial run."
        )
    return median(found)


def _one_row(path: Path) -> Path:
    """A workload of one request: what a trial is made of."""
    import pyarrow as pa

    from vramledger.workload.metadata import Metadata
    from vramledger.workload.schema import COLUMNS, arrow_schema
    from vramledger.workload.store import write_workload

    row = dict.fromkeys(COLUMNS) | {
        "row": 0,
        "outcome": "ok",
        "arrival_s": 0.0,
        "input_tokens": _PROMPT,
        "output_tokens": 8,
    }
    batch = pa.RecordBatch.from_pylist([row], arrow_schema())
    write_workload([batch], Metadata(block_tokens=16), path)
    return path
