"""A request as it came over a connection."""

from collections.abc import Mapping

from vramledger.frozen import frozen


@frozen
class HttpRequest:
    """Names of `headers` are in small letters; `received_ns` is CLOCK_MONOTONIC when its last byte came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    received_ns: int
    keeps_alive: bool = True  # whether the connection may be used again
