"""A server that writes down every byte of its requests, and answers in the way that a test's coroutine says."""

import asyncio
import json
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from adversary import STREAM, chunk

Writer = asyncio.StreamWriter
_GONE = (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError)


@dataclass
class Request:
    """A request as it came: its first line, its headers in order, its body without the framing, the framed pieces."""

    line: str
    headers: list[tuple[str, str]]
    body: bytes = b""
    pieces: list[bytes] = field(default_factory=list)

    def all_of(self, name: str) -> list[str]:
        return [value for each, value in self.headers if each.lower() == name]

    @property
    def path(self) -> str:
        return self.line.split()[1]


Answer = Callable[[Request, Writer], Awaitable[None]]


@dataclass
class Recording:
    """What came, `gone` how many connections ended while an answer was being sent."""

    answer: Answer
    url: str = ""
    requests: list[Request] = field(default_factory=list)
    gone: int = 0
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)

    @property
    def chats(self) -> list[Request]:
        """Without the questions that a mirror puts itself."""
        return [each for each in self.requests if each.line.startswith(("POST", "HEAD", "PUT", "GET /own"))]  # fmt: skip

    async def serve(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        try:
            while True:
                request = await _read(reader, writer)
                self.requests.append(request)
                if request.path.endswith("/v1/models"):
                    writer.write(whole(json.dumps({"data": [{"id": "m"}]}).encode()))
                elif request.line.startswith("GET ") and not request.path.startswith("/own"):
                    writer.write(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
                else:
                    try:
                        await self.answer(request, writer)
                    except ConnectionError:
                        self.gone += 1
                        raise
                await writer.drain()
        except _GONE:
            pass
        finally:
            writer.transport.abort()


async def _read(reader: asyncio.StreamReader, writer: Writer) -> Request:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = [(name, value) for name, _, value in (each.partition(": ") for each in lines[1:] if each)]  # fmt: skip
    request = Request(lines[0], headers)
    if request.all_of("expect"):
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    if request.all_of("transfer-encoding"):
        while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
            request.pieces.append(await reader.readexactly(size))
            await reader.readexactly(2)
        await reader.readexactly(2)
        request.body = b"".join(request.pieces)
    elif length := request.all_of("content-length"):
        request.body = await reader.readexactly(int(length[0]))
    return request


def whole(body: bytes, kind: str = "application/json") -> bytes:
    """An answer that comes whole."""
    return b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\ncontent-length: %d\r\n\r\n%b" % (kind.encode(), len(body), body)  # fmt: skip


def said(text: str) -> bytes:
    """A chat's answer."""
    message = {"role": "assistant", "content": text}
    return whole(json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode())  # fmt: skip


def event(text: str, finish: str | None = None) -> bytes:
    """One event of a stream."""
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "s", "choices": [choice]}).encode() + b"\n\n"


async def streamed(writer: Writer, words: int, size: int = 1) -> None:
    """A stream of so many events, each a word of that size, as fast as it is taken."""
    writer.write(STREAM)
    for place in range(words):
        writer.write(chunk(event(" " + "w" * size, "stop" if place + 1 == words else None)))
        await writer.drain()
    writer.write(chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n")


@contextmanager
def recording(answer: Answer, tls: ssl.SSLContext | None = None) -> Iterator[Recording]:
    """The server, until the block ends."""
    found = Recording(answer)
    loop = found.loop
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def on_loop(made: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(made, loop).result(30)

    async def stop() -> None:
        server.close()
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            for each in others:
                each.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.wait(others, timeout=0.1)
        await asyncio.sleep(0.01)

    server = on_loop(asyncio.start_server(found.serve, "127.0.0.1", 0, ssl=tls, limit=1 << 20))
    port = server.sockets[0].getsockname()[1]
    found.url = f"{'https' if tls else 'http'}://localhost:{port}"
    try:
        yield found
    finally:
        on_loop(stop())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
