"""One connection: a request is written, the bytes that come back are stamped, and read when there is time.

`data_received` stamps and keeps; that is all that happens between two sockets. What was kept is fed to
httptools, a binding of Node's parser, by the desk. A stream of which too much is kept is read at once, so
that memory stays bounded however many there are.
"""

import asyncio
import os
import ssl
import time
from collections.abc import Callable
from typing import Final, cast

import httptools

from vramledger.trial.wire.desk import Desk
from vramledger.trial.wire.failures import of_bad_head
from vramledger.trial.wire.limits import Limits
from vramledger.trial.wire.listener import Listener

_CLOCK: Final = time.monotonic_ns
_HTTP: Final = b"HTTP/1."
_INTERIM: Final = 200  # statuses below announce a response


class Connection(asyncio.Protocol):
    """An HTTP/1.1 connection that carries one request at a time.

    `on_free` is called with the connection when a response is complete and another request may be sent, `on_lost`
    when it is gone. `rested` is whether it was open before there was this request for it.
    """

    __slots__ = (
        "_chunked",
        "_desk",
        "_fd",
        "_head_bytes",
        "_headers",
        "_in_head",
        "_interim",
        "_keep",
        "_limits",
        "_measured",
        "_now",
        "_on_free",
        "_on_lost",
        "_parser",
        "_pieces",
        "_queued",
        "_stamps",
        "_transport",
        "_unread",
        "heard_ns",
        "lost",
        "reply",
        "rested",
        "worst_wait_ns",
    )  # fmt: skip

    def __init__(
        self,
        desk: Desk,
        limits: Limits,
        on_free: Callable[["Connection"], None],
        on_lost: Callable[["Connection"], None],
    ) -> None:
        self._desk, self._limits = desk, limits
        self._on_free, self._on_lost = on_free, on_lost
        self._transport: asyncio.Transport | None = None
        self._fd = -1
        self._pieces: list[bytes] = []
        self._stamps: list[int] = []
        self._unread = 0
        self._queued = False
        self._now = 0
        self._reset()
        self.reply: Listener | None = None
        self.heard_ns = 0  # last time a byte came, or the request went
        self.rested = False
        self.lost = False
        self.worst_wait_ns = 0  # longest time that bytes waited to be read

    def _reset(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._headers: dict[bytes, bytes] = {}
        self._in_head, self._head_bytes = True, 0
        self._interim = self._keep = self._chunked = self._measured = False

    # The event loop calls these.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection is open, TLS included."""
        self._transport = transport = cast("asyncio.Transport", transport)
        transport.set_write_buffer_limits(high=0)
        if transport.get_extra_info("ssl_object") is None:
            self._fd = transport.get_extra_info("socket").fileno()

    def data_received(self, data: bytes) -> None:
        """Bytes came: stamp them, keep them."""
        now = self.heard_ns = _CLOCK()
        self._stamps.append(now)
        self._pieces.append(data)
        self._unread += len(data)
        if self._unread > self._limits.unread_bytes:
            self.read()
        elif not self._queued:
            self._queued = True
            self._desk.put(self)

    def resume_writing(self) -> None:
        """The rest of the request is with the kernel."""
        reply = self.reply
        if reply is not None and reply.sent_ns is None:
            self.heard_ns = reply.sent_ns = _CLOCK()

    def connection_lost(self, error: Exception | None) -> None:
        """The connection is gone; what was kept is read first."""
        now = _CLOCK()
        self.lost = True
        self.read()
        reply, self.reply = self.reply, None
        if reply is not None:
            self._end_of_connection(reply, error, now)
        self._on_lost(self)

    # Whoever owns the connection calls these.

    @property
    def stale(self) -> bool:
        """Whether it was open before and was closed without a byte of the response that is awaited now."""
        return self.lost and self.rested and self._in_head and self._head_bytes == 0

    def send(self, head: bytes, body: bytes, reply: Listener) -> None:
        """Write a request: its head up to the value of Content-Length, and its body; the reply hears of what follows."""
        self.reply = reply
        self.heard_ns = _CLOCK()
        transport = self._transport
        if transport is None or transport.is_closing():
            return  # connection_lost is on its way
        head = b"%b%d\r\n\r\n" % (head, len(body))
        written = self._written_at_once(head, body)
        if written == len(head) + len(body):
            self.heard_ns = reply.sent_ns = _CLOCK()
        elif written is not None:
            transport.write((head + body)[written:])
            asyncio.get_running_loop().call_soon(self._check_sent, reply)

    def _written_at_once(self, head: bytes, body: bytes) -> int | None:
        """Bytes that the kernel took; None where the connection is broken.

        Not left to the transport, which writes at the end of the loop's round and does not say when; TLS has no
        other way.
        """
        if self._fd < 0:
            return 0
        try:
            return os.writev(self._fd, (head, body))
        except BlockingIOError:
            return 0
        except OSError:
            if self._transport is not None:
                self._transport.abort()
            return None

    def close(self) -> None:
        """Cut the connection; the reply, if one is awaited, hears nothing any more."""
        self.reply = None
        if self._transport is not None:
            self._transport.abort()

    def close_for(self, reply: Listener | None) -> None:
        """Cut the connection if this reply is still the one that it carries."""
        if self.reply is reply:
            self.close()

    def read(self) -> None:
        """Read what was kept."""
        self._queued = False
        if not self._pieces:
            return
        pieces, stamps = self._pieces, self._stamps
        self._pieces, self._stamps, self._unread = [], [], 0
        self.worst_wait_ns = max(self.worst_wait_ns, _CLOCK() - stamps[0])
        for piece, stamp in zip(pieces, stamps, strict=True):
            self._now = stamp
            self._feed(piece)

    def _check_sent(self, reply: Listener) -> None:
        transport = self._transport
        if (
            reply.sent_ns is None
            and transport is not None
            and not transport.get_write_buffer_size()
        ):
            self.heard_ns = reply.sent_ns = _CLOCK()

    def _feed(self, piece: bytes) -> None:
        reply = self.reply
        if reply is None:
            if not self.lost:
                self.close()  # bytes that nobody asked for
            return
        try:
            self._parser.feed_data(piece)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            reply.failure = reply.failure or self._misread(piece, str(error))
            self._give_up(reply)
            return
        if self.reply is not reply:
            return
        if self._in_head:
            self._head_bytes += len(piece)
            if self._head_bytes > self._limits.head_bytes:
                reply.failure = "endless_head"
                self._give_up(reply)
        elif reply.wants_no_more:
            self._give_up(reply)

    def _misread(self, piece: bytes, complaint: str) -> str:
        """The class of bytes that the parser could make nothing of."""
        if not self._in_head:
            return "bad_chunking"
        begun = self._head_bytes > 0 or piece.startswith(_HTTP)
        return of_bad_head(complaint) if begun else "no_http"

    def _give_up(self, reply: Listener) -> None:
        now = self._now
        self.close()
        reply.end(now, orderly=False)

    def _end_of_connection(self, reply: Listener, error: Exception | None, now: int) -> None:
        if reply.headers_ns is None:
            cut = error is None or isinstance(error, ssl.SSLError)
            reply.fail("closed_early" if cut else "reset", now)
            return
        endless = (
            not self._chunked and not self._measured and error is None
        )  # its end is the body's end
        reply.end(
            now, orderly=endless, cut="closed_mid_stream" if error is None else "reset_mid_stream"
        )

    # The parser calls these.

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header."""
        self._headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        """The head is complete."""
        status = self._parser.get_status_code()
        self._interim = status < _INTERIM
        headers, self._headers = self._headers, {}
        if self._interim:
            return
        self._in_head = False
        self._chunked = b"chunked" in headers.get(b"transfer-encoding", b"").lower()
        self._measured = b"content-length" in headers
        self._keep = self._parser.should_keep_alive()
        if self.reply is not None:
            self.reply.head(status, headers, self._now)

    def on_body(self, piece: bytes) -> None:
        """A piece of the body, without its framing."""
        if self.reply is not None:
            self.reply.body(piece, self._now)

    def on_message_complete(self) -> None:
        """The response is complete."""
        if self._interim:
            return
        reply, self.reply = self.reply, None
        keep = self._keep and (self._chunked or self._measured) and not self.lost
        self._in_head, self._head_bytes = True, 0
        if reply is not None:
            if keep:
                self._on_free(self)
            else:
                self.close()
            reply.end(self._now, orderly=True)
