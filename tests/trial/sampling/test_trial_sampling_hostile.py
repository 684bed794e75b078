"""Pages that no server should send: moments that are none, and keys repeated."""

import json
import time

import pytest

from metrics_samples import served
from vramledger.record.samples import Sample
from vramledger.trial.sampling.fetching import PageConnection
from vramledger.trial.sampling.server_page import ServerPage
from vramledger.trial.sampling.source import Clock
from vramledger.trial.sampling.target import Target, authorization


@pytest.mark.parametrize("start", ["NaN", "+Inf", "-Inf", "-1e300", "1e300", "0"])
def test_a_start_that_is_no_moment_is_no_restart(start: str) -> None:
    with served({"/metrics": "process_start_time_seconds 1.7e9\nx_total 1\n"}) as server:
        page = ServerPage(Target("target-0", f"{server.url}/metrics"))
        page.take(Clock(time.monotonic_ns()))
        server.pages["/metrics"] = f"process_start_time_seconds {start}\nx_total 1\n"
        events = page.take(Clock(time.monotonic_ns())).events
        server.pages["/metrics"] = "x_total 1\n"
        server.headers = {"Process-Start-Time-Unix": start}
        from_head = page.take(Clock(time.monotonic_ns())).events
        page.close()
    json.dumps([event.details for event in events], allow_nan=False)
    assert from_head == ()
    assert [event.name for event in events if event.name != "counters_fell"] == []


def test_a_figure_without_bounds_is_no_figure() -> None:
    page = "vllm:num_requests_running +Inf\nvllm:kv_cache_usage_perc -Inf\nx_total 1e400\n"
    with served({"/metrics": page}) as server:
        source = ServerPage(Target("target-0", f"{server.url}/metrics"))
        taken = source.take(Clock(time.monotonic_ns()))
        source.close()
    assert {row.value for row in taken.rows if isinstance(row, Sample)} == {
        1.0,
        None,
    }  # 1: that there was a page
    assert taken.levels == {}


def test_a_page_that_repeats_the_key_is_kept_without_it() -> None:
    page = 'up{key="sk-planted-0123"} 1\n'
    with served({"/metrics": page}) as server:
        server.headers = {"X-Key": "Bearer sk-planted-0123"}
        connection = PageConnection(f"{server.url}/metrics", authorization("sk-planted-0123"), 60)
        found = connection.get()
        connection.close()
        short = PageConnection(f"{server.url}/metrics", authorization("up"), 60)
        same = short.get()
        short.close()
    assert found.body == b'up{key="[the key]"} 1\n'
    assert found.headers["x-key"] == "Bearer [the key]"
    assert same.body == page.encode()
