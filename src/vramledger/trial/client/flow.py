"""Which request is sent when: at its own time (open loop), or as soon as one of N has ended (closed loop).

Requests are read from the load ahead of time, in the breaks, because making their bodies takes a while.
"""

import time
from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from itertools import count, islice
from typing import Final

from vramledger.frozen import frozen
from vramledger.trial.client.turns import Turns
from vramledger.trial.client.wakeup import wake_up
from vramledger.trial.planned import PlannedRequest

_CLOCK: Final = time.monotonic_ns
_AHEAD_NS: Final = 3_000_000_000
_AHEAD_BYTES: Final = 48 << 20
_AHEAD: Final = 2_048  # requests without a time of their own
_READ_NS: Final = 300_000  # of reading the load at a time
_SEND_NS: Final = 1_000_000  # of sending at a time; then the sockets have their turn


@frozen
class Ready:
    """A request that waits for its time."""

    due_ns: int
    order: int
    planned: PlannedRequest

    def __lt__(self, other: "Ready") -> bool:
        return (self.due_ns, self.order) < (other.due_ns, other.order)


class Flow:
    """Sends a load.

    `closed` is how many are under way at a time, None for an open loop. `send` writes a request. In a closed loop a request is due when the one before it in its place ended, a
    later turn not before its person has thought.
    """

    def __init__(
        self,
        loop: AbstractEventLoop,
        load: Iterator[PlannedRequest],
        send: Callable[[Ready], None],
        closed: int | None,
    ) -> None:
        self._loop, self._load, self._send = loop, load, send
        self._free = closed  # places of a closed loop that nobody has
        self._turns = Turns(0)
        self._agenda: list[Ready] = []  # by the time they are due
        self._line: deque[Ready] = deque()  # in a closed loop: whose turn can come any time
        self._order = count()
        self._bytes = 0
        self._read_until_ns = 0
        self._timer = wake_up(loop, self.go_on)
        self.exhausted = False
        self.started = False
        self.stopped = False
        if closed == 0:
            self.stop()

    @property
    def finished(self) -> bool:
        """Whether nothing is left to send."""
        nothing = not (self._agenda or self._line or self._turns.waiting)
        return self.stopped or (self.exhausted and nothing)

    @property
    def due_soon(self) -> int:
        """Requests that are read and wait to be sent."""
        return len(self._agenda) + len(self._line)

    def due_within(self, nanoseconds: int) -> int:
        """How many are due until then, as far as is read."""
        end = (_CLOCK() if self.started else self._turns.start_ns) + nanoseconds
        return sum(ready.due_ns <= end for ready in islice(self._agenda, _AHEAD))

    def start(self, start_ns: int) -> None:
        """Second 0 of the load is at this moment; what was read before counts from there."""
        if self.stopped:
            return
        shift = start_ns - self._turns.start_ns
        self._turns.start_ns = start_ns
        self._read_until_ns += shift
        self._agenda = [_later(ready, shift) for ready in self._agenda]  # stays a heap
        self._line = deque(_later(ready, shift) for ready in self._line)
        self.started = True
        self._timer.at(start_ns)

    def stop(self) -> None:
        """Send nothing more."""
        if not self.stopped:
            self.stopped = True
            self._timer.close()
            self._agenda.clear()
            self._line.clear()

    def read_ahead(self) -> bool:
        """Read some of the load; whether there is more to read now."""
        end = _CLOCK() + _READ_NS
        while self._wants_more():
            self._read_one()
            if _CLOCK() > end:
                return True
        return False

    def read_all_ahead(self) -> None:
        """Read as much as is ever read ahead."""
        while self.read_ahead():
            pass

    def ended(self, planned: PlannedRequest, now_ns: int) -> None:
        """A request has ended: whose place is free, and whose predecessor is gone?"""
        following = self._turns.ended(planned, now_ns)
        if self.stopped:
            return
        if following is not None:
            self._put(following, self._turns.following_ns(following, now_ns))
        if self._free is not None:
            self._free += 1
            self._fill(now_ns, 1)
        if following is not None:
            self.go_on()

    def go_on(self) -> None:
        """Send what is due, and be woken for what is due next."""
        if self.stopped or not self.started:
            return
        end = _CLOCK() + _SEND_NS
        while (now := _CLOCK()) < end:
            ready = self._next_due(now)
            if ready is None:
                break
            if self._free is None:
                self._go(ready)
            else:
                self._line.append(ready)
        else:
            self._loop.call_soon(self.go_on)
            return
        if self._free:
            self._fill(self._turns.start_ns, self._free)
        if self._agenda:
            self._timer.at(self._agenda[0].due_ns)

    def _next_due(self, now: int) -> Ready | None:
        """The next whose time has come; of a load that is read too slowly, the next at all."""
        while self._read_until_ns <= now and not self.exhausted and self._free is None:
            self._read_one()
        if self._agenda and self._agenda[0].due_ns <= now:
            return heappop(self._agenda)
        return None

    def _fill(self, since_ns: int, most: int) -> None:
        """Give up to so many free places of a closed loop to whose turn it is; they are due since then."""
        end = _CLOCK() + _SEND_NS
        while self._free and most > 0 and not self.stopped:
            if _CLOCK() > end:
                self._loop.call_soon(self._fill, since_ns, most)
                return
            most -= 1
            while not self._line and not self.exhausted:
                self._read_one()
            if not self._line:
                return
            ready = self._line.popleft()
            self._free -= 1
            due_ns = max(ready.due_ns, since_ns)
            self._go(Ready(due_ns, ready.order, ready.planned))

    def _go(self, ready: Ready) -> None:
        self._bytes -= len(ready.planned.body)
        self._send(ready)

    def _wants_more(self) -> bool:
        if self.exhausted or self.stopped or self._bytes >= _AHEAD_BYTES:
            return False
        if self._free is not None:
            return len(self._line) < _AHEAD
        now = _CLOCK() if self.started else 0
        return self._read_until_ns < now + _AHEAD_NS

    def _read_one(self) -> None:
        planned = next(self._load, None)
        if planned is None:
            self.exhausted = True
            return
        due_ns = self._turns.due_ns(planned)
        if planned.due_s is not None:
            own = self._turns.start_ns + round(planned.due_s * 1e9)
            self._read_until_ns = max(self._read_until_ns, own)
        if due_ns is not None:
            self._put(planned, due_ns)

    def _put(self, planned: PlannedRequest, due_ns: int) -> None:
        self._bytes += len(planned.body)
        ready = Ready(due_ns, next(self._order), planned)
        if self._free is not None and planned.due_s is None and planned.think_s is None:
            self._line.append(ready)
        else:
            heappush(self._agenda, ready)
            if self.started and self._agenda[0] is ready:
                self._timer.at(due_ns)


def _later(ready: Ready, shift_ns: int) -> Ready:
    return Ready(ready.due_ns + shift_ns, ready.order, ready.planned)
