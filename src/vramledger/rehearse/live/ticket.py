"""One request that the simulated engine serves, and when what happened to it."""

from typing import Protocol

from vramledger.simulate.request import Arrival, Request


class Receiver(Protocol):
    """Who is told of a request's tokens; times are simulated nanoseconds."""

    @property
    def finish(self) -> str:
        """Why its answer ends: "stop" or "length"."""

    @property
    def max_tokens(self) -> int:
        """The most tokens it asked for."""

    def tokens(self, count: int, now: int, *, last: bool) -> None:
        """So many more tokens, the last ones where `last` is true."""


class Ticket:
    """What is kept of a request from its arrival to its end.

    Times are simulated nanoseconds, None for what has not happened. `preemptions_told` of the request's preemptions
    are on the metrics page, which counts one only when the request brings its next token.
    """

    __slots__ = (
        "arrival",
        "delivered",
        "first_ns",
        "hit_tokens",
        "last_ns",
        "left",
        "number",
        "preemptions_told",
        "queued_ns",
        "received_ns",
        "receiver",
        "request",
        "scheduled_ns",
    )

    def __init__(self, number: int, received_ns: int, arrival: Arrival, receiver: Receiver) -> None:
        self.number = number
        self.received_ns = received_ns
        self.arrival = arrival
        self.receiver = receiver
        self.request: Request | None = None  # once it has arrived at the engine
        self.left = False  # its client has gone
        self.queued_ns: int | None = None
        self.scheduled_ns: int | None = None
        self.first_ns: int | None = None
        self.last_ns: int | None = None
        self.hit_tokens = 0
        self.delivered = 0
        self.preemptions_told = 0

    def __lt__(self, other: "Ticket") -> bool:
        return (self.arrival.arrival_ns, self.number) < (other.arrival.arrival_ns, other.number)
