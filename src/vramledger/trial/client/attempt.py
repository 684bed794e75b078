"""One request under way: it waits for a connection, is sent, is answered or given up, and ends once."""

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol

from vramledger.trial.planned import PlannedRequest
from vramledger.trial.stages.told import traced_head
from vramledger.trial.wire.connection import Connection
from vramledger.trial.wire.reply import Reply

if TYPE_CHECKING:
    from asyncio import TimerHandle

_CLOCK: Final = time.monotonic_ns
_UNANSWERED: Final = frozenset({"closed_early", "reset"})
CANCELLED: Final = "cancelled"  # no failure: the workload's client went away as planned


class Office(Protocol):
    """What an attempt needs of the client that makes it; `head` begins every request, up to the body's length.

    `trace` is what requests are told apart by in other programs' logs, None where they are not.
    """

    head: bytes
    trace: str | None

    def want_connection(self, attempt: "Attempt", *, new: bool) -> None:
        """Give it a connection as soon as there is one."""

    def want_none(self, attempt: "Attempt") -> None:
        """It waits for no connection any more."""

    def take_back(self, connection: Connection) -> None:
        """A connection that is not needed after all."""

    def new_reply(self, attempt: "Attempt") -> Reply:
        """An empty reply that tells the attempt when it has ended."""

    def attempt_ended(self, attempt: "Attempt") -> None:
        """It has ended."""


class Attempt:
    """`due_ns` is when it should be sent, `asked_ns` when it asked for a connection, `connected_ns` when it had one.

    `ending` is how it ended: a class of failure, `cancelled`, or None for a response that is complete.
    `ended_ns` is when, None while it is under way; `begun` is whether the record knows that it is.
    """

    __slots__ = (
        "_office", "asked_ns", "begun", "connected_ns", "connection", "due_ns", "ended_ns", "ending", "leaves",
        "planned", "reply", "resent",
    )  # fmt: skip

    def __init__(self, office: Office, planned: PlannedRequest, due_ns: int) -> None:
        self._office = office
        self.planned, self.due_ns = planned, due_ns
        self.asked_ns = _CLOCK()
        self.connected_ns: int | None = None
        self.connection: Connection | None = None
        self.reply: Reply | None = None
        self.ending: str | None = None
        self.ended_ns: int | None = None
        self.begun = self.resent = False
        self.leaves: TimerHandle | None = None  # of a planned leaving

    def begin(self) -> None:
        """Ask for a connection and send."""
        self._office.want_connection(self, new=False)

    def connected(self, connection: Connection) -> None:
        """Send on this connection."""
        if self.ended_ns is not None:
            self._office.take_back(connection)
            return
        self.connection = connection
        self.connected_ns = _CLOCK()
        self.reply = self._office.new_reply(self)
        head, trace = self._office.head, self._office.trace
        if trace is not None:
            head = traced_head(head, trace, self.planned.number)
        connection.send(head, self.planned.body, self.reply)

    def unconnected(self, failure: str) -> None:
        """There is no connection to be had."""
        self._end(failure, _CLOCK())

    def replied(self) -> None:
        """The reply has ended.

        A connection that the server had closed while nothing was asked is no failure of the server: the request
        is sent once more, on a new one. Nothing else is ever sent twice.
        """
        reply, connection = self.reply, self.connection
        if reply is None or connection is None:
            return
        if reply.failure in _UNANSWERED and connection.stale and not self.resent:
            self.resent = True
            self.reply = self.connection = None
            self._office.want_connection(self, new=True)
            return
        self._end(reply.failure, reply.finished_ns or _CLOCK())

    def forget_body(self) -> None:
        """Let go of the bytes once they cannot be needed again."""
        reply = self.reply
        if reply is not None and reply.headers_ns is not None and self.planned.body:
            self.planned = replace(self.planned, body=b"")

    def complete(self) -> None:
        """Take the answer as complete although the response goes on."""
        if self.connection is not None and self.reply is not None:
            self.connection.close()
            self.reply.end(_CLOCK(), orderly=True)

    def leave(self, ending: str) -> None:
        """Give it up now."""
        if self.ended_ns is not None:
            return
        connection = self.connection
        if connection is None:
            self._office.want_none(self)
        else:
            connection.read()  # what came before this moment counts
            connection.close_for(self.reply)
        self._end(ending, _CLOCK())

    def _end(self, ending: str | None, now: int) -> None:
        if self.ended_ns is None:
            self.ending, self.ended_ns = ending, now
            self.connection = None
            self._office.attempt_ended(self)
