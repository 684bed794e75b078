"""What a load client is asked beside a server that logs true times, on which cores, and what the log says of the answer."""

import argparse
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

from truth_server import TrueRequest

SERVER_CORE, CLIENT_CORE = 0, 1


@dataclass(frozen=True)
class Question:
    """So many streams at a time, requests in all, tokens each; the server offers no more than `offered_s` requests a second."""

    name: str
    streams: int
    requests: int
    tokens: int
    offered_s: float = inf


STREAMS_256 = Question("256 streams, 20 ms gaps", 256, 1_024, 64)
ACCURACY = {
    STREAMS_256: (),
    Question("the same, role chunk at once", 256, 1_024, 64): ("--early-role",),
    Question("the same, 4 tokens a chunk", 256, 1_024, 64): ("--tokens-per-chunk", "4"),
    Question("1,000 streams, 20 ms gaps", 1_000, 2_000, 128): (),
}
TOKENS = Question("128 streams, 1 ms gaps", 128, 1_024, 256, 128 / (0.02 + 255 * 0.001))
TWICE = Question("128 streams, 0.5 ms gaps", 128, 1_024, 256, 128 / (0.02 + 255 * 0.0005))
REQUESTS_ONE = Question("64 at a time, one token", 64, 8_000, 1)
CAPACITY = {
    TOKENS: ("--ttft-us", "20000", "--gap-us", "1000"),
    TWICE: ("--ttft-us", "20000", "--gap-us", "500"),
    REQUESTS_ONE: ("--ttft-us", "0"),
}


def rate_of(true: Iterable[TrueRequest], question: Question) -> float:
    """Requests a second that a client finished, by the server's log alone.

    In a closed loop each request after the first round is sent when one before it was read to its end, so their times
    count what the client read, not what the server wrote into the buffers between them. Requests ahead of the
    question's, which some tools send to see whether the server is there, are left out.
    """
    received = sorted(each.received_ns for each in true)[-question.requests :]
    return (len(received) - question.streams) / ((received[-1] - received[0]) / 1e9)


def p99(values: list[int]) -> float:
    """The 99th percentile; 0 of nothing."""
    return statistics.quantiles(values, n=100)[98] if len(values) > 1 else 0.0


def prefix(core: int, options: argparse.Namespace) -> list[str]:
    """What puts a command on a core, ahead of others where that is asked for.

    In a session of its own: where Linux shares a busy core by sessions, a tool of ten processes gets no more of it than a
    tool of one.
    """
    preferred = ["sh", "-c", 'echo -8 > /proc/self/autogroup; exec "$@"', "sh"]
    return [
        "setsid",
        *(preferred if options.prefer else []),
        *(["chrt", "-f", "5"] if options.realtime else []),
        "taskset",
        "-c",
        str(core),
    ]
