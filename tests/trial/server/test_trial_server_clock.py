"""A server's clock, which tells whole seconds, against ours."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from vramledger.trial.server.clock import ClockOffset, clock_offset


@contextmanager
def telling(date: str, *, ahead_s: float, created: str = "", name: str = "some") -> Iterator[str]:
    """A server whose clock goes ahead: `date` and `created` say which of both it tells, and how."""

    class Answer(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            clock = time.time() + ahead_s
            entry = {"id": "m", "created": int(clock) if created == "now" else 1_700_000_000}
            body = json.dumps({"data": [entry]}).encode()
            self.send_response_only(200)
            self.send_header("Server", name)
            if date:
                late = (clock - 0.37) // 1 + 0.37 if date == "once a second" else clock
                self.send_header("Date", formatdate(late, usegmt=True))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1/models"
        finally:
            server.shutdown()


def offset_of(address: str) -> ClockOffset:
    found = clock_offset(address, {})
    assert found is not None
    return found


def holds(found: ClockOffset, ahead_s: float) -> bool:
    """Whether the truth is where the offset says that it is; a digit is rounded."""
    return abs(found.offset_s - ahead_s) <= found.error_s + 1e-3


def test_the_tick_of_the_date_tells_the_offset_far_below_a_second() -> None:
    with telling("now", ahead_s=12.345) as address:
        found = offset_of(address)
    assert holds(found, 12.345)
    assert found.error_s < 0.3


def test_a_date_that_is_renewed_once_a_second_is_not_believed_beyond_that() -> None:
    with telling("once a second", ahead_s=-3.2, name="uvicorn") as address:
        found = offset_of(address)
    assert holds(found, -3.2)
    assert 0.3 < found.error_s <= 1.0


def test_a_list_of_models_that_is_dated_when_it_is_asked_for_tells_more() -> None:
    with telling("once a second", ahead_s=-3.2, created="now", name="uvicorn") as address:
        found = offset_of(address)
    assert holds(found, -3.2)
    assert found.error_s < 0.3


def test_a_server_that_tells_no_time_has_no_offset() -> None:
    with telling("", ahead_s=0.0) as address:
        assert clock_offset(address, {}) is None
    assert clock_offset("http://127.0.0.1:1/v1/models", {}) is None


@pytest.mark.parametrize("ahead_s", [0.0, 0.999])
def test_the_truth_is_in_the_interval_at_any_part_of_a_second(ahead_s: float) -> None:
    with telling("now", ahead_s=ahead_s) as address:
        assert holds(offset_of(address), ahead_s)
