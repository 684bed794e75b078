"""Whatever clients send, the rehearsed server answers it, forgets it and goes on."""

import asyncio
import json
import socket
import struct
import time
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rehearse_server import MODEL, Rehearsed, rehearsal
from rehearsed_subjects import subject
from vramledger.rehearse import server as serving
from vramledger.rehearse.endpoints import ENDPOINTS
from vramledger.rehearse.server import Options, Server

CHAT = "/v1/chat/completions"
TEXT = "/v1/completions"
HI = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 2}
STREAM = {**HI, "max_tokens": 300, "ignore_eos": True, "stream": True}
RESETS = struct.pack("ii", 1, 0)


@pytest.fixture(scope="module")
def server() -> Iterator[Rehearsed]:
    """One for all tests of this file, and at the end nothing is left in it."""
    with rehearsal() as found:
        yield found
        nothing_left(found)


def nothing_left(server: Rehearsed) -> None:
    deadline = time.monotonic() + 60
    while True:
        page = server.metrics()
        left = [
            page[name]
            for name in (
                "vllm:num_requests_running",
                "vllm:num_requests_waiting",
                "vllm:kv_cache_usage_perc",
            )
        ]
        if not any(left) or time.monotonic() > deadline:
            break
        time.sleep(0.05)
    assert left == [0, 0, 0]
    assert server.process.poll() is None


def said(server: Rehearsed, data: bytes) -> bytes:
    """All that is answered to these bytes until the server closes; what a reset takes away is lost."""
    answer = b""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
        try:
            client.sendall(data)
            while piece := client.recv(1 << 16):
                answer += piece
        except ConnectionError:
            pass
    return answer


def posted(body: Any, path: str = CHAT, *, close: bool = True, more: bytes = b"") -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    ending = b"connection: close\r\n" if close else b""
    return b"POST %b HTTP/1.1\r\nhost: x\r\n%b%bcontent-length: %d\r\n\r\n%b" % (
        path.encode(), ending, more, len(data), data
    )  # fmt: skip


def error_of(answer: bytes) -> tuple[int, str]:
    """Status and message of an answer that is an error of the API."""
    head, _, body = answer.partition(b"\r\n\r\n")
    error = json.loads(body)["error"]
    status = int(head.split()[1])
    assert error["code"] == status
    return status, error["message"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"[" * 100_000, "The body is not JSON."),
        (b'{"a":' * 100_000, "The body is not JSON."),
        (b'{"max_tokens": NaN}', "The body is not JSON."),
        (b'{"prompt": "\xff\xfe"}', "The body is not JSON."),
        (b'{"prompt": "\\ud800"}', "The body is not JSON."),
        ({**HI, "max_tokens": -1}, "max_tokens must be at least 0, got -1."),
        ({**HI, "max_tokens": 10**30}, "max_tokens must be of type int."),
        ({**HI, "max_tokens": True}, "max_tokens must be of type int."),
    ],
)
def test_bodies_that_mean_nothing_are_errors_of_the_api(
    server: Rehearsed, body: Any, message: str
) -> None:
    assert error_of(said(server, posted(body))) == (400, message)


@pytest.mark.parametrize(
    ("data", "status", "message"),
    [
        (bytes(range(256)) + b"\r\n\r\n", 400, "What was sent is no HTTP/1.1 request."),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "What was sent is no HTTP/1.1 request."),
        (b"POST / HTTP/1.1\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}", 400, "What was sent is no HTTP/1.1 request."),
        (b"POST / HTTP/1.1\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}", 400, "What was sent is no HTTP/1.1 request."),
        (b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 20_000, 431, "The head of a request may have 64 KiB."),
    ],
)  # fmt: skip
def test_what_is_no_request_is_answered_with_an_error_too(
    server: Rehearsed, data: bytes, status: int, message: str
) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
        client.sendall(data)
        answer = client.recv(1 << 16)
    assert error_of(answer) == (status, message)


def test_a_header_line_without_an_end_is_cut_off(server: Rehearsed) -> None:
    answer = said(server, b"GET / HTTP/1.1\r\nx: " + b"y" * 10_000_000)  # it waits for no end
    assert answer == b"" or error_of(answer) == (431, "The head of a request may have 64 KiB.")
    assert server.get("/health") == (200, b"")


def test_garbage_behind_a_request_waits_for_its_answer(server: Rehearsed) -> None:
    answer = said(server, posted(STREAM, close=False) + b"\x00\x01garbage\r\n\r\n")
    stream, _, rest = answer.partition(b"data: [DONE]\n\n")
    assert stream.count(b"HTTP/1.1") == 1
    assert error_of(rest.partition(b"0\r\n\r\n")[2]) == (
        400,
        "What was sent is no HTTP/1.1 request.",
    )


