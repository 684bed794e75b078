"""How a request ended, in the words every table uses."""

from enum import StrEnum


class Outcome(StrEnum):
    """One for each request; a log that does not say is UNKNOWN, never OK."""

    OK = "ok"  # ended as asked
    FAILED = "failed"  # the server said so
    REJECTED = "rejected"  # refused before it ran: too long, over a quota, overloaded
    CANCELLED = "cancelled"  # the client gave up
    TIMED_OUT = "timed_out"  # a limit of time ended it
    INCOMPLETE = "incomplete"  # the stream ended before the answer did
    UNKNOWN = "unknown"  # the log does not say


def of_status(status: int) -> Outcome:
    """The outcome that an HTTP status tells. 499 is nginx's: the client closed the connection.

    A redirection sends the request elsewhere, so that here it did not run.
    """
    if status in _STATUSES:
        return _STATUSES[status]
    if 200 <= status < 300:
        return Outcome.OK
    if 300 <= status < 400:
        return Outcome.REJECTED
    return Outcome.FAILED if status >= 400 else Outcome.UNKNOWN


_STATUSES = {
    0: Outcome.INCOMPLETE,  # Envoy: no response was sent
    400: Outcome.REJECTED,
    401: Outcome.REJECTED,
    403: Outcome.REJECTED,
    404: Outcome.REJECTED,
    408: Outcome.TIMED_OUT,
    413: Outcome.REJECTED,
    422: Outcome.REJECTED,
    429: Outcome.REJECTED,
    499: Outcome.CANCELLED,
    503: Outcome.REJECTED,
    504: Outcome.TIMED_OUT,
}
