"""One row a request over all engines of a simulation, in the order of arrival."""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.frozen import frozen
from vramledger.record.latency import LATENCIES, with_failures
from vramledger.simulate.fast.records import (
    CANCELLED,
    ENDINGS,
    INCOMPLETE,
    REJECTED,
    TIMED_OUT,
    UNSET,
)
from vramledger.simulate.offered import Offered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vramledger.simulate.engines import Engine

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_NANO: Final = 1e-9
SHOWN: Final = ("ttft_s", "tpot_s", "queue_s", "e2e_s")


@frozen
class Figures:
    """Arrays of one length, of the requests in their order; NaN for what did not happen.

    `columns` has the names and meanings of requests.parquet. `latency` counts from `due_s`, and is
    infinite for a request that failed.
    """

    engine: "Array"
    outcome: "Array"
    columns: "Mapping[str, Array]"
    latency: "Mapping[str, Array]"
    found: "Array"  # rows as the simulator left them


def figures_of(offered: Offered, engines: "Sequence[Engine]", max_model_len: int) -> Figures:
    """Put together what the engines did."""
    found = np.zeros(len(offered), engines[0].found.requests.dtype)
    engine = np.zeros(len(offered), np.int32)
    for number, one in enumerate(engines):
        found[one.places] = one.found.requests
        engine[one.places] = number
    columns = _columns(offered, found, max_model_len)
    outcome = np.array([ending.value for ending in ENDINGS])[found["ending"]]
    latency = {
        each.name: with_failures(each.of(columns), outcome)
        for each in LATENCIES
        if each.name in SHOWN
    }
    return Figures(engine, outcome, columns, latency, found)


def seconds(nanoseconds: "Array") -> "Array":
    """Seconds, NaN where it is unset."""
    return np.where(nanoseconds == UNSET, np.nan, nanoseconds * _NANO)


def _columns(offered: Offered, found: "Array", max_model_len: int) -> "dict[str, Array]":
    queued = seconds(found["queued_ns"])
    return {
        "due_s": offered.due_ns * _NANO,
        "first_content_s": seconds(found["first_token_ns"]),
        "last_content_s": seconds(found["last_token_ns"]),
        "done_s": _done(offered, found, max_model_len),
        "queue_s": seconds(found["scheduled_ns"]) - queued,
        "output_tokens_got": found["output_tokens"].astype(np.float64),
    }


def _done(offered: Offered, found: "Array", max_model_len: int) -> "Array":
    """When each ended: with its last token, when its client left, at once when it was refused."""
    ending = found["ending"]
    left = (ending == CANCELLED) | (ending == TIMED_OUT)
    cut = offered.input_tokens + found["output_tokens"] >= max_model_len
    done = seconds(found["last_token_ns"])
    done = np.where((ending == INCOMPLETE) & ~cut, np.nan, done)
    done = np.where(left, (offered.due_ns + offered.cancel_after_ns) * _NANO, done)
    return np.where(ending == REJECTED, offered.due_ns * _NANO, done)
