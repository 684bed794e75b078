"""Connections that wait for requests, and requests that wait for connections."""

import asyncio
import sys
from collections import deque
from typing import Final, Protocol

from vramledger.trial.wire.connection import Connection
from vramledger.trial.wire.desk import Desk
from vramledger.trial.wire.dial import Dialer, DialError
from vramledger.trial.wire.limits import Limits

_AT_ONCE: Final = (
    64  # connections that are being opened at a time; more would fill the server's backlog
)


class Taker(Protocol):
    """Wants a connection."""

    def connected(self, connection: Connection) -> None:
        """Here it is."""

    def unconnected(self, failure: str) -> None:
        """There is none; `failure` is the class of the reason."""


class Pool:
    """Keeps connections open and opens new ones ahead of need.

    `spare` is how many should lie ready, `most` how many there may be in all. The connection used last is used next, so that those
    not needed age together. Takers are served in the order in which they came.
    """

    def __init__(self, dialer: Dialer, desk: Desk, limits: Limits, most: int | None = None) -> None:
        self._dialer, self._desk, self._limits = dialer, desk, limits
        self._most = sys.maxsize if most is None else most
        self._ready: dict[Connection, None] = {}  # in the order of their last use
        self._waiting: deque[Taker] = deque()
        self._opening: set[asyncio.Task[None]] = set()
        self._all: set[Connection] = set()
        self._closed = False
        self._gone: asyncio.Future[None] | None = None  # set when the last connection is
        self.spare = 0
        self.opened = 0
        self.refused = 0
        self.most_open = 0

    @property
    def open(self) -> int:
        """Connections that are open."""
        return len(self._all)

    def take(self, taker: Taker) -> None:
        """Give the taker a connection, now or when there is one."""
        if self._ready:
            taker.connected(self._ready.popitem()[0])
        else:
            self._waiting.append(taker)
        if self._short > 0:
            self.keep_ahead()

    def take_new(self, taker: Taker) -> None:
        """Give the taker a connection that was never used."""
        if self._closed:
            return
        self._start(taker)

    def give(self, connection: Connection) -> None:
        """A connection may carry another request."""
        connection.rested = True
        if connection.lost:
            self._all.discard(connection)
        elif self._waiting:
            self._waiting.popleft().connected(connection)
        else:
            self._ready[connection] = None

    def withdraw(self, taker: Taker) -> None:
        """The taker wants none any more."""
        if taker in self._waiting:
            self._waiting.remove(taker)

    def keep_ahead(self) -> None:
        """Open connections until enough lie ready or are on their way."""
        while not self._closed and self._short > 0 and len(self._opening) < _AT_ONCE:
            self._start(None)

    async def filled(self) -> None:
        """Until the spare connections lie ready, or one could not be opened."""
        refused = self.refused
        self.keep_ahead()
        while len(self._ready) < self.spare and self.refused == refused and self._opening:
            await asyncio.wait(self._opening, return_when=asyncio.FIRST_COMPLETED)

    async def close(self) -> None:
        """Close everything."""
        self._closed = True
        for task in self._opening:
            task.cancel()
        await asyncio.gather(*self._opening, return_exceptions=True)
        for connection in self._all:
            connection.close()
        if self._all:
            self._gone = asyncio.get_running_loop().create_future()
            await self._gone

    @property
    def _short(self) -> int:
        opening = len(self._opening)
        wanted = self.spare + len(self._waiting) - len(self._ready) - opening
        return min(wanted, self._most - len(self._all) - opening)

    def _start(self, taker: Taker | None) -> None:
        task = asyncio.get_running_loop().create_task(self._open(taker))
        self._opening.add(task)
        task.add_done_callback(self._settled)

    def _settled(self, task: asyncio.Task[None]) -> None:
        self._opening.discard(task)
        self.keep_ahead()

    async def _open(self, taker: Taker | None) -> None:
        try:
            connection = await self._dialer.dial(self._made)
        except DialError as error:
            self._none(error.failure, taker)
            return
        self.opened += 1
        self._all.add(connection)
        self.most_open = max(self.most_open, len(self._all))
        if taker is not None:
            taker.connected(connection)
        else:
            self.give(connection)

    def _none(self, failure: str, taker: Taker | None) -> None:
        self.refused += 1
        if taker is None and self._waiting:
            taker = self._waiting.popleft()
        if taker is not None:
            taker.unconnected(failure)
        else:
            self.spare = 0  # whoever needs one next will hear why there is none

    def _made(self) -> Connection:
        return Connection(self._desk, self._limits, self.give, self._lost)

    def _lost(self, connection: Connection) -> None:
        self._ready.pop(connection, None)
        self._all.discard(connection)
        if not self._all and self._gone is not None and not self._gone.done():
            self._gone.set_result(None)
