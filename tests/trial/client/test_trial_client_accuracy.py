"""What the client records is what the server really did, by the server's own log.

Times on a busy machine mean little, so that the client may say that it was the bottleneck instead of being
right; it may not be wrong and silent. Counts must be exact however busy it is. `scripts/bench_client.py` measures
the times.
"""

import shutil
import time
from itertools import pairwise
from pathlib import Path
from statistics import fmean, quantiles

import pytest
import uvloop

from requests_to_send import planned
from truth_server import TrueRequest, truth_server
from vramledger.record.requests import RequestRecord
from vramledger.trial.client.client import Client
from vramledger.trial.client.health import Health
from vramledger.trial.wire.target import Target

pytestmark = pytest.mark.skipif(
    shutil.which("cc") is None, reason="needs a C compiler for the server"
)

TTFT_S, P99_GAP_S = 0.005, 0.005


class Rows:
    """Keeps what has ended."""

    def __init__(self) -> None:
        self.ended: list[RequestRecord] = []

    def begin(self, record: RequestRecord) -> None:
        """It will end too."""

    def append(self, record: RequestRecord) -> None:
        self.ended.append(record)


def played(
    url: str, streams: int, requests: int, tokens: int, zero_ns: int
) -> tuple[list[RequestRecord], Health]:
    """So many requests in a closed loop, and how the client was."""
    kept = Rows()

    async def run() -> Health:
        load = (planned(number, tokens=tokens) for number in range(requests))
        client = Client(Target(url), load, kept, zero_ns, streams)
        await client.prepare()
        await client.run(time.monotonic_ns())
        return client.health

    health = uvloop.run(run())
    return kept.ended, health


def error_of_first_s(record: RequestRecord, true: TrueRequest, zero_ns: int) -> float:
    assert record.first_content_s is not None
    return record.first_content_s - (true.first_ns - zero_ns) / 1e9


def gaps(offsets_us: list[int]) -> list[float]:
    return [(b - a) / 1e6 for a, b in pairwise(offsets_us)]


@pytest.mark.parametrize(
    ("streams", "requests", "tokens", "arguments"),
    [
        (256, 512, 32, ()),
        (256, 256, 32, ("--early-role",)),
        (256, 256, 64, ("--tokens-per-chunk", "4")),
        (1_000, 1_000, 16, ()),
    ],
)
def test_no_chunk_is_lost_or_doubled_and_times_are_true_or_called_in_question(
    tmp_path: Path, streams: int, requests: int, tokens: int, arguments: tuple[str, ...]
) -> None:
    zero_ns = time.monotonic_ns()
    with truth_server(tmp_path / "truth.csv", *arguments) as server:
        records, health = played(server.url, streams, requests, tokens, zero_ns)
    true = server.requests()
    assert len(records) == len(true) == requests
    found_gaps: list[float] = []
    true_gaps: list[float] = []
    for record in records:
        told = true[record.server_request_id or ""]
        offsets = list(record.chunk_offset_us or ())
        assert len(offsets) == len(told.offsets_us)
        assert record.output_tokens_got == told.tokens == tokens
        found_gaps += gaps(offsets)
        true_gaps += gaps(list(told.offsets_us))
    late_s = fmean(
        error_of_first_s(record, true[record.server_request_id or ""], zero_ns)
        for record in records
    )
    apart_s = abs(quantiles(found_gaps, n=100)[98] - quantiles(true_gaps, n=100)[98])
    assert (late_s < TTFT_S and apart_s < P99_GAP_S) or health.bottleneck is not None


def test_the_early_role_is_seen_and_is_not_the_first_token(tmp_path: Path) -> None:
    arguments = ("--early-role", "--ttft-us", "2000000", "--gap-us", "1000")
    zero_ns = time.monotonic_ns()
    with truth_server(tmp_path / "truth.csv", *arguments) as server:
        records, _ = played(server.url, 1, 1, 4, zero_ns)
    record, (true,) = records[0], server.requests().values()
    received_s, first_s = ((at - zero_ns) / 1e9 for at in (true.received_ns, true.first_ns))
    assert first_s - received_s > 1.9
    assert record.first_role_s is not None
    assert record.first_content_s is not None
    assert received_s < record.first_role_s < first_s - 0.1
    assert record.first_content_s - received_s > 1.9


def test_failures_and_dropped_streams_are_those_of_the_server(tmp_path: Path) -> None:
    arguments = ("--fail-every", "5", "--drop-every", "7", "--gap-us", "500", "--ttft-us", "1000")
    with truth_server(tmp_path / "truth.csv", *arguments) as server:
        records, _ = played(server.url, 16, 140, 8, time.monotonic_ns())
    endings = [request.ending for request in server.requests().values()]
    outcomes = [record.error_class for record in records]
    assert outcomes.count("http_500") == endings.count("failed") == 28
    assert outcomes.count("closed_mid_stream") == endings.count("dropped") == 16
    assert outcomes.count(None) == endings.count("ok") == 96
