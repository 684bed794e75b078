"""How much a server may send and how long it may take before a request is ended as something's fault."""

from dataclasses import fields
from typing import Any

from vramledger.frozen import frozen


@frozen
class Limits:
    """Bytes and seconds; None is no limit.

    `unread_bytes` is how much of one stream may wait to be read before it is read at once. `silence_s` is the
    longest time without a byte (`stalled`), and without a whole event although bytes come (`slow_drip`).
    """

    head_bytes: int = 64 << 10
    line_bytes: int = 1 << 20
    error_bytes: int = 64 << 10  # of a body that is no stream, kept to read its error
    unread_bytes: int = 64 << 10
    connect_s: float = 30.0
    silence_s: float | None = 600.0
    request_s: float | None = None
    after_done_s: float = (
        2.0  # from [DONE] to the end of the response; then the connection is given up
    )

    def to_json(self) -> dict[str, Any]:
        """The limits as a JSON object."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> "Limits":
        """What `to_json` made."""
        return cls(**found)
