"""The requests of a recorded run with the stamps of its client, for a replay."""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.calibrate.observed import ABSENT, Observed
from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.record.run import Run

if TYPE_CHECKING:
    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
    Integers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

_OK: Final = "ok"
_BEFORE: Final = "before"
_NANO: Final = 1e9


@frozen
class ClientStamps:
    """`observed` has the requests that were answered in full, by arrival; `zero_s` is its second 0 on the run's clock.

    An engine's queue is not stamped by a client: `queued_ns` is the arrival. `left_out` requests were not answered in full;
    they loaded the server all the same. `cached` is the share of prompt tokens that the prefix cache had, NaN where
    nobody told.
    """

    observed: Observed
    zero_s: float
    left_out: int
    cached: float


def client_stamps(run: Run, from_s: float | None = None) -> ClientStamps:
    """The stamps of a run, of requests sent from `from_s` on: what came before was to warm the server up.

    Raises:
        CannotKnow: no request has what a replay needs.
        BadInput: the table cannot be read.
    """
    table = run.requests
    columns = table.numbers(
        "due_s", "dispatched_s", "first_content_s", "last_content_s", "input_tokens_asked",
        "input_tokens_got", "output_tokens_got", "cached_tokens",
    )  # fmt: skip
    outcome = np.asarray(table.read(("outcome",))["outcome"].to_pylist())
    sent = np.where(np.isnan(columns["dispatched_s"]), columns["due_s"], columns["dispatched_s"])
    prompt, asked = columns["input_tokens_got"], columns["input_tokens_asked"]
    prompt, answer = np.where(np.isnan(prompt), asked, prompt), columns["output_tokens_got"]
    if from_s is not None:
        outcome = np.where(sent >= from_s, outcome, _BEFORE)
    first, last = columns["first_content_s"], columns["last_content_s"]
    whole = (outcome == _OK) & (prompt >= 1) & (answer >= 1) & (first >= sent) & (last >= first)
    if not whole.any():
        raise CannotKnow(
            f"No request of {run.path} has the times and tokens that a calibration replays: when it was sent, its first "
            "and its last token, and how many there were; calibrate on a run that recorded them."
        )
    order = np.flatnonzero(whole)[np.argsort(sent[whole], kind="stable")]
    zero = float(sent[order[0]])
    arrival = _ns(sent[order], zero)
    observed = Observed(
        arrival_ns=arrival,
        queued_ns=arrival,
        first_token_ns=_ns(first[order], zero),
        last_token_ns=_ns(last[order], zero),
        input_tokens=prompt[order].astype(np.int64),
        output_tokens=answer[order].astype(np.int64),
    )
    return ClientStamps(
        observed,
        zero,
        int((~whole & (outcome != _BEFORE)).sum()),
        _cached(columns["cached_tokens"], prompt, whole),
    )


def as_client(replayed: Observed) -> Observed:
    """A replay's stamps with TTFT counted as a client counts it: from when it sent the request."""
    from dataclasses import replace

    kept = np.where(replayed.first_token_ns == ABSENT, ABSENT, replayed.arrival_ns)
    return replace(replayed, queued_ns=kept)


def _cached(tokens: "Floats", prompt: "Floats", whole: "Any") -> float:
    told = whole & ~np.isnan(tokens)
    return float(tokens[told].sum() / prompt[told].sum()) if told.any() else float("nan")


def _ns(seconds: "Floats", zero: float) -> "Integers":
    return np.rint((seconds - zero) * _NANO).astype(np.int64)
