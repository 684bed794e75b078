"""Where the bytes of a response go: the connection itself, or a fault in front of it."""

import time
from typing import Protocol

from vramledger.rehearse.http.connection import Connection
from vramledger.rehearse.truth import Truth


class Sink(Protocol):
    """The body of one response, piece by piece; faults are sinks in front of another."""

    def write(self, data: bytes, tokens: int) -> None:
        """Some of the body, which brings so many tokens of the answer."""

    def finish(self) -> None:
        """The body is whole."""

    def break_off(self) -> None:
        """It ends here, with a reset."""


class BodySink:
    """Writes to the connection, and notes when."""

    def __init__(self, connection: Connection, truth: Truth, *, chunked: bool) -> None:
        self._connection, self._truth, self._chunked = connection, truth, chunked

    def write(self, data: bytes, tokens: int) -> None:
        """Some of the body."""
        self._connection.write(b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data)
        if tokens:
            self._truth.wrote(time.monotonic_ns(), tokens)

    def finish(self) -> None:
        """The body is whole."""
        if self._chunked:
            self._connection.write(b"0\r\n\r\n")
        self._truth.close(time.monotonic_ns())
        self._connection.finished()

    def break_off(self) -> None:
        """It ends here, with a reset."""
        self._truth.close(time.monotonic_ns(), "reset")
        self._connection.reset()
