"""One connection of a client: requests one after another, a response each, and the news that the client has gone.

Own bytes over httptools instead of a web framework: a token is written from the step that brought it, in half of
aiohttp's CPU time (9 % of a core against 20 % for 256 streams of 50 tokens a second), its true time is known as soon as
the kernel has it, and faults may break any byte.
"""

import asyncio
import socket
import struct
import time
from collections import deque
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

import httptools

from vramledger.rehearse.api.refusal import Refusal
from vramledger.rehearse.http.heads import JSON, head
from vramledger.rehearse.http.request import HttpRequest

_MOST_BODY: Final = 1 << 26  # also of all bodies that wait their turn
_MOST_HEAD: Final = 1 << 16
_MOST_WAITING: Final = 64  # requests that a client sends ahead of their answers
HALF_S: Final = 60.0  # for a request to be whole once it has begun
_AT_ONCE: Final = struct.pack("ii", 1, 0)  # SO_LINGER: closing resets

_WHY: Final = {
    HTTPStatus.BAD_REQUEST: "What was sent is no HTTP/1.1 request.",
    HTTPStatus.REQUEST_TIMEOUT: f"The rest of the request did not come within {HALF_S:g} s.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: f"A request may have {_MOST_BODY >> 20} MiB.",
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: f"The head of a request may have {_MOST_HEAD >> 10} KiB.",
}

Handler = Callable[["Connection", HttpRequest], None]


class Connection(asyncio.Protocol):
    """Calls the handler with each request once the response before it is finished.

    `on_gone` is called once if the client goes away before the response is finished, and `on_over` once in either case.
    """

    def __init__(self, handler: Handler, connections: set["Connection"]) -> None:
        self._handler, self._connections = handler, connections
        self._parser = httptools.HttpRequestParser(self)
        self._waiting: deque[HttpRequest] = deque()
        self._busy = self._keeps = self._in_head = False
        self._open = True
        self._refused: HTTPStatus | None = None  # what follows the answers that are under way
        self.began_s: float | None = None  # when a request began that is not whole yet
        self.on_gone: Callable[[], None] | None = None
        self.on_over: Callable[[], None] | None = None
        self._begin()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client is here; small writes go out at once."""
        self.transport: asyncio.Transport = transport  # type: ignore[assignment]  # of a stream
        self._connections.add(self)
        place = self.transport.get_extra_info("socket")
        if place is not None:
            place.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone, or the response ended with the connection."""
        del exc
        self._open = False
        self._connections.discard(self)
        gone, self.on_gone = self.on_gone, None
        if gone is not None:
            gone()
        self._over()

    def data_received(self, data: bytes) -> None:
        """Bytes of requests; what is no HTTP ends the connection."""
        if self._refused is not None or not self._open:
            return
        before = self._in_head
        try:
            self._parser.feed_data(data)
        except (
            httptools.HttpParserUpgrade
        ) as asked:  # no other protocol is spoken, which is allowed
            self._parser = httptools.HttpRequestParser(self)
            self.data_received(data[asked.args[0] :])
        except httptools.HttpParserError:
            self.refuse(HTTPStatus.BAD_REQUEST)
        if before and self._in_head:  # one endless line is told to nobody before its end
            self._count_head(len(data))

    def on_message_begin(self) -> None:
        """The parser: a request begins."""
        self._begin()
        self._in_head, self.began_s = True, time.monotonic()

    def on_url(self, url: bytes) -> None:
        """The parser: some of its target."""
        self._url += url
        self._count_head(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        """The parser: a header."""
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")
        self._count_head(len(name) + len(value) + 4)  # a colon, a blank and the end of the line

    def on_headers_complete(self) -> None:
        """The parser: the head is there."""
        self._in_head = False
        if self._headers.get("expect", "").lower() == "100-continue" and not self._busy:
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, body: bytes) -> None:
        """The parser: some of the body."""
        self._size += len(body)
        if self._size > _MOST_BODY:
            self.refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        elif self._open:
            self._body.append(body)

    def on_message_complete(self) -> None:
        """The parser: the request is there."""
        received = time.monotonic_ns()
        self.began_s = None
        if self._refused is not None:
            return
        path = self._url.partition(b"?")[0].decode("latin-1")
        method = self._parser.get_method().decode("latin-1")
        body = b"".join(self._body)
        keeps = self._parser.should_keep_alive()
        self._waiting.append(HttpRequest(method, path, self._headers, body, received, keeps))
        held = sum(len(each.body) for each in self._waiting)
        if len(self._waiting) > _MOST_WAITING or held > _MOST_BODY:
            self.reset()
        elif not self._busy:
            self._next()

    def write(self, data: bytes) -> None:
        """Bytes of the response."""
        if self._open:
            self.transport.write(data)

    def finished(self) -> None:
        """The response is whole; the next request has its turn."""
        self._busy, self.on_gone = False, None
        self._over()
        if not self._keeps and self._open:
            self.transport.close()
        elif self._waiting:
            self._next()
        elif self._refused is not None:
            self._say_no(self._refused)

    def refuse(self, status: HTTPStatus) -> None:
        """An answer to what is no request, behind those to requests before it, and no more of either."""
        if self._refused is None:
            self._refused, self.began_s = status, None
            self._body.clear()
            if not self._busy:
                self._say_no(status)

    def reset(self) -> None:
        """End the connection with a reset, as a server that is killed does."""
        if self._open:
            place = self.transport.get_extra_info("socket")
            place.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
            self.transport.abort()

    def _over(self) -> None:
        over, self.on_over = self.on_over, None
        if over is not None:
            over()

    def _next(self) -> None:
        if self._open and self._waiting:
            request = self._waiting.popleft()
            self._busy, self._keeps = True, request.keeps_alive
            self._handler(self, request)

    def _begin(self) -> None:
        self._url = b""
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []
        self._size = self._head_size = 0

    def _count_head(self, more: int) -> None:
        self._head_size += more
        if self._head_size > _MOST_HEAD:
            self.refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def _say_no(self, status: HTTPStatus) -> None:
        if self._open:
            self._open = False
            body = Refusal(_WHY[status], status).body
            close = (("connection", "close"),)
            self.transport.write(head(status, JSON, len(body), close) + body)
            self.transport.close()
