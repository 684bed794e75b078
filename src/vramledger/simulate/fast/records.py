"""What became of requests and steps, as rows of numbers."""

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vramledger.frozen import frozen
from vramledger.simulate.fast.load import Load
from vramledger.simulate.outcome import Ending, Outcome, Pause, RequestOutcome, StepRow
from vramledger.simulate.step import Features

if TYPE_CHECKING:
    from vramledger.simulate.fast.load import Rows

UNSET: Final = -1  # what did not happen
OPEN: Final = -1  # an ending that has not come
ENDINGS: Final = tuple(Ending)
OK: Final = ENDINGS.index(Ending.OK)
INCOMPLETE: Final = ENDINGS.index(Ending.INCOMPLETE)
CANCELLED: Final = ENDINGS.index(Ending.CANCELLED)
TIMED_OUT: Final = ENDINGS.index(Ending.TIMED_OUT)
REJECTED: Final = ENDINGS.index(Ending.REJECTED)

RECORD: Final = np.dtype(
    [
        ("queued_ns", np.int64),
        ("scheduled_ns", np.int64),
        ("first_token_ns", np.int64),
        ("last_token_ns", np.int64),
        ("block_ns", np.int64),
        ("recomputed_tokens", np.int64),
        ("scheduled_step", np.int64),
        ("first_token_step", np.int64),
        ("last_token_step", np.int64),
        ("output_tokens", np.int32),
        ("hit_tokens", np.int32),
        ("preemptions", np.int32),
        ("ending", np.int8),
    ],
    align=True,
)
_MAY_BE_UNSET: Final = (
    "queued_ns",
    "scheduled_ns",
    "scheduled_step",
    "first_token_ns",
    "first_token_step",
    "last_token_ns",
    "last_token_step",
)
_COUNTS: Final = ("output_tokens", "hit_tokens", "preemptions", "recomputed_tokens", "block_ns")

FEATURES: Final = (
    "prefill_tokens",
    "prefill_requests",
    "prefill_pairs",
    "decode_tokens",
    "decode_requests",
    "decode_context",
)
STEP: Final = np.dtype(
    [(name, np.int64) for name in ("number", "start_ns", "end_ns", *FEATURES)]
    + [(name, np.int32) for name in ("running", "waiting", "used_blocks", "preempted")],
    align=True,
)


PAUSE: Final = np.dtype([(name, np.int64) for name in ("rank", "last_step", "next_step")])


@frozen
class FastOutcome:
    """One run: `requests` has `RECORD` rows by rank, `steps` `STEP` rows, `pauses` `PAUSE` rows.

    `pauses` are those of `outcome.Outcome`, None where they are not told. `steps` is empty where they were handed out as they came. `stuck` as in `outcome.Outcome`.
    """

    requests: "Rows"
    steps: "Rows"
    step_count: int
    end_ns: int
    stuck: str
    pauses: "Rows | None" = None


def new_records(count: int) -> "Rows":
    """Rows in which nothing has happened."""
    records = np.zeros(count, RECORD)
    for name in _MAY_BE_UNSET:
        records[name] = UNSET
    records["ending"] = OPEN
    return records


def as_outcome(fast: FastOutcome, load: Load) -> Outcome:
    """The same run as the plain loop tells it."""
    asked, found = load.asked, fast.requests
    rows = tuple(_request(rank, asked[rank], found[rank]) for rank in range(len(found)))
    pauses = () if fast.pauses is None else tuple(_pause(row) for row in fast.pauses)
    steps = tuple(_step(row) for row in fast.steps)
    return Outcome(rows, steps, fast.end_ns, fast.stuck, pauses)


def _pause(row: Any) -> Pause:
    return Pause(int(row["rank"]), int(row["last_step"]), int(row["next_step"]))


def _request(rank: int, asked: Any, found: Any) -> RequestOutcome:
    moments: dict[str, Any] = {
        name: None if found[name] == UNSET else int(found[name]) for name in _MAY_BE_UNSET
    }
    return RequestOutcome(
        rank=rank,
        ending=ENDINGS[found["ending"]],
        arrival_ns=int(asked["arrival_ns"]),
        input_tokens=int(asked["input_tokens"]),
        **moments,
        **{name: int(found[name]) for name in _COUNTS},
    )


def _step(row: Any) -> StepRow:
    return StepRow(
        number=int(row["number"]),
        start_ns=int(row["start_ns"]),
        end_ns=int(row["end_ns"]),
        features=Features(*(int(row[name]) for name in FEATURES)),
        running=int(row["running"]),
        waiting=int(row["waiting"]),
        used_blocks=int(row["used_blocks"]),
        preempted=int(row["preempted"]),
    )
