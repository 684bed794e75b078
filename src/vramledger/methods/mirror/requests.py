"""Finds the requests in a client's bytes, and writes them as they go to A."""

from typing import Final

import httptools

from vramledger.frozen import frozen
from vramledger.methods.mirror.front import Front, Header
from vramledger.methods.mirror.passing import OWN, Onlooker, Passing
from vramledger.methods.mirror.responses import Responses

_MOST_HEAD: Final = 64 << 10
_OWN: Final = OWN.encode()
MOST_BODY: Final = 2 << 20  # of a request that is kept to be put to B


class Unreadable(Exception):
    """What the client sent is no HTTP/1.1 request; `status` says so to it."""

    def __init__(self, status: bytes) -> None:
        super().__init__(status)
        self.status = status


@frozen
class Whole:
    """A request that went to A and is to be looked at."""

    path: bytes
    headers: list[Header]
    body: bytes
    passing: Passing


class Requests:
    """Fed with a client's bytes; what comes out goes to A: heads with A's host, bodies in the framing they came in."""

    def __init__(self, front: Front, onlooker: Onlooker, responses: Responses) -> None:
        self._front, self._onlooker, self._responses = front, onlooker, responses
        self._parser = httptools.HttpRequestParser(self)
        self._out: list[bytes] = []
        self._raw = False  # another protocol is spoken
        self.whole: list[Whole] = []  # to be looked at once the bytes have gone
        self.in_request = False
        self._clear()

    def _clear(self) -> None:
        self._url = b""
        self._headers: list[Header] = []
        self._trailers: list[Header] = []
        self._in_head, self._head_size, self._chunked = True, 0, False
        self._kept: list[bytes] | None = None
        self._kept_size = 0
        self._passing: Passing | None = None

    def feed(self, data: bytes) -> bytes:
        """What goes to A for these bytes.

        Raises:
            Unreadable: they are no request.
        """
        if self._raw:
            return data
        before = self._in_head and self.in_request
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as asked:
            self._raw = True
            self._out.append(data[asked.args[0] :])
        except httptools.HttpParserError:
            raise Unreadable(b"400 Bad Request") from None
        if before and self._in_head and self.in_request:
            self._count(len(data))
        out, self._out = b"".join(self._out), []
        if self._head_size > _MOST_HEAD:
            raise Unreadable(b"431 Request Header Fields Too Large")
        return out

    @property
    def is_raw(self) -> bool:
        """Whether another protocol is spoken, which is not followed."""
        return self._raw

    def _count(self, more: int) -> None:
        self._head_size += more

    # The parser calls these.

    def on_message_begin(self) -> None:
        """A request begins."""
        self._clear()
        self.in_request = True

    def on_url(self, url: bytes) -> None:
        """Some of its target."""
        self._url += url
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, or a trailer behind a body in chunks."""
        (self._headers if self._in_head else self._trailers).append((name, value))
        self._count(len(name) + len(value) + 4)

    def on_headers_complete(self) -> None:
        """The head is there, and goes on at once: the body may wait for an answer to it."""
        self._in_head = False
        method = self._parser.get_method()
        version = self._parser.get_http_version().encode()
        self._chunked = any(
            name.lower() == b"transfer-encoding" and b"chunked" in value.lower()
            for name, value in self._headers
        )
        self._out.append(self._front.head(method, self._url, version, self._headers))
        own = any(name.lower() == _OWN for name, _ in self._headers)
        self._passing = Passing(is_head=method == b"HEAD", own=own)
        alone = (
            not self._responses.outstanding
        )  # answers to requests sent ahead are not told apart with certainty
        self._responses.expect(self._passing)
        if not own and self._onlooker.wants(method, self._url) and alone:
            self._kept = []

    def on_body(self, body: bytes) -> None:
        """Some of the body."""
        self._out += (b"%x\r\n" % len(body), body, b"\r\n") if self._chunked else (body,)
        if self._kept is not None:
            self._kept_size += len(body)
            self._kept.append(body)
            if self._kept_size > MOST_BODY:
                self._kept = [b""]  # seen by its emptiness, and counted

    def on_message_complete(self) -> None:
        """The request is there."""
        self.in_request = False
        if self._chunked:
            trailers = (b"%b: %b\r\n" % each for each in self._trailers)
            self._out.append(b"0\r\n" + b"".join(trailers) + b"\r\n")
        if self._kept is not None and self._passing is not None:
            body = b"" if self._kept_size > MOST_BODY else b"".join(self._kept)
            self.whole.append(Whole(self._url, self._headers, body, self._passing))
