"""The simulated engine driven by the wall clock: everything happens when its simulated time has come."""

import asyncio
import heapq
import time
from collections.abc import Callable
from typing import Final

from vramledger.rehearse.live.alarm import Alarm, alarm
from vramledger.rehearse.live.clock import Clock
from vramledger.rehearse.live.live_loop import LiveLoop
from vramledger.rehearse.live.ticket import Ticket
from vramledger.simulate.view import Kind

_SLICE_NS: Final = 5_000_000  # simulated at a stretch before sockets are looked at again


class Driver:
    """Gives tickets to the engine when they arrive, and lets it go on up to the present.

    `late` is told, in seconds, how far behind its time each thing happened; `failed` what stopped the engine for good.
    """

    def __init__(
        self,
        engine: LiveLoop,
        clock: Clock,
        loop: asyncio.AbstractEventLoop,
        late: Callable[[float], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self.engine, self.clock = engine, clock
        self._late, self._failed = late, failed
        self._coming: list[Ticket] = []  # a heap by arrival
        self._sent_ns = 0  # the arrival sent last
        self._alarm: Alarm | None = alarm(loop, self._ring)

    @property
    def earliest_ns(self) -> int:
        """The simulated time before which no request can arrive any more."""
        return max(self.engine.now, self._sent_ns)

    def submit(self, ticket: Ticket) -> None:
        """A request will arrive at its time, which is not before `earliest_ns`."""
        heapq.heappush(self._coming, ticket)
        self._wind()

    def leave(self, ticket: Ticket) -> None:
        """The client of a request has gone."""
        ticket.left = True
        if ticket.request is not None:
            self.engine.leave(ticket.request, max(self.clock.now, self.engine.now))
            self._wind()

    def close(self) -> None:
        """Nothing happens any more."""
        if self._alarm is not None:
            self._alarm.close()
            self._alarm = None

    def _ring(self) -> None:
        """What is due happens, a few milliseconds of it at most before others have their turn."""
        until = time.monotonic_ns() + _SLICE_NS
        try:
            while self._go_on(self.clock.now) and time.monotonic_ns() < until:
                pass
        except Exception as error:  # noqa: BLE001 - whatever it is, the server ends with it
            self.close()
            self._failed(error)
        self._wind()

    def _go_on(self, now: int) -> bool:
        """The next thing, where it is due: an arrival, or what the engine does before it."""
        engine, moment = self.engine, self.engine.next_moment
        arrives = self._coming[0].arrival.arrival_ns if self._coming else None
        if arrives is not None and arrives <= now and (moment is None or moment.ns >= arrives):
            engine.advance(arrives)
            ticket = heapq.heappop(self._coming)
            self._sent_ns = arrives
            if not ticket.left:
                engine.serve(ticket)
            return True
        if moment is None or moment.ns >= now:
            return False
        self._late(self.clock.seconds(now - moment.ns))
        engine.advance(min(moment.ns + 1, now))
        return True

    def _wind(self) -> None:
        """Set the alarm to the next thing; a turn begins only after its own instant."""
        if self._alarm is None:
            return
        moment = self.engine.next_moment
        due = [] if moment is None else [moment.ns + (moment.kind is Kind.TURN)]
        due += [self._coming[0].arrival.arrival_ns] if self._coming else []
        self._alarm.set(self.clock.monotonic(min(due)) if due else None)
