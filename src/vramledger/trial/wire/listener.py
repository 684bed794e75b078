"""What a connection tells of the response that it carries."""

from typing import Protocol


class Listener(Protocol):
    """Hears of one response, in order: its head, its body, its end. Moments are nanoseconds of the monotonic clock.

    `sent_ns` is set by the connection once the last byte of the request is with the kernel; `failure` too, where the wire is wrong.
    """

    sent_ns: int | None
    failure: str | None

    @property
    def headers_ns(self) -> int | None:
        """When the head came; None before."""

    @property
    def wants_no_more(self) -> bool:
        """Whether the rest of the response would change nothing."""

    def head(self, status: int, headers: dict[bytes, bytes], now: int) -> None:
        """The status and the headers, their names in lower case, are there."""

    def body(self, piece: bytes, now: int) -> None:
        """A piece of the body came."""

    def end(self, now: int, *, orderly: bool, cut: str = "closed_mid_stream") -> None:
        """No more will come."""

    def fail(self, failure: str, now: int) -> None:
        """It ended as a failure of that class."""
