"""The client: it sends what is due, watches what is under way, and writes down what became of it."""

import asyncio
import time
from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from vramledger.trial.client.attempt import CANCELLED, Attempt
from vramledger.trial.client.counts import Counts
from vramledger.trial.client.flow import Flow, Ready
from vramledger.trial.client.health import Health, Pulse
from vramledger.trial.client.pool import Pool
from vramledger.trial.client.recorded import CountText, record_of
from vramledger.trial.client.watch import lingers, overdue
from vramledger.trial.client.without_key import Rows, WithoutKey
from vramledger.trial.planned import PlannedRequest
from vramledger.trial.wire.connection import Connection
from vramledger.trial.wire.desk import Desk
from vramledger.trial.wire.dial import Dialer
from vramledger.trial.wire.limits import Limits
from vramledger.trial.wire.reply import Reply
from vramledger.trial.wire.target import Target, is_secret, key_of, request_head

_CLOCK: Final = time.monotonic_ns
_WATCH_S: Final = 0.1
_SPARE: Final = 8
_MOST_SPARE: Final = 512
_MOST_UNWRITTEN: Final = 1_000
_SOON_NS: Final = 250_000_000
_PAUSE_S: Final = 0.1  # of a place of a closed loop for which there was no connection
RUN_ENDED: Final = "run_ended"


