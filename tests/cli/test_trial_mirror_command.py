"""``vram trial shadow --mirror``: nothing of B may be felt by a client, and nothing a client says may be kept."""

import json
import socket
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from answering_server import Scripted, answering
from commands import vram_here
from documents.json_keys import covers, documented, printed_paths
from mirror_process import SECONDS, ended, mirror
from rehearse_server import MODEL, rehearsal

JSON_PAGE = Path(__file__).parents[2] / "docs/reference/json.md"
KEY = "sk-this-is-the-planted-key"


def ask(port: int, count: int, **body: Any) -> list[tuple[int, bytes]]:
    """So many chats on one connection."""
    client = HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    found = []
    for number in range(count):
        asked = {"messages": [{"role": "user", "content": f"a secret wish {number}"}], **body}
        headers = {"Authorization": f"Bearer {KEY}"}
        client.request("POST", "/v1/chat/completions", json.dumps(asked), headers)
        answer = client.getresponse()
        found.append((answer.status, answer.read()))
    client.close()
    return found


def same(prompt: str) -> Scripted:
    return Scripted([f" w{place}" for place in range(20)] + [f" {prompt[-1]}"])


def parting(prompt: str) -> Scripted:
    """Every prompt that ends in 0 or 5 parts at its eleventh word."""
    said = same(prompt)
    if int(prompt[-1]) % 5:
        return said
    return Scripted([*said.tokens[:10], " other", *said.tokens[11:]])


def test_live_traffic_is_compared_and_nothing_of_it_is_kept(tmp_path: Path) -> None:
    with (
        answering(same) as a,
        answering(parting) as b,
        mirror(a.url, b.url, tmp_path, "--share", "1", "-o", "m.json") as (process, port),
    ):
        greedy = ask(port, 40, temperature=0)
        drawn = ask(port, 5, temperature=1)
        code, found = ended(process)
    assert [status for status, _ in (*greedy, *drawn)] == [200] * 45
    assert (len(a.asked), len(b.asked)) == (45, 45)
    assert (set(a.keys), set(b.keys)) == ({f"Bearer {KEY}"}, {None})
    assert (code, found["verdict"], found["basis"]) == (3, "INCONCLUSIVE", "measured")
    assert found["parted"] == 8
    assert {each["agreed_tokens"] for each in found["compared"] if each["parted"]} == {10}
    told = found["mirror"]
    assert (told["put"], told["compared"], told["compared_greedy"]) == (45, 45, 40)
    assert told["outcomes"] == {"ok_ok": 45, "ok_failed": 0, "failed_ok": 0, "failed_failed": 0}
    assert told["traffic"]["requests"] == 45
    assert told["switch"]["share"] is not None
    listed = documented(JSON_PAGE.read_text(encoding="utf-8"))["vramledger.shadow/1"]
    assert [path for path in printed_paths(found) if not covers(listed, path)] == []
    written = (tmp_path / "m.json").read_text("utf-8")
    assert KEY not in written
    assert "secret" not in written


def test_a_failing_and_a_dead_b_never_touch_the_client(tmp_path: Path) -> None:
    with (
        answering(same) as a,
        answering(lambda _: Scripted((), status=500)) as b,
        mirror(a.url, b.url, tmp_path, "--share", "1") as (process, port),
    ):
        assert [status for status, _ in ask(port, 10, temperature=0)] == [200] * 10
        _, found = ended(process)
    assert found["errors"] == {"a": {}, "b": {"http_500": 10}}
    assert found["mirror"]["failed_by_b"]["value"] == 1
    with answering(same) as a:
        with answering(same) as b:
            started = mirror(a.url, b.url, tmp_path, "--share", "1")
            process, port = started.__enter__()
        try:  # B is gone
            assert [status for status, _ in ask(port, 10, temperature=0)] == [200] * 10
            _, found = ended(process)
        finally:
            started.__exit__(None, None, None)
    assert found["errors"]["b"] == {"connect_refused": 10}


def test_a_stream_passes_byte_by_byte_and_an_abort_reaches_both(tmp_path: Path) -> None:
    body = {
        "model": MODEL,
        "stream": True,
        "temperature": 0,
        "max_tokens": 2000,
        "ignore_eos": True,
    }
    with (
        rehearsal() as a,
        rehearsal() as b,
        mirror(a.address, b.address, tmp_path, "--share", "1") as (process, port),
    ):
        (_, stream), (_, again) = ask(port, 2, **{**body, "max_tokens": 8})
        assert stream.endswith(b"data: [DONE]\n\n")
        assert stream.count(b'"content":') == again.count(b'"content":')
        text = json.dumps({**body, "messages": [{"role": "user", "content": "x"}]}).encode()
        with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as client:
            head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n"
            client.sendall(head % len(text) + text)
            assert client.recv(1 << 12).startswith(b"HTTP/1.1 200 ")
        code, found = ended(process)
    assert found["mirror"]["aborted_by_client"] == 1
    assert found["mirror"]["compared_greedy"] == 2
    assert found["mirror"]["latencies"]["ttft_s"]["requests"] == 2
    assert (code, found["basis"]) == (3, "rehearsed")


def test_without_a_the_client_is_told_so(tmp_path: Path) -> None:
    with answering(same) as b:
        with answering(same) as a:
            started = mirror(a.url, b.url, tmp_path)
            process, port = started.__enter__()
        try:
            ((status, answer),) = ask(port, 1)
            _, found = ended(process)
        finally:
            started.__exit__(None, None, None)
    assert status == 502
    assert json.loads(answer)["error"]["message"] == (
        "The server behind this mirror cannot be reached. Nothing listens at the address; start the server or correct the port."
    )
    assert found["mirror"]["traffic"]["unreached"]["connect_refused"] >= 1


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--mirror", "--a", "http://h"], "A mirror needs both servers: --a URL answers the clients, --b URL is compared."),
        (["--mirror", "--a", "http://h", "--b", "http://h", "--share", "0"], "--share is 0; it is a share above 0 and up to 1, such as 0.01."),
        (["--mirror", "--a", "http://h", "--b", "http://h", "--requests", "5"], "--requests belongs to a comparison by prompts, and a mirror takes what its clients ask; leave it out."),
        (["--a", "http://h", "--b", "http://h", "--share", "0.5"], "--share belongs to a mirror; add --mirror, or leave it out."),
        (["--mirror", "--a", "http://h", "--b", "http://h", "--listen", "8100"], "--listen is '8100'; write HOST:PORT, such as 127.0.0.1:8100, or [::1]:8100."),
    ],
)  # fmt: skip
def test_mirrors_that_mean_nothing_are_refused(more: list[str], said: str, tmp_path: Path) -> None:
    done = vram_here(["trial", "shadow", *more], tmp_path)
    assert (done.returncode, done.stderr) == (2, f"vram: {said}\n")
