"""When and with which blocks requests reach an engine."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from vramledger.simulate.engines import Arriving, Engine
from vramledger.simulate.offered import ABSENT, Offered
from vramledger.simulate.prefixes import no_prefixes, prefixes_of
from vramledger.simulate.timing.coefficients import Coefficients

_MILLI: Final = 1e6  # nanoseconds


def arriving_of(
    offered: Offered,
    coefficients: Coefficients,
    block_size: int | None,
    in_flight: float = 0.0,
) -> Arriving:
    """The requests after the server's front: HTTP and tokeniser take their time before the queue.

    `block_size` is the engine's where its prefix cache is on, None where it is off. `in_flight` is how many requests
    an engine of a closed loop has, each of which takes of the front's time; 0 for arrivals of their own, for which
    it was not measured.
    """
    c = coefficients
    reading_ms = c.front_ms_per_1000_tokens * offered.input_tokens / 1000
    front_ms = c.front_ms + c.front_ms_per_request * in_flight + reading_ms
    front = np.rint(front_ms * _MILLI).astype(np.int64)
    waits = offered.cancel_after_ns == ABSENT
    left = np.maximum(offered.cancel_after_ns - front, 0)
    return Arriving(
        arrival_ns=offered.due_ns + front,
        input_tokens=offered.input_tokens,
        output_tokens=offered.output_tokens,
        cancel_after_ns=np.where(waits, ABSENT, left),
        prefixes=no_prefixes(len(offered))
        if block_size is None or not offered.shares_prefixes
        else prefixes_of(offered, block_size),
        front_ns=front,
        times_out=offered.times_out,
    )


def as_sent(offered: Offered, engines: Sequence[Engine]) -> Offered:
    """The requests with the times at which they were sent, which in a closed loop only the simulation tells."""
    if all(engine.due_ns is None for engine in engines):
        return offered
    due = offered.due_ns.copy()
    for engine in engines:
        if engine.due_ns is not None:
            due[engine.places] = engine.due_ns
    return replace(offered, due_ns=due)
