"""What ``vram trial shadow --mirror`` adds to an answer: the same request straight to a server and through the mirror, in turn.

The server is a small one of this script, so that its own time is short and steady. Both ways keep their connection; a
share of 1 is put to a second server too, the most that there can be. Medians of five rounds, each with the load beside it. Exit 1 when the
median added is 1 ms or more.
"""

import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Final, NamedTuple, cast

import uvloop

_ROUNDS: Final = 5
_PAIRS: Final = 400
_STREAMS: Final = 60  # pairs of a round
_MOST_MS: Final = 1.0
_WORDS: Final = 20
_APART_S: Final = 0.002  # between events
_REQUEST: Final = json.dumps(
    {"model": "m", "temperature": 0, "messages": [{"role": "user", "content": "x" * 2000}]}
).encode()
_STREAM: Final = json.dumps({**json.loads(_REQUEST), "stream": True}).encode()


class Answering(asyncio.Protocol):
    """Answers every request whole, or in events where it asks for a stream."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client is there."""
        self._transport, self._got = cast("asyncio.Transport", transport), b""
        place = transport.get_extra_info("socket")
        place.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data: bytes) -> None:
        """Some of a request."""
        self._got += data
        head, found, rest = self._got.partition(b"\r\n\r\n")
        if not found:
            return
        lengths = [each for each in head.lower().split(b"\r\n") if each.startswith(b"content-length:")]  # fmt: skip
        length = int(lengths[0].split(b":")[1]) if lengths else 0
        if len(rest) < length:
            return
        self._got = rest[length:]
        self._send(_pieces(head, rest[:length]))

    def _send(self, pieces: list[bytes]) -> None:
        """The first now, the others one by one."""
        self._transport.write(pieces[0])
        if pieces[1:] and not self._transport.is_closing():
            asyncio.get_running_loop().call_later(_APART_S, self._send, pieces[1:])


def _pieces(head: bytes, body: bytes) -> list[bytes]:
    if head.startswith(b"GET"):
        return [_whole({"data": [{"id": "m"}]})]
    if b'"stream": true' not in body:
        message = {"role": "assistant", "content": "as you wish"}
        return [_whole({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})]
    events = [_event(" w", None) for _ in range(_WORDS - 1)]
    last = _event("", "stop") + _chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n"
    events[0] = _STREAM_HEAD + events[0]
    return [*events, last]


_STREAM_HEAD: Final = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
)


def _whole(content: object) -> bytes:
    body = json.dumps(content).encode()
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)  # fmt: skip


def _event(text: str, finish: str | None) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return _chunk(b"data: " + json.dumps({"id": "s", "choices": [choice]}).encode() + b"\n\n")


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def serve() -> None:
    """The server; its port is the first line of output."""

    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", 0)
        sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
        sys.stdout.flush()
        await server.serve_forever()

    uvloop.run(run())


@contextmanager
def _started(*words: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.terminate()


def _pipe(found: IO[str] | None) -> IO[str]:
    if found is None:
        raise AssertionError("no pipe")
    return found


@contextmanager
def _server() -> Iterator[int]:
    with _started(__file__, "serve") as process:
        yield int(_pipe(process.stdout).readline())


@contextmanager
def _mirror(a: int, b: int, out: str) -> Iterator[int]:
    words = ("-m", "vramledger", "trial", "shadow", "--mirror", "--share", "1", "--listen", "127.0.0.1:0", "-o", out)  # fmt: skip
    sides = ("--a", f"http://127.0.0.1:{a}", "--b", f"http://127.0.0.1:{b}")
    with _started(*words, *sides) as process:
        yield int(_pipe(process.stderr).readline().split("127.0.0.1:")[1].split()[0])


class Took(NamedTuple):
    """Milliseconds to the first byte of an answer, and to its last."""

    first: float
    last: float


class Way:
    """A kept connection."""

    def __init__(self, port: int) -> None:
        self._place = socket.create_connection(("127.0.0.1", port))
        self._place.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, body: bytes) -> Took:
        """One request, and how long its answer took."""
        head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
        begin = time.perf_counter()
        self._place.sendall(head % len(body) + body)
        got = self._place.recv(1 << 16)
        first = time.perf_counter()
        while not _is_whole(got):
            got += self._place.recv(1 << 16)
        return Took((first - begin) * 1e3, (time.perf_counter() - begin) * 1e3)

    def close(self) -> None:
        """End it."""
        self._place.close()


def _is_whole(got: bytes) -> bool:
    head, found, body = got.partition(b"\r\n\r\n")
    if b"chunked" in head:
        return got.endswith(b"0\r\n\r\n")
    return bool(found) and len(body) >= int(head.split(b"content-length: ")[1].split(b"\r\n")[0])


def added(direct: Way, through: Way, body: bytes, count: int) -> tuple[Took, Took, Took]:
    """Medians of a round: direct, through, and what a pair's answers differ by."""
    pairs: list[tuple[Took, Took]] = []
    for number in range(count):
        took = {way: way.ask(body) for way in ((direct, through), (through, direct))[number % 2]}
        pairs.append((took[direct], took[through]))
    ways = [_median([pair[place] for pair in pairs]) for place in (0, 1)]
    more = _median([Took(y.first - x.first, y.last - x.last) for x, y in pairs])
    return ways[0], ways[1], more


def _median(took: list[Took]) -> Took:
    return Took(
        statistics.median(each.first for each in took), statistics.median(each.last for each in took)
    )  # fmt: skip


def main() -> int:
    """Print what is added to whole and to streamed answers; 1 where it is too much."""
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder, _server() as a, _server() as b, _mirror(a, b, f"{folder}/m.json") as port:  # fmt: skip
        direct, through = Way(a), Way(port)
        for way in (direct, through):
            for _ in range(50):
                way.ask(_REQUEST)
        for name, body, count in (("an answer that comes whole", _REQUEST, _PAIRS), (f"a stream of {_WORDS} events", _STREAM, _STREAMS)):  # fmt: skip
            rounds = [added(direct, through, body, count) for _ in range(_ROUNDS)]
            first = statistics.median(more.first for _, _, more in rounds)
            last = statistics.median(more.last for _, _, more in rounds)
            straight = statistics.median(way.last for way, _, _ in rounds)
            print(
                f"mirror, {name}: {straight:.2f} ms straight, {last:.2f} ms more through it "
                f"({min(m.last for _, _, m in rounds):.2f} to {max(m.last for _, _, m in rounds):.2f} in {_ROUNDS} rounds of {count} pairs), "
                f"{first:.2f} ms more to the first byte; load {os.getloadavg()[0]:.1f}"
            )
            worst = max(worst, last)
        direct.close()
        through.close()
    return int(worst >= _MOST_MS)


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    else:
        sys.exit(main())
