"""One client's connection and the one to A that belongs to it: what either sends goes to the other at once, as it came.

A connection of a client is one to A, for as long as either keeps it: keep-alive, closing, resets and whatever is sent ahead mean to
A what they mean without the proxy. Only `Host` is A's own. Whoever reads slowly slows the other down, so that no more
than a buffer is held. What looks on does so after the bytes have gone: in the next round of the event loop, as what is written goes at the
end of this one.
"""

import asyncio
import json
import socket
import struct
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final, cast

from vramledger.methods.mirror.front import Front
from vramledger.methods.mirror.passing import Onlooker
from vramledger.methods.mirror.requests import Requests, Unreadable, Whole
from vramledger.methods.mirror.responses import Responses
from vramledger.trial.wire.dial import Dialer, DialError
from vramledger.trial.wire.failures import named

_CLOCK: Final = time.monotonic_ns
_AT_ONCE: Final = struct.pack("ii", 1, 0)  # SO_LINGER: closing resets
_BUFFER: Final = 256 << 10


class ServerSide(asyncio.Protocol):
    """The connection to A."""

    def __init__(self, client: "ClientSide") -> None:
        self._client = client
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It is open."""
        self.transport = cast("asyncio.Transport", transport)
        self.transport.set_write_buffer_limits(high=_BUFFER)

    def data_received(self, data: bytes) -> None:
        """To the client; then whoever looks on."""
        now = _CLOCK()
        self._client.write(data)
        self._client.seen(data, now)

    def pause_writing(self) -> None:
        """A reads slowly."""
        self._client.pause_reading()

    def resume_writing(self) -> None:
        """A reads again."""
        self._client.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """A ended it."""
        self._client.server_gone(exc)


class ClientSide(asyncio.Protocol):
    """The connection of a client; it is among `open_ones` while it lasts."""

    def __init__(
        self,
        dialer: Dialer,
        front: Front,
        onlooker: Onlooker,
        open_ones: "set[ClientSide]",
    ) -> None:
        self._dialer, self._onlooker = dialer, onlooker
        self._responses = Responses(onlooker)
        self._requests = Requests(front, onlooker, self._responses)
        self._open_ones = open_ones
        self._server: ServerSide | None = None
        self._unreached: str | None = None
        self._early: list[bytes] | None = []  # what came before A was there
        self._blind = False
        self._over = False
        self._looks: deque[Callable[[], None]] = deque()  # in the order of what passed

    # The event loop calls these.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client is there; what it sends waits until A is."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=_BUFFER)
        _undelayed(self._transport)
        self._open_ones.add(self)
        self._connecting = asyncio.get_running_loop().create_task(self._connect())

    def data_received(self, data: bytes) -> None:
        """To A; then whoever looks on."""
        self._catch_up()
        if self._early is not None:
            self._early.append(data)
            self.pause_reading()
            return
        server = self._server
        try:
            out = self._requests.feed(data)
        except Unreadable as error:
            self._say_no(error.status, "What was sent is no HTTP/1.1 request.")
            return
        if server is None or server.transport is None:
            if self._unreached is not None and not self._requests.in_request:
                self._say_no(b"502 Bad Gateway", _why(self._unreached))
            return
        if out:
            server.transport.write(out)
        if self._requests.is_raw:
            self._responses.stop()
        if self._requests.whole:
            whole, self._requests.whole = self._requests.whole, []
            self._later(partial(self._look_at, whole, _CLOCK()))

    def eof_received(self) -> bool:
        """The client sends no more, and most often has gone: A is told the same, and decides."""
        self._catch_up()
        self._responses.give_up()
        transport = self._server.transport if self._server is not None else None
        if transport is None or not transport.can_write_eof():
            return False
        if not transport.is_closing():
            transport.write_eof()
        return True

    def pause_writing(self) -> None:
        """The client reads slowly."""
        if self._server is not None and self._server.transport is not None:
            self._server.transport.pause_reading()
        for each in self._responses.outstanding:
            if each.heard is not None:
                each.heard.slowed = True

    def resume_writing(self) -> None:
        """The client reads again."""
        if self._server is not None and self._server.transport is not None:
            self._server.transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone: so is the connection to A, and at once where an answer was under way."""
        self._catch_up()
        self._over = True
        self._open_ones.discard(self)
        transport = self._server.transport if self._server is not None else None
        if transport is not None:
            if exc is not None or self.busy:
                transport.abort()
            else:
                transport.close()
        self._responses.give_up()

    # The other side and the owner call these.

    @property
    def busy(self) -> bool:
        """Whether a request or its answer is under way."""
        return bool(self._early) or self._requests.in_request or bool(self._responses.outstanding)

    def write(self, data: bytes) -> None:
        """Bytes of A."""
        self._transport.write(data)

    def seen(self, data: bytes, now: int) -> None:
        """The same bytes, for whoever looks on."""
        if not self._blind:
            self._later(partial(self._see, data, now))

    def _later(self, look: Callable[[], None]) -> None:
        if not self._looks:
            asyncio.get_running_loop().call_soon(self._catch_up)
        self._looks.append(look)

    def _catch_up(self) -> None:
        while self._looks:
            self._looks.popleft()()

    def _see(self, data: bytes, now: int) -> None:
        if self._blind:
            return
        try:
            self._responses.feed(data, now)
        except Exception:  # noqa: BLE001 - no fault of ours in looking on may reach the client
            self._lose_sight()

    def pause_reading(self) -> None:
        """Take no more from the client for now."""
        if not self._transport.is_closing():
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Take more from the client."""
        if not self._transport.is_closing():
            self._transport.resume_reading()

    def server_gone(self, error: Exception | None) -> None:
        """A ended its connection: so does this one, with a reset where A's was one."""
        self._catch_up()
        self._responses.closed(error, _CLOCK())
        if self._over:
            return
        if error is None:
            self._transport.close()
        else:
            self.reset()

    def end(self) -> None:
        """Close it: no request is under way."""
        if not self._over:
            self._transport.close()

    def reset(self) -> None:
        """End it at once."""
        if not self._over:
            place = self._transport.get_extra_info("socket")
            if place is not None:
                place.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
            self._transport.abort()

    async def _connect(self) -> None:
        try:
            server = await self._dialer.dial(lambda: ServerSide(self))
        except DialError as error:
            self._unreached = error.failure
            self._onlooker.unreached(error.failure)
        else:
            self._server = server
            if self._over and server.transport is not None:
                server.transport.abort()
        early, self._early = self._early or [], None
        if not self._over:
            for each in early:
                self.data_received(each)
            self.resume_reading()

    def _look_at(self, whole: list[Whole], now: int) -> None:
        """What a client asked, once it has gone to A."""
        for each in whole:
            if each.passing.begun or self._blind:
                continue  # answered before it was asked: refused by its head
            try:
                heard = self._onlooker.asked(each.path, each.headers, each.body)
            except Exception:  # noqa: BLE001 - as above
                self._lose_sight()
                return
            if heard is not None:
                heard.sent_ns = now
                each.passing.heard = heard

    def _lose_sight(self) -> None:
        self._blind = True
        self._responses.stop()

    def _say_no(self, status: bytes, why: str) -> None:
        """An answer of the proxy's own, and the end of the connection."""
        body = json.dumps(
            {"error": {"message": why, "type": "mirror", "code": int(status[:3])}}
        ).encode()
        self._transport.write(
            b"HTTP/1.1 %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%b"
            % (status, len(body), body)
        )
        self._transport.close()


def _why(failure: str) -> str:
    return f"The server behind this mirror cannot be reached. {named(failure).sentence}"


def _undelayed(transport: asyncio.Transport) -> None:
    place = transport.get_extra_info("socket")
    if place is not None:
        place.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