def test_another_protocol_is_not_taken_up(server: Rehearsed) -> None:
    asked = b"GET /version HTTP/1.1\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n"
    last = b"GET /health HTTP/1.1\r\nconnection: close\r\n\r\n"
    answer = said(server, asked + last)
    assert answer.count(b"HTTP/1.1 200 OK") == 2
    assert answer.count(b"HTTP/1.1") == 2


def test_head_is_answered_without_a_body(server: Rehearsed) -> None:
    answer = said(server, b"HEAD /version HTTP/1.1\r\nconnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 405 ")
    assert answer.endswith(b"\r\n\r\n")


def test_streams_that_are_reset_leave_nothing_behind(server: Rehearsed) -> None:
    clients = []
    for _ in range(50):
        client = socket.create_connection(("127.0.0.1", server.port), timeout=60)
        client.sendall(posted(STREAM))
        clients.append(client)
    assert clients[0].recv(1 << 12)
    for client in clients:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESETS)
        client.close()
    nothing_left(server)


def test_many_connections_that_say_nothing_or_half_of_it_keep_nobody_out(server: Rehearsed) -> None:
    idle = [socket.create_connection(("127.0.0.1", server.port), timeout=60) for _ in range(500)]
    for client in idle[::2]:
        client.send(b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 100\r\n\r\n{")
    status, _ = server.post(CHAT, HI)
    for client in idle:
        client.close()
    assert status == 200
    nothing_left(server)


def test_a_request_that_never_becomes_whole_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "HALF_S", 0.2)
    monkeypatch.setattr(serving, "_LOOK_S", 0.05)

    async def run() -> bytes:
        served = Server(subject(), Options(), asyncio.get_running_loop(), lambda _: None)
        address = await served.open()
        reader, writer = await asyncio.open_connection("127.0.0.1", int(address.rpartition(":")[2]))
        idle = await asyncio.open_connection("127.0.0.1", int(address.rpartition(":")[2]))
        writer.write(b"POST /v1/completions HTTP/1.1\r\ncontent-length: 100\r\n\r\n{")
        answer = await reader.read()
        idle[1].write(
            b"GET /health HTTP/1.1\r\nconnection: close\r\n\r\n"
        )  # nothing was begun there
        assert (await idle[0].read()).startswith(b"HTTP/1.1 200 OK")
        for each in (writer, idle[1]):
            each.close()
        await served.close()
        return answer

    status = HTTPStatus.REQUEST_TIMEOUT
    assert error_of(asyncio.run(run())) == (
        status,
        "The rest of the request did not come within 60 s.",
    )


def test_a_defect_in_an_answer_is_said_and_ends_nothing(
    server: Rehearsed, monkeypatch: pytest.MonkeyPatch
) -> None:
    del server
    told: list[str] = []

    def broken(*_: object) -> None:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setitem(ENDPOINTS["/health"], "GET", broken)

    async def run() -> bytes:
        served = Server(subject(), Options(), asyncio.get_running_loop(), told.append)
        address = await served.open()
        reader, writer = await asyncio.open_connection("127.0.0.1", int(address.rpartition(":")[2]))
        writer.write(
            b"GET /health HTTP/1.1\r\n\r\n" + b"GET /version HTTP/1.1\r\nconnection: close\r\n\r\n"
        )
        answer = await reader.read()
        writer.close()
        await served.close()
        return answer

    answer = asyncio.run(run())
    assert answer.startswith(b"HTTP/1.1 500 Internal Server Error")
    assert answer.count(b"HTTP/1.1 200 OK") == 1
    assert told == [
        "A request to /health met a defect (ZeroDivisionError: by nothing) and was answered with 500; please report it."
    ]


SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=3)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
NAMES = st.sampled_from(
    ["model", "messages", "prompt", "max_tokens", "max_completion_tokens", "min_tokens", "stream", "stream_options",
     "stop", "seed", "logprobs", "ignore_eos", "n", "priority", "cache_salt", "tokens", "return_token_strs"]
)  # fmt: skip
PATHS = st.sampled_from([CHAT, TEXT, "/tokenize", "/detokenize"])


@settings(max_examples=150, deadline=None)
@given(
    PATHS,
    st.dictionaries(NAMES, VALUES, max_size=3),
    st.sampled_from([{}, HI, {"prompt": "hi", "max_tokens": 2}]),
)
def test_values_of_any_type_are_answered_or_refused(
    server: Rehearsed, path: str, values: dict[str, Any], base: dict[str, Any]
) -> None:
    body = base | values
    answer = said(server, posted(body, path))
    status = int(answer.split()[1])
    assert status in (200, 400, 404), answer
    if status != 200:
        error_of(answer)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200), st.integers(0, 200))
def test_requests_with_bytes_changed_end_nothing(
    server: Rehearsed, noise: bytes, place: int
) -> None:
    good = posted(HI)
    data = good[:place] + noise + good[place + len(noise) :]
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        while client.recv(1 << 16):
            pass
    assert server.get("/health") == (200, b"")
    assert json.loads(server.get("/v1/models")[1])["data"][0]["id"] == MODEL
