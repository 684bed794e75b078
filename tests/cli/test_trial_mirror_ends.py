"""How ``vram trial shadow --mirror`` ends, and what a slow, hanging or vanishing side does to the others: nothing."""

import asyncio
import json
import signal
import socket
import time
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path

from adversary import STREAM, chunk
from mirror_process import SECONDS, Process, ended, mirror, told
from recording_server import Request, Writer, event, recording, said, streamed

CHAT = "/v1/chat/completions"
ASKED = {"model": "m", "temperature": 0, "messages": [{"role": "user", "content": "a wish"}]}


async def plain(_: Request, writer: Writer) -> None:
    writer.write(said("as you wish"))


async def never(_: Request, writer: Writer) -> None:
    """Half a stream, and then nothing."""
    writer.write(STREAM + chunk(event("half")))
    await writer.drain()
    await asyncio.sleep(SECONDS)


async def endless(_: Request, writer: Writer) -> None:
    await streamed(writer, 10**9, 1000)


def until(found: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not found():
        assert time.monotonic() < end
        time.sleep(0.02)


def statuses(port: int, count: int) -> list[int]:
    """Of so many chats on one connection."""
    client = HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    found = []
    for _ in range(count):
        client.request("POST", CHAT, json.dumps(ASKED))
        answer = client.getresponse()
        answer.read()
        found.append(answer.status)
    client.close()
    return found


def begun(port: int) -> socket.socket:
    """A client whose streamed answer has begun."""
    body = json.dumps({**ASKED, "stream": True}).encode()
    client = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
    client.sendall(b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%b" % (CHAT.encode(), len(body), body))  # fmt: skip
    assert client.recv(1 << 12).startswith(b"HTTP/1.1 200 ")
    return client


def end_of(client: socket.socket) -> str:
    """Whether the connection is closed or reset, once it is."""
    try:
        while client.recv(1 << 16):
            pass
    except ConnectionResetError:
        return "reset"
    return "closed"


def line_of(process: Process) -> str:
    assert process.stderr is not None
    return process.stderr.readline()


def test_it_ends_by_itself_after_its_time_and_sends_idle_clients_away(tmp_path: Path) -> None:
    with recording(plain) as a, recording(plain) as b, mirror(a.url, b.url, tmp_path, "--share", "1", "--for", "3s") as (process, port):  # fmt: skip
        with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as idle:
            assert statuses(port, 3) == [200] * 3
            assert idle.recv(1) == b""
        code, found = told(process)
    assert (code, found["interrupted"], found["verdict"]) == (3, False, "INCONCLUSIVE")
    assert found["mirror"]["asked_s"] == 3
    assert found["mirror"]["seconds"] >= 3
    assert found["mirror"]["compared"] == 3


def test_cut_short_it_lets_answers_under_way_come_to_their_end(tmp_path: Path) -> None:
    go = asyncio.Event()

    async def held(_: Request, writer: Writer) -> None:
        writer.write(STREAM + chunk(event("half")))
        await writer.drain()
        await go.wait()
        writer.write(chunk(event(" whole", "stop") + b"data: [DONE]\n\n") + b"0\r\n\r\n")

    async def free() -> None:
        go.set()

    with recording(held) as a, recording(plain) as b, mirror(a.url, b.url, tmp_path, "--share", "1", "--for", "1h", "--grace", "10m") as (process, port):  # fmt: skip
        with begun(port) as client:
            process.send_signal(signal.SIGINT)
            assert line_of(process) == (
                "No more is taken; 1 client waits for answers, for 10 min at most. Ctrl-C again cuts them.\n"
            )
            asyncio.run_coroutine_threadsafe(free(), a.loop).result(SECONDS)
            got = b""
            while piece := client.recv(1 << 12):
                got += piece
        code, found = told(process)
    assert got.endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n")
    assert (code, found["interrupted"]) == (130, True)
    assert found["mirror"]["compared"] == 1


def test_a_second_ctrl_c_and_the_end_of_the_grace_cut_a_server_that_hangs(tmp_path: Path) -> None:
    with recording(never) as a, recording(plain) as b:
        with mirror(a.url, b.url, tmp_path, "--share", "1", "--grace", "10m") as (process, port):
            with begun(port) as client:
                process.send_signal(signal.SIGINT)
                assert line_of(process).startswith("No more is taken; 1 client waits")
                code, found = ended(process)
                assert end_of(client) == "reset"
            assert (code, found["interrupted"]) == (3, False)
            assert found["mirror"]["unfinished"] == 1
        with mirror(a.url, b.url, tmp_path, "--share", "1", "--grace", "0.2s") as (process, port):
            with begun(port):
                code, found = ended(process)
            assert code == 3
            assert found["mirror"]["unfinished"] == 1
    assert len(a.chats) == 2


def test_a_b_that_hangs_is_left_out_once_it_is_full(tmp_path: Path) -> None:
    with recording(plain) as a, recording(never) as b, mirror(a.url, b.url, tmp_path, "--share", "1", "--concurrency", "4", "--grace", "0.2s") as (process, port):  # fmt: skip
        assert statuses(port, 30) == [200] * 30
        until(lambda: len(b.chats) == 4)
        _, found = ended(process)
    assert len(a.chats) == 30
    assert found["mirror"]["skipped"] == {"busy": 26}
    assert found["mirror"]["unfinished"] == 4
    assert found["mirror"]["traffic"]["statuses"] == {"200": 30}


def test_a_slow_and_a_resetting_b_are_figures_and_nothing_more(tmp_path: Path) -> None:
    async def by_turns(_: Request, writer: Writer) -> None:
        if len(b.chats) % 2:
            writer.transport.abort()
            return
        await asyncio.sleep(0.3)
        writer.write(said("as you wish"))

    with recording(plain) as a, recording(by_turns) as b, mirror(a.url, b.url, tmp_path, "--share", "1") as (process, port):  # fmt: skip
        assert statuses(port, 20) == [200] * 20
        until(lambda: len(b.chats) >= 16)
        _, found = ended(process)
    told = found["mirror"]
    assert told["outcomes"]["ok_ok"] + told["outcomes"]["ok_failed"] == told["put"]
    assert told["outcomes"]["ok_failed"] >= 1
    assert set(found["errors"]["b"]) <= {"reset", "closed_early"}
    assert found["errors"]["a"] == {}
    assert found["token_agreement"]["value"] == 1


def test_a_client_that_goes_away_ends_it_on_both_servers(tmp_path: Path) -> None:
    with recording(endless) as a, recording(endless) as b, mirror(a.url, b.url, tmp_path, "--share", "1") as (process, port):  # fmt: skip
        client = begun(port)
        until(lambda: len(b.chats) == 1)
        client.close()
        until(lambda: (a.gone, b.gone) == (1, 1))
        _, found = ended(process)
    assert found["mirror"]["aborted_by_client"] == 1
    assert found["mirror"]["compared"] == 0
    assert found["mirror"]["unfinished"] == 0


def test_a_reset_of_a_in_a_stream_is_one_to_its_client(tmp_path: Path) -> None:
    async def breaks(_: Request, writer: Writer) -> None:
        writer.write(STREAM + chunk(event("half")))
        await writer.drain()
        await asyncio.sleep(0.1)
        place = writer.get_extra_info("socket")
        place.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        writer.transport.abort()

    with recording(breaks) as a, recording(plain) as b, mirror(a.url, b.url, tmp_path, "--share", "1") as (process, port):  # fmt: skip
        with begun(port) as client:
            end = end_of(client)
        _, found = ended(process)
    assert end == "reset"
    assert found["errors"]["a"] == {"reset_mid_stream": 1}
    assert found["mirror"]["outcomes"]["failed_ok"] == 1
