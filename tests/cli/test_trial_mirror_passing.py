"""What passes through ``vram trial shadow --mirror``: bytes, framing, headers and ends, as they were sent."""

import hashlib
import json
import os
import socket
import ssl
import time
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path

import pytest

from adversary import certificate
from mirror_process import SECONDS, ended, mirror
from recording_server import Request, Writer, recording, said, streamed, whole

CHAT = "/v1/chat/completions"
ASKED = {"model": "m", "temperature": 0, "messages": [{"role": "user", "content": "a wish"}]}


async def plain(_: Request, writer: Writer) -> None:
    writer.write(said("as you wish"))


def until(found: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not found():
        assert time.monotonic() < end
        time.sleep(0.02)


def raw(port: int, sent: bytes, answers: int = 1) -> bytes:
    """What comes back until so many heads and bodies are there."""
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as client:
        client.sendall(sent)
        got = b""
        while got.count(b"as you wish") < answers:
            piece = client.recv(1 << 16)
            if not piece:
                break
            got += piece
    return got


def post(body: bytes, *headers: str, path: str = CHAT) -> bytes:
    lines = [
        f"POST {path} HTTP/1.1",
        "Host: the.proxy:1",
        *headers,
        f"Content-Length: {len(body)}",
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def test_heads_go_on_without_what_was_meant_for_a_proxy(tmp_path: Path) -> None:
    body = json.dumps(ASKED).encode()
    with recording(plain) as a, recording(plain) as b, mirror(f"{a.url}/deep", b.url, tmp_path, "--share", "1") as (process, port):  # fmt: skip
        raw(port, post(
            body, "Authorization: Bearer sk-of-the-client", "Connection: keep-alive, X-Hop", "X-Hop: here", "Proxy-Authorization: Basic abc",
            "Proxy-Connection: keep-alive", "X-End: there", "x-end: twice", "TE: trailers",
        ))  # fmt: skip
        _, found = ended(process)
    (there,) = a.chats
    assert there.line == f"POST /deep{CHAT} HTTP/1.1"
    assert there.all_of("host") == [a.url.removeprefix("http://")]
    assert there.all_of("authorization") == ["Bearer sk-of-the-client"]
    assert there.all_of("x-end") == ["there", "twice"]
    assert there.all_of("connection") == ["keep-alive, X-Hop"]
    for name in ("x-hop", "proxy-authorization", "proxy-connection"):
        assert there.all_of(name) == []
    assert there.body == body
    (put,) = b.chats  # written anew by the mirror, with nothing of the client's head
    assert put.all_of("host") == [b.url.removeprefix("http://")]
    for name in ("authorization", "x-end", "x-hop", "proxy-authorization"):
        assert put.all_of(name) == []
    assert json.loads(put.body) == ASKED
    assert found["mirror"]["outcomes"]["ok_ok"] == 1


def test_keys_go_to_b_where_that_was_said_and_into_no_record(tmp_path: Path) -> None:
    key = "sk-this-is-the-planted-key"
    with (
        recording(plain) as a,
        recording(plain) as b,
        mirror(a.url, b.url, tmp_path, "--share", "1", "--pass-keys", "-o", "m.json") as (process, port),
    ):  # fmt: skip
        raw(port, post(json.dumps(ASKED).encode(), f"Authorization: Bearer {key}"))
        _, found = ended(process)
    assert [each.all_of("authorization") for each in (*a.chats, *b.chats)] == [
        [f"Bearer {key}"]
    ] * 2
    for text in (json.dumps(found), (tmp_path / "m.json").read_text("utf-8")):
        assert key not in text
        assert "wish" not in text


def test_bodies_in_chunks_and_of_ten_megabytes_arrive_as_they_were(tmp_path: Path) -> None:
    large = json.dumps({**ASKED, "padding": "x" * (10 << 20)}).encode()
    pieces = [json.dumps(ASKED).encode()[:20], json.dumps(ASKED).encode()[20:]]
    with recording(plain) as a, recording(plain) as b, mirror(a.url, b.url, tmp_path, "--share", "1") as (process, port):  # fmt: skip
        client = HTTPConnection("127.0.0.1", port, timeout=SECONDS)
        client.request(
            "POST", CHAT, iter(pieces), {"Transfer-Encoding": "chunked"}, encode_chunked=True
        )
        assert client.getresponse().read().endswith(b"}]}")
        client.request("POST", CHAT, large, {"Expect": "100-continue"})
        assert client.getresponse().status == 200
        client.close()
        _, found = ended(process)
    first, second = a.chats
    assert first.pieces == pieces  # in the framing that they came in
    assert hashlib.sha256(second.body).digest() == hashlib.sha256(large).digest()
    assert [json.loads(each.body) for each in b.chats] == [ASKED]  # the large one is not kept
    assert found["mirror"]["skipped"] == {"too_large": 1}
    assert found["mirror"]["traffic"]["statuses"] == {"200": 2}


def test_requests_sent_ahead_and_heads_alone_are_answered_in_order(tmp_path: Path) -> None:
    async def numbered(request: Request, writer: Writer) -> None:
        if request.line.startswith("HEAD"):
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n")
        else:
            writer.write(whole(request.path.encode() + b" as you wish", "text/plain"))

    with (
        recording(numbered) as a,
        recording(plain) as b,
        mirror(a.url, b.url, tmp_path) as (
            process,
            port,
        ),
    ):
        ahead = b"".join(
            b"%b /own/%d HTTP/1.1\r\nHost: x\r\n\r\n" % (method, number)
            for number, method in enumerate((b"GET", b"HEAD", b"GET", b"GET"))
        )
        got = raw(port, ahead, 3)
        _, found = ended(process)
    assert [place for place in range(4) if b"/own/%d as you wish" % place in got] == [0, 2, 3]
    assert got.index(b"/own/0") < got.index(b"content-length: 500") < got.index(b"/own/2")
    assert found["mirror"]["traffic"]["requests"] == 4
    assert found["mirror"]["traffic"]["statuses"] == {"200": 4}


def test_another_protocol_is_passed_on_unseen(tmp_path: Path) -> None:
    async def upgraded(_: Request, writer: Writer) -> None:
        writer.write(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: upgrade\r\n\r\nas you wish"
        )

    ask = b"GET /own HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"
    with (
        recording(upgraded) as a,
        recording(plain) as b,
        mirror(a.url, b.url, tmp_path) as (
            process,
            port,
        ),
    ):
        assert raw(port, ask).startswith(b"HTTP/1.1 101 ")
        _, found = ended(process)
    assert a.chats[0].all_of("upgrade") == ["echo"]
    assert found["mirror"]["traffic"]["unseen_connections"] == 1


def test_what_two_servers_could_read_differently_never_reaches_a(tmp_path: Path) -> None:
    two_lengths = b"POST /v1/x HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    with recording(plain) as a, recording(plain) as b, mirror(a.url, b.url, tmp_path) as (process, port):  # fmt: skip
        for sent in (b"\x16\x03\x01 no HTTP at all\r\n\r\n", two_lengths):
            got = raw(port, sent)
            assert got.startswith(b"HTTP/1.1 400 Bad Request\r\n")
            assert b"What was sent is no HTTP/1.1 request." in got
        ended(process)
    assert a.chats == []


def test_a_server_behind_tls_is_reached(tmp_path: Path) -> None:
    try:
        pem = certificate(tmp_path)
    except FileNotFoundError:
        pytest.skip("needs the openssl command to make a certificate")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(pem)
    known = {**os.environ, "SSL_CERT_FILE": str(pem)}
    with (
        recording(plain, tls) as a,
        recording(plain, tls) as b,
        mirror(a.url, b.url, tmp_path, "--share", "1", environment=known) as (process, port),
    ):
        assert b"as you wish" in raw(port, post(json.dumps(ASKED).encode()))
        until(lambda: len(b.chats) == 1)
        _, found = ended(process)
    assert a.chats[0].all_of("host") == [a.url.removeprefix("https://")]
    assert found["mirror"]["outcomes"]["ok_ok"] == 1


def test_a_slow_reader_slows_a_down_and_fills_no_memory(tmp_path: Path) -> None:
    words, size, sent = 600, 100_000, [0]

    async def much(_: Request, writer: Writer) -> None:
        await streamed(writer, words, size)
        sent[0] += 1

    with recording(much) as a, recording(plain) as b, mirror(a.url, b.url, tmp_path, "--share", "1") as (process, port):  # fmt: skip
        body = json.dumps({**ASKED, "stream": True}).encode()
        with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as client:
            client.sendall(post(body))
            got = len(client.recv(1 << 16))
            before, still = -1, 0
            while still < 10:  # A is stopped once buffers are full
                time.sleep(0.05)
                status = Path(f"/proc/{process.pid}/status").read_text("utf-8")
                resident = int(status.split("VmRSS:")[1].split()[0])
                still, before = (still + 1, before) if resident == before else (0, resident)
            assert sent[0] == 0  # most of 60 MB is still A's
            digest, tail = hashlib.sha256(), b""
            while not tail.endswith(b"0\r\n\r\n"):
                piece = client.recv(1 << 20)
                got += len(piece)
                digest.update(piece)
                tail = (tail + piece)[-16:]
        _, found = ended(process)
    assert resident < 400_000  # KiB, of which the libraries take most
    assert got > words * size
    assert found["mirror"]["slowed_by_client"] + sum(found["mirror"]["unreadable"].values()) >= 1
