"""One stage of one request as a file tells it, and the identity that a trial gives its requests.

A trial sends W3C Trace Context (https://www.w3.org/TR/trace-context/, `traceparent`) and `x-request-id`, both with the same 32
hexadecimal digits: 16 of the run and 16 of the request's number.
"""

from typing import Final

from vramledger.frozen import frozen

TRACE_DIGITS: Final = 16
GATEWAY: Final = "gateway"  # from its first byte in to its first byte on
GATEWAY_WHOLE: Final = "gateway_whole"  # until its last byte back
UPSTREAM: Final = "upstream"  # from its first byte on to the headers, or the end, that came back
ENGINE: Final = "engine"
QUEUE: Final = "queue"
PREFILL: Final = "prefill"
DECODE: Final = "decode"
STAGES: Final = (GATEWAY, GATEWAY_WHOLE, UPSTREAM, ENGINE, QUEUE, PREFILL, DECODE)


@frozen
class Told:
    """`names` are the identities by which the file knows the request; moments are nanoseconds since 1970 on its clock."""

    names: tuple[str, ...]
    stage: str
    source: str
    start_ns: int
    end_ns: int


def identity(trace: str, number: int) -> str:
    """The 32 digits of a request; its number is one of the load's, 0 or above."""
    return f"{trace}{number:016x}"


def traced_head(head: bytes, trace: str, number: int) -> bytes:
    """The head of a request, up to the value of Content-Length, which stays its end, with both headers in it."""
    name = identity(trace, number)
    before, mark, rest = head.rpartition(b"Content-Length: ")
    told = f"traceparent: 00-{name}-{number + 1:016x}-01\r\nx-request-id: {name}\r\n".encode()
    return before + told + mark + rest


def number_in(name: str, trace: str) -> int | None:
    """The number of the request that a name holds, None where it is no name of this run."""
    place = name.find(trace)
    digits = name[place + TRACE_DIGITS : place + 2 * TRACE_DIGITS] if place >= 0 else ""
    try:
        return int(digits, 16) if len(digits) == TRACE_DIGITS else None
    except ValueError:
        return None
