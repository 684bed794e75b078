"""A request as a log tells it, with the identities that never leave memory."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from vramledger.record.outcome import Outcome


class RowProblem(Exception):
    """A record that is no request. `reason` is counted in the loss report.

    The reason is a fixed phrase ("output tokens are not a number"): it never quotes what the record
    says, because whatever is printed leaves the machine.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(slots=True)
class RawRequest:
    """One request; None is "the log does not say". Mutable: the importer fills in what it can.

    `session`, `tenant`, `model`, `request_id`, `retry_of`, the `prefix_ids` and the texts are
    identities: they are numbered or measured in memory and never written.

    `link` is an id that calls share, of which the log does not say whether a client chose it: it is
    a session where two calls have it that are no retries. It stands in place of `session`.
    """

    line: int  # of the file, or the number of the record in it; from 1
    arrival_ns: int | None = None  # since the epoch, or since the zero of the log
    logged_ns: int | None = None  # when its row was written, by the same clock; None: on arrival
    input_tokens: int | None = None
    output_tokens: int | None = None
    thinking_tokens: int | None = None  # part of output_tokens
    cached_tokens: int | None = None  # part of input_tokens that the source's own cache served
    max_output_tokens: int | None = None  # the limit the request asked for
    input_text: str | None = None  # counted where input_tokens is None
    output_text: str | None = None  # counted where output_tokens is None
    duration_ns: int | None = None  # arrival to end
    first_token_ns: int | None = None  # arrival to first token
    outcome: Outcome = Outcome.UNKNOWN
    cancel_after_ns: int | None = None  # arrival to the client's giving up
    session: str | None = None
    link: str | None = None
    turn: int | None = None  # within the session, from 0
    think_ns: int | None = None  # end of the session's previous turn to this arrival
    tenant: str | None = None
    model: str | None = None
    request_id: str | None = None
    retry_of: str | None = None  # request_id of the attempt before
    prefix_ids: Sequence[Hashable] | None = None  # one a block, each standing for all before it
    images: int | None = None
    audio_ns: int | None = None  # length of the audio in the request
    repeat: int = 1  # so many equal requests, evenly spread over `spread_ns`
    spread_ns: int = 0
    input_remainder: int = 0  # tokens that the first `input_remainder` repeats have more, one each
    output_remainder: int = 0
