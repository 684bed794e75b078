"""The requests of a measured run, as an engine's core stamps them."""

from collections.abc import Sequence
from dataclasses import fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.errors import BadInput
from vramledger.frozen import frozen

if TYPE_CHECKING:
    Integers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
    Truths: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

ABSENT: Final = -1  # what a request did not reach
_NANO: Final = 1e9


@frozen
class Observed:
    """Requests in the order of arrival: int64 arrays of one length.

    Times are nanoseconds since the first arrival, `ABSENT` where the request did not get there.
    `arrival_ns` is when the client sent it, `queued_ns` when the engine's loop took it in,
    `first_token_ns` and `last_token_ns` when the steps that made those tokens ended. `output_tokens`
    counts what was generated.
    """

    arrival_ns: "Integers"
    queued_ns: "Integers"
    first_token_ns: "Integers"
    last_token_ns: "Integers"
    input_tokens: "Integers"
    output_tokens: "Integers"

    def __len__(self) -> int:
        return len(self.arrival_ns)

    def first(self, count: int) -> "Observed":
        """The first requests to arrive."""
        return Observed(**{field.name: getattr(self, field.name)[:count] for field in fields(self)})

    @property
    def end_ns(self) -> int:
        """When the last token came."""
        return int(max(self.last_token_ns.max(), self.first_token_ns.max()))

    def finished_by(self, moment_ns: int) -> "Truths":
        """The requests whose last token had come by then."""
        done: Truths = (self.last_token_ns != ABSENT) & (self.last_token_ns <= moment_ns)
        return done


@frozen
class Stamps:
    """One request's stamps in seconds; None for what it did not reach.

    `arrival_s` is read from the client's clock, all others from the engine's, which may count from
    another moment.
    """

    arrival_s: float
    queued_s: float | None
    first_token_s: float | None
    last_token_s: float | None
    input_tokens: int
    output_tokens: int


def observed_of(stamps: Sequence[Stamps]) -> Observed:
    """The requests on one clock.

    The engine's clock is set so that the request it took in soonest was taken in as it arrived; what
    a message takes from client to engine is lost by that, at most a few milliseconds.

    Raises:
        BadInput: no requests, none that the engine took in, tokens below one, or stamps that go back
            in time.
    """
    taken = [one for one in stamps if one.queued_s is not None]
    if not taken:
        raise BadInput(
            "The run holds no request that the engine took in, so there is nothing to calibrate on; "
            "give a run with stamps of its engine."
        )
    start = min(one.arrival_s for one in stamps)
    apart = min(one.queued_s - one.arrival_s for one in taken if one.queued_s is not None)
    ordered = sorted(stamps, key=lambda one: one.arrival_s)
    found = Observed(
        arrival_ns=_nanoseconds([one.arrival_s for one in ordered], start),
        queued_ns=_nanoseconds([one.queued_s for one in ordered], start + apart),
        first_token_ns=_nanoseconds([one.first_token_s for one in ordered], start + apart),
        last_token_ns=_nanoseconds([one.last_token_s for one in ordered], start + apart),
        input_tokens=np.array([one.input_tokens for one in ordered], np.int64),
        output_tokens=np.array([one.output_tokens for one in ordered], np.int64),
    )
    _refuse_nonsense(found)
    return found


def _nanoseconds(seconds: Sequence[float | None], start: float) -> "Integers":
    return np.array(
        [ABSENT if one is None else round((one - start) * _NANO) for one in seconds], np.int64
    )


def _refuse_nonsense(found: Observed) -> None:
    for number in np.flatnonzero((found.input_tokens < 1) | (found.output_tokens < 1)):
        raise BadInput(
            f"Request {number} by arrival has {found.input_tokens[number]} input and "
            f"{found.output_tokens[number]} output tokens, but a request that was served has at least "
            "one of each; leave out those that were not."
        )
    stamps = [getattr(found, field.name) for field in fields(Observed)[1:4]]
    for earlier, later in pairwise(stamps):
        back = (later != ABSENT) & ((earlier == ABSENT) | (later < earlier))
        for number in np.flatnonzero(back):
            raise BadInput(
                f"The stamps of request {number} by arrival go back in time; a request is queued "
                "and gets its first and its last token in this order."
            )


def third_of_time(observed: Observed) -> int:
    """The moment at which a third of the run, from its first arrival to its last token, was over."""
    return observed.end_ns // 3


def third_of_requests(observed: Observed) -> int:
    """The moment at which a third of the requests had finished."""
    ends = np.sort(observed.last_token_ns[observed.last_token_ns != ABSENT])
    return int(ends[max(len(ends) // 3, 1) - 1]) if len(ends) else 0