class Client:
    """Sends one load to one target; to be made inside a running event loop.

    What the load or the sink raises ends the run and comes out of it.

    Args:
        target: where to.
        load: what, in the order in which it is due.
        sink: where the records go.
        zero_ns: second 0 of the run.
        closed: requests under way at a time; None for an open loop.
        limits: what is borne.

    Raises:
        BadInput: the target or its key cannot be used.
    """

    def __init__(
        self,
        target: Target,
        load: Iterator[PlannedRequest],
        sink: Rows,
        zero_ns: int,
        closed: int | None = None,
        limits: Limits | None = None,
        count: CountText | None = None,
    ) -> None:
        loop = asyncio.get_running_loop()
        key = key_of(target)
        self._limits = limits or Limits()
        self._sink = WithoutKey(sink, key) if key is not None and is_secret(key) else sink
        self._zero_ns, self._closed = zero_ns, closed
        self._count = count
        self._desk = Desk(loop)
        dialer = Dialer(target, self._limits)
        self.head = request_head(target, dialer.route, key)
        self.trace = target.trace
        self._pool = Pool(dialer, self._desk, self._limits, closed)
        self._flow = Flow(loop, load, self._send, closed)
        self._loop = loop
        self._pulse = Pulse(loop)
        self._open: set[Attempt] = set()
        self._done = loop.create_future()
        self._unwritten: deque[Attempt] = deque()  # have ended, are not in the record
        self._unread_ns = self._reopened = 0
        self.counts = Counts(key)

    async def prepare(self) -> None:
        """Open connections and read the beginning of the load."""
        self._flow.read_all_ahead()
        self._keep_spare()
        await self._pool.filled()

    async def run(self, start_ns: int) -> None:
        """Send the load, second 0 of which is at `start_ns`, until everything has ended."""
        self._pulse.start()
        self._loop.set_exception_handler(self._in_a_callback)
        self._flow.start(start_ns)
        self._desk.when_idle(self._in_a_break)
        watching = self._loop.create_task(self._watch())
        watching.add_done_callback(self._watched)
        self._check_done()
        try:
            await self._done
        finally:
            watching.cancel()
            self._pulse.stop()
            self._flow.stop()
            self._cut(RUN_ENDED)
            await self._pool.close()
            self._loop.set_exception_handler(None)
        self._write_all()

    def drain(self) -> None:
        """Send nothing more; what is under way may end."""
        self._flow.stop()
        self._check_done()

    def cancel(self) -> None:
        """Send nothing more and give up what is under way."""
        self._flow.stop()
        self._cut(RUN_ENDED)
        self._check_done()

    @property
    def health(self) -> Health:
        """How the client itself has been so far."""
        return self._pulse.health(
            self.counts.late,
            self.counts.whole_ttft,
            self._unread_ns,
            self._pool.most_open,
            self._reopened,
            self.counts.failures.get("no_sockets", 0),
        )

    @property
    def unsent(self) -> int:
        """Requests that were read from the load and are not sent."""
        return self._flow.due_soon

    # An attempt calls these.

    def want_connection(self, attempt: Attempt, *, new: bool) -> None:
        """Give it a connection as soon as there is one."""
        if new:
            self._reopened += 1
            self._pool.take_new(attempt)
        else:
            self._pool.take(attempt)

    def want_none(self, attempt: Attempt) -> None:
        """It waits for no connection any more."""
        self._pool.withdraw(attempt)

    def take_back(self, connection: Connection) -> None:
        """A connection that is not needed after all."""
        self._pool.give(connection)

    def new_reply(self, attempt: Attempt) -> Reply:
        """An empty reply that tells the attempt when it has ended."""
        return Reply(self._limits, attempt.replied, keep_text=self._count is not None)

    def attempt_ended(self, attempt: Attempt) -> None:
        """Let the load go on; writing down what became of it has time."""
        self._open.discard(attempt)
        if attempt.leaves is not None:
            attempt.leaves.cancel()
        self.counts.in_flight -= 1
        self._leave_place(attempt)
        self._unwritten.append(attempt)
        if len(self._unwritten) == 1:
            self._desk.when_idle(self._in_a_break)
        elif len(self._unwritten) > _MOST_UNWRITTEN and not self._done.done():
            self._write_one()
        self._check_done()

    def _leave_place(self, attempt: Attempt) -> None:
        """Its place is free; a client of a closed loop does not run against a closed door without a pause."""
        if self._closed is None or attempt.connected_ns is not None:
            self._flow.ended(attempt.planned, attempt.ended_ns or _CLOCK())
        else:
            self._loop.call_later(_PAUSE_S, self._place_free, attempt)

    def _place_free(self, attempt: Attempt) -> None:
        self._flow.ended(attempt.planned, _CLOCK())
        self._check_done()

    def _in_a_break(self) -> bool:
        """Do a little of what has time; whether there is more."""
        if self._unwritten:
            self._write_one()
        return self._flow.read_ahead() or bool(self._unwritten)

    def _write_one(self) -> None:
        attempt = self._unwritten.popleft()
        record = record_of(attempt, self._zero_ns, self._count)
        self._note_lateness(attempt)
        self.counts.add(record, attempt.reply.message if attempt.reply is not None else b"")
        self._sink.append(record)

    def _write_all(self) -> None:
        while self._unwritten:
            self._write_one()

    def _send(self, ready: Ready) -> None:
        planned = ready.planned
        attempt = Attempt(self, planned, ready.due_ns)
        self._open.add(attempt)
        self.counts.sent += 1
        self.counts.in_flight += 1
        if planned.cancel_after_s is not None:
            ending = "client_timeout" if planned.times_out else CANCELLED
            left_s = (ready.due_ns - _CLOCK()) / 1e9 + planned.cancel_after_s
            leave = partial(attempt.leave, ending)
            attempt.leaves = self._loop.call_later(max(left_s, 0.0), leave)
        attempt.begin()

    def _note_lateness(self, attempt: Attempt) -> None:
        """How late it was sent by our own doing: the wait for a connection is left out."""
        reply = attempt.reply
        if reply is None or reply.sent_ns is None or attempt.connected_ns is None:
            return
        waited = attempt.connected_ns - attempt.asked_ns
        self.counts.late.add(max(reply.sent_ns - attempt.due_ns - waited, 0) / 1e9)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_WATCH_S)
            self._write_all()
            now = _CLOCK()
            for attempt in tuple(self._open):
                self._look_at(attempt, now)
            self._keep_spare()
            self._desk.when_idle(self._in_a_break)
            self._check_done()

    def _look_at(self, attempt: Attempt, now: int) -> None:
        connection = attempt.connection
        if connection is not None:
            self._unread_ns = max(self._unread_ns, connection.worst_wait_ns)
        ending = overdue(attempt, self._limits, now)
        if ending is not None:
            attempt.leave(ending)
        elif lingers(attempt, self._limits, now):
            attempt.complete()
        elif not attempt.begun:
            attempt.begun = True
            self._sink.begin(record_of(attempt, self._zero_ns))
        else:
            attempt.forget_body()

    def _keep_spare(self) -> None:
        """In a closed loop as many as there are places; in an open one a tenth of what is open, or what is due soon."""
        if self._closed is not None:
            self._pool.spare = max(self._closed - len(self._open), 0)
        else:
            soon = max(_SPARE, self._pool.open // 10, self._flow.due_within(_SOON_NS))
            self._pool.spare = min(soon, _MOST_SPARE)
        self._pool.keep_ahead()

    def _cut(self, ending: str) -> None:
        for attempt in tuple(self._open):
            attempt.leave(ending)

    def _in_a_callback(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, Exception):
            self._fail(error)
        else:
            loop.default_exception_handler(context)

    def _watched(self, watching: asyncio.Task[None]) -> None:
        error = None if watching.cancelled() else watching.exception()
        if isinstance(error, Exception):
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        if not self._done.done():
            self._done.set_exception(error)

    def _check_done(self) -> None:
        if self._flow.finished and not self._open and not self._done.done():
            self._done.set_result(None)
