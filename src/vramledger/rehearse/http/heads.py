"""Heads of responses."""

from collections.abc import Iterable
from http import HTTPStatus
from typing import Final

MARK: Final = "x-vramledger-rehearsal"  # so that nobody takes a rehearsal for a server
_COMMON: Final = (("server", "vramledger-rehearsal"), (MARK, "1"))
EVENTS: Final = "text/event-stream; charset=utf-8"
JSON: Final = "application/json"


def head(
    status: HTTPStatus,
    content_type: str | None,
    length: int | None,
    headers: Iterable[tuple[str, str]] = (),
) -> bytes:
    """A status line and headers; a body of unknown `length` comes in chunks."""
    framing = (
        ("transfer-encoding", "chunked") if length is None else ("content-length", str(length))
    )
    kind = () if content_type is None else (("content-type", content_type),)
    lines = [f"HTTP/1.1 {int(status)} {status.phrase}"]
    lines += [f"{name}: {value}" for name, value in (*_COMMON, *kind, framing, *headers)]
    return "\r\n".join((*lines, "", "")).encode("latin-1")
