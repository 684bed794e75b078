"""Finds the responses in A's bytes; what it cannot read ends the finding, never the passing on."""

import re
import ssl
from collections import deque
from collections.abc import Iterable
from itertools import pairwise
from typing import Final

import httptools

from vramledger.methods.mirror.passing import Onlooker, Passing

_BLANK_LINE: Final = re.compile(rb"\r\n\r\n")
_INTERIM: Final = 200  # statuses below announce a response


class Responses:
    """Fed with every byte that A sent on one connection; `outstanding` are the requests without a whole answer, in order."""

    def __init__(self, onlooker: Onlooker) -> None:
        self._onlooker = onlooker
        self._parser: httptools.HttpResponseParser | None = httptools.HttpResponseParser(self)
        self.outstanding: deque[Passing] = deque()
        self._headers: dict[bytes, bytes] = {}
        self._in_head = True
        self._endless = False
        self._now = 0

    def feed(self, data: bytes, now: int) -> None:
        """Bytes of A, which have gone to the client."""
        if self._parser is None:
            return
        self._now = now
        try:
            for piece in self._pieces(data):
                self._parser.feed_data(piece)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self.stop()

    def _pieces(self, data: bytes) -> Iterable[bytes]:
        """What the parser is given at a time: where an answer to HEAD may come, no more than a head, as another parser takes what follows."""
        if not any(each.is_head for each in self.outstanding):
            return (data,)
        ends = {found.end() for found in _BLANK_LINE.finditer(data)}
        edges = sorted({0, 1, 2, 3, len(data), *ends})  # a blank line may have begun before
        return [data[begin:end] for begin, end in pairwise(edges) if begin < len(data)]

    def expect(self, passing: Passing) -> None:
        """A request went to A, whose answer comes behind those to the others."""
        if self._parser is not None:
            self.outstanding.append(passing)

    def stop(self) -> None:
        """Look no more."""
        if self._parser is not None:
            self._parser = None
            self._onlooker.lost_sight()
        self.give_up()

    def give_up(self) -> None:
        """Nobody waits for the answers any more."""
        while self.outstanding:
            heard = self.outstanding.popleft().heard
            if heard is not None:
                heard.give_up()

    def closed(self, error: Exception | None, now: int) -> None:
        """A ended the connection."""
        while self.outstanding:
            heard = self.outstanding.popleft().heard
            if heard is None:
                continue
            if heard.headers_ns is None:
                cut = error is None or isinstance(error, ssl.SSLError)
                heard.fail("closed_early" if cut else "reset", now)
            else:
                cut_by = "closed_mid_stream" if error is None else "reset_mid_stream"
                heard.end(now, orderly=self._endless and error is None, cut=cut_by)

    # The parser calls these.

    def on_message_begin(self) -> None:
        """A response begins."""
        self._headers, self._in_head = {}, True

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header, or a trailer."""
        if self._in_head:
            self._headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        """The head is complete."""
        parser = self._parser
        if parser is None:
            return
        status = parser.get_status_code()
        if status < _INTERIM:
            return
        self._in_head = False
        headers = self._headers
        chunked = b"chunked" in headers.get(b"transfer-encoding", b"").lower()
        self._endless = not chunked and b"content-length" not in headers
        if not self.outstanding:
            return
        if not self.outstanding[0].own:
            self._onlooker.answered(status)
        self.outstanding[0].begun = True
        heard = self.outstanding[0].heard
        if heard is not None:
            heard.head(status, headers, self._now)
        elif self.outstanding[
            0
        ].is_head:  # a length without a body, which the parser would wait for
            self.outstanding.popleft()
            self._parser = httptools.HttpResponseParser(self)

    def on_body(self, piece: bytes) -> None:
        """A piece of the body."""
        heard = self.outstanding[0].heard if self.outstanding else None
        if heard is not None:
            heard.body(piece, self._now)

    def on_message_complete(self) -> None:
        """The response is complete."""
        if self._in_head or not self.outstanding:
            return
        self._in_head = True
        heard = self.outstanding.popleft().heard
        if heard is not None:
            heard.end(self._now, orderly=True)
