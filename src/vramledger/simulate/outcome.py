"""What became of the requests and of the steps of one simulated engine."""

from collections import Counter
from enum import StrEnum

from vramledger.frozen import frozen
from vramledger.simulate.step import Features


class Ending(StrEnum):
    """How a request ended."""

    OK = "ok"  # every token that was asked for came
    INCOMPLETE = "incomplete"  # max_model_len cut it short, or it never got its blocks
    CANCELLED = "cancelled"  # the client went away, as planned
    TIMED_OUT = "timed_out"  # the client's limit was reached
    REJECTED = "rejected"  # its prompt leaves no room for an answer


@frozen
class RequestOutcome:
    """One request; times in nanoseconds since the start, None for what did not happen.

    `queued_ns` is when the engine's loop took it in, `first_token_ns` and `last_token_ns` are ends of steps.
    `block_ns` sums blocks held over time, shared blocks counted for each holder.
    """

    rank: int
    ending: Ending
    arrival_ns: int
    queued_ns: int | None
    scheduled_ns: int | None
    scheduled_step: int | None
    first_token_ns: int | None
    first_token_step: int | None
    last_token_ns: int | None
    last_token_step: int | None
    input_tokens: int
    output_tokens: int  # delivered
    hit_tokens: int  # of the prompt, found when it was first scheduled
    preemptions: int
    recomputed_tokens: int
    block_ns: int


@frozen
class StepRow:
    """One step; counts are those right after it was scheduled.

    Its time is that of the last pipeline stage, so that steps never overlap.
    """

    number: int
    start_ns: int
    end_ns: int
    features: Features
    running: int
    waiting: int
    used_blocks: int
    preempted: int


@frozen
class Pause:
    """Two tokens of a request, one after the other, that did not come from two successive steps.

    A preemption makes one, and a step whose budget was spent before it reached the request.
    """

    rank: int
    last_step: int  # brought the token before
    next_step: int  # brought the token after


@frozen
class Outcome:
    """One run. `stuck` is a sentence when requests were left that could never start, else empty.

    `pauses` are in the order in which they ended.
    """

    requests: tuple[RequestOutcome, ...]
    steps: tuple[StepRow, ...]
    end_ns: int
    stuck: str
    pauses: tuple[Pause, ...] = ()

    def count(self, ending: Ending) -> int:
        """Requests that ended so."""
        return Counter(request.ending for request in self.requests)[ending]

    @property
    def preemptions(self) -> int:
        """Preemptions of all requests."""
        return sum(request.preemptions for request in self.requests)

    @property
    def recomputed_tokens(self) -> int:
        """Tokens that were computed again after preemptions."""
        return sum(request.recomputed_tokens for request in self.requests)
