"""Each kind of fault, seen from the client's side of a real socket."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, IncompleteRead
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from rehearse_server import Rehearsed, rehearsal
from vramledger.errors import BadInput, UnknownName
from vramledger.rehearse.faults.registry import FAULTS, faults_of

TEXT, CHAT = "/v1/completions", "/v1/chat/completions"
TEN = {"prompt": "the first", "max_tokens": 10, "ignore_eos": True}
USAGE = {"stream_options": {"include_usage": True}}


@contextmanager
def _faulty(*faults: str, truth: Path | None = None) -> Iterator[Rehearsed]:
    options = [word for fault in faults for word in ("--fault", fault)]
    with rehearsal(*options, truth=truth) as server:
        yield server


def _arrivals(server: Rehearsed, body: dict[str, Any], path: str = TEXT) -> list[tuple[float, str]]:
    """Seconds since the request, and what came then, event by event."""
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    began = time.monotonic()
    connection.request("POST", path, json.dumps({"stream": True, **body}))
    response = connection.getresponse()
    found = []
    while line := response.readline():
        if line.strip():
            found.append((time.monotonic() - began, line.decode().strip()))
    connection.close()
    return found


def test_a_share_of_the_requests_fails_the_same_ones_each_time() -> None:
    seen = []
    for _ in range(2):
        with _faulty("error:0.5") as server:
            seen.append([server.post(TEXT, TEN | {"max_tokens": 1})[0] for _ in range(12)])

    assert set(seen[0]) == {200, 500}
    assert seen[0] == seen[1]


def test_the_metrics_page_goes_away_and_all_else_stays() -> None:
    with _faulty("no-metrics@500ms") as server:
        deadline = time.monotonic() + 60
        while server.get("/metrics")[0] == 200:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert server.get("/metrics") == (404, b'{"detail":"Not Found"}')
        assert server.post(TEXT, TEN | {"max_tokens": 1})[0] == 200
    with _faulty("no-metrics@0s") as server:
        assert server.get("/metrics")[0] == 404


def test_rejected_requests_are_told_to_come_again() -> None:
    with _faulty("reject:1") as server:
        connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("POST", TEXT, json.dumps(TEN))
        response = connection.getresponse()
        body = json.loads(response.read())
        connection.close()

    assert (response.status, response.getheader("retry-after")) == (429, "1")
    assert body["error"]["code"] == 429


def test_a_reset_comes_in_the_middle_and_frees_the_engine(tmp_path: Path) -> None:
    with _faulty("reset:1", truth=tmp_path / "truth.csv") as server:
        connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("POST", TEXT, json.dumps(TEN | {"stream": True, "max_tokens": 1000}))
        response = connection.getresponse()
        with pytest.raises((ConnectionResetError, IncompleteRead)):
            response.read()
        connection.close()
        (row,) = server.true_rows()
        deadline = time.monotonic() + 60
        while server.metrics()["vllm:num_requests_running"] and time.monotonic() < deadline:
            time.sleep(0.05)
        page = server.metrics()

    assert row["ending"] == "reset"
    assert 1 <= int(row["output_tokens"]) < 1000
    assert page["vllm:num_requests_running"] == 0
    assert page["vllm:request_success_total"] == 0  # the engine finished nothing


def test_a_stall_holds_back_what_is_due_and_then_gives_all_of_it() -> None:
    with _faulty("stall:1:6s") as server:
        times = [at for at, _ in _arrivals(server, TEN)]

    gaps = [late - early for early, late in pairwise(times)]
    assert len(times) == 11  # ten tokens and the closing mark
    assert max(gaps) > 3
    assert sorted(gaps)[-2] < 3


def test_garbage_takes_the_place_of_one_piece() -> None:
    with _faulty("garbage:1") as server:
        status, body = server.post(TEXT, TEN | {"stream": True})
        events = body.split(b"\n\n")[:-1]
        whole = server.post(TEXT, TEN)[1]

    assert status == 200
    assert len(events) == 11
    spoilt = [event for event in events if b"\xff" in event]
    assert len(spoilt) == 1
    with pytest.raises(ValueError, match=r"."):
        json.loads(spoilt[0].removeprefix(b"data: "))
    with pytest.raises(ValueError, match=r"."):
        json.loads(whole)


def test_a_slow_drip_brings_single_bytes() -> None:
    asked = {"prompt": "the", "max_tokens": 1, "ignore_eos": True, "stream": True}
    body = json.dumps(asked).encode()
    with (
        _faulty("slow-drip:1") as server,
        socket.create_connection(("127.0.0.1", server.port), timeout=60) as client,
    ):
        head = b"POST /v1/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
        client.sendall(head % len(body) + body)
        pieces = []
        while piece := client.recv(1 << 16):
            pieces.append(piece)
    stream = b"".join(pieces).partition(b"\r\n\r\n")[2]

    assert stream.startswith(b"1\r\nd\r\n1\r\na\r\n")  # a chunk a byte
    assert stream.endswith(b"0\r\n\r\n")
    assert len(pieces) > 50


def test_the_role_may_come_long_before_the_first_token() -> None:
    body = {"messages": [{"role": "user", "content": " the" * 4000}], "max_tokens": 2}
    with rehearsal("--fault", "role-early", "--speed", "0.05") as server:
        role, first, *_ = _arrivals(server, body | {"ignore_eos": True}, CHAT)

    assert '"role":"assistant"' in role[1]
    assert '"role"' not in first[1]
    assert first[0] - role[0] > 0.1  # a prompt of 4000 tokens lies between, twenty times as long


def test_several_tokens_may_share_a_chunk(tmp_path: Path) -> None:
    with _faulty("tokens-per-chunk:4", truth=tmp_path / "truth.csv") as server:
        *contents, usage = server.events(TEXT, TEN | USAGE)
        (row,) = server.true_rows()

    assert [len(one["choices"][0]["text"].split()) for one in contents] == [4, 4, 2]
    assert usage["usage"]["completion_tokens"] == 10
    assert (row["output_tokens"], row["chunks"]) == ("10", "3")


def test_usage_may_be_withheld() -> None:
    with _faulty("no-usage") as server:
        events = server.events(TEXT, TEN | USAGE)

    assert len(events) == 10
    assert all("usage" not in event for event in events)


def test_a_restart_kills_streams_and_begins_its_counters_anew_on_the_same_port() -> None:
    with _faulty("restart@6s:4s") as server:
        assert server.post(TEXT, TEN | {"max_tokens": 1})[0] == 200
        before = server.metrics()
        connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("POST", TEXT, json.dumps(TEN | {"stream": True, "max_tokens": 3000}))
        with pytest.raises((ConnectionResetError, IncompleteRead)):
            connection.getresponse().read()
        connection.close()
        with pytest.raises(ConnectionRefusedError):
            server.get("/health")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                server.get("/health")
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        after = server.metrics()
        assert server.post(TEXT, TEN)[0] == 200

    assert before["vllm:generation_tokens_total"] == 1
    assert after["vllm:generation_tokens_total"] == 0
    assert after["process_start_time_seconds"] > before["process_start_time_seconds"]


def test_faults_that_are_none_are_refused() -> None:
    with pytest.raises(UnknownName, match=r"Unknown fault 'reste' in --fault; the nearest known"):
        faults_of(["reste:0.1"])


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (
            "error",
            "A fault is written as --fault error:SHARE, and something is missing; SHARE is from 0 to 1.",
        ),
        (
            "error:2",
            "A fault is written as --fault error:SHARE, and '2' means nothing there; SHARE is from 0 to 1.",
        ),
        (
            "error:nan",
            "A fault is written as --fault error:SHARE, and 'nan' means nothing there; SHARE is from 0 to 1.",
        ),
        (
            "stall:0.1",
            "A fault is written as --fault stall:SHARE:TIME, and something is missing; SHARE is from 0 to 1; TIME is such as 500ms, 5s or 2m.",
        ),
        (
            "stall:0.1:5h",
            "A fault is written as --fault stall:SHARE:TIME, and '5h' means nothing there; SHARE is from 0 to 1; TIME is such as 500ms, 5s or 2m.",
        ),
        (
            "restart@soon",
            "A fault is written as --fault restart@TIME[:TIME], and 'soon' means nothing there; TIME is such as 500ms, 5s or 2m.",
        ),
        (
            "no-metrics",
            "A fault is written as --fault no-metrics@TIME, and something is missing; TIME is such as 500ms, 5s or 2m.",
        ),
        ("no-usage:1", "A fault is written as --fault no-usage, and '1' means nothing there."),
        (
            "tokens-per-chunk:0",
            "A fault is written as --fault tokens-per-chunk:COUNT, and '0' means nothing there; COUNT is 1 or more.",
        ),
    ],
)
def test_what_stands_behind_a_fault_must_mean_something(option: str, message: str) -> None:
    with pytest.raises(BadInput) as refused:
        faults_of([option])

    assert str(refused.value) == message


def test_every_kind_says_how_it_is_written() -> None:
    assert all(fault.form.startswith(name) for name, fault in FAULTS.items())
