"""A server on loopback that does wrong in the way that the path names, and a proxy; each in a thread of its own."""

import asyncio
import shutil
import ssl
import subprocess
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

_OVER = (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError)  # the server stops

STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
ROLE = b'data: {"id":"a-1","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n'
USAGE = b'data: {"id":"a-1","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2}}\n\n'
DONE = b"data: [DONE]\n\n"


def token(text: str, finish: str = "null") -> bytes:
    choice = f'{{"index":0,"delta":{{"content":"{text}"}},"finish_reason":{finish}}}'
    return f'data: {{"id":"a-1","choices":[{choice}]}}\n\n'.encode()


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


GOOD = ROLE + token("one") + token("two", '"length"') + USAGE + DONE
END = b"0\r\n\r\n"


def plain(status: str, body: bytes, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}"]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def error(status: str, *headers: str) -> bytes:
    return plain(status, b'{"error":{"message":"no"}}', "Content-Type: application/json", *headers)


# What is sent, then the connection is closed.
ANSWERS = {
    "good": STREAM + chunk(GOOD) + END,
    "http_400": error("400 Bad Request"),
    "http_401": error("401 Unauthorized"),
    "http_429": error("429 Too Many Requests", "Retry-After: 7"),
    "http_500": error("500 Internal Server Error"),
    "http_503": error("503 Service Unavailable", "Retry-After: 2.5"),
    "redirect": plain("307 Temporary Redirect", b"", "Location: http://127.0.0.1:1/elsewhere"),
    "closed_early": b"",
    "no_http": b"SSH-2.0-OpenSSH_9.2\r\n",
    "line_feeds_alone": b"HTTP/1.1 200 OK\nContent-Type: text/event-stream\n\n" + GOOD,
    "two_lengths": plain("200 OK", GOOD, "Content-Type: text/event-stream", f"Content-Length: {len(GOOD)}"),
    "bad_head": b"HTTP/1.1 200 OK\r\nContent Type: text/event-stream\r\n\r\n" + GOOD,
    "bad_chunking": STREAM + chunk(ROLE) + b"zz\r\nwhat\r\n",
    "wrong_content_type": plain("200 OK", b"<html>hello</html>", "Content-Type: text/html"),
    "encoded": plain("200 OK", b"", "Content-Type: text/event-stream", "Content-Encoding: gzip"),
    "bad_json": STREAM + chunk(ROLE + b'data: {"id":oops}\n\n' + DONE) + END,
    "bad_chunk": STREAM + chunk(b"data: [1, 2]\n\n") + END,
    "half_json": STREAM + chunk(ROLE + token("one") + b'data: {"id":"a-1","choi'),
    "error_in_stream": STREAM + chunk(ROLE + token("one") + b'data: {"error":{"message":"full"}}\n\n'),
    "error_event": STREAM + chunk(ROLE + token("one") + b'event: error\ndata: {"code":500,"detail":"full"}\n\n' + DONE) + END,
    "closed_mid_stream": STREAM + chunk(ROLE + token("one")),
    "no_done": STREAM + chunk(ROLE + token("one")) + END,
    "aborted": STREAM + chunk(ROLE + token("one", '"abort"') + DONE) + END,
    "too_short": STREAM + chunk(ROLE + token("one", '"stop"') + DONE) + END,
    "too_long": STREAM + chunk(GOOD.replace(b'"completion_tokens":2', b'"completion_tokens":2000000')) + END,
    "without_done": STREAM + chunk(ROLE + token("one") + token("two", '"length"') + USAGE) + END,
    "goes_on": STREAM + chunk(GOOD) + chunk(token("more") + token("more")) + END,
    "until_close": STREAM.replace(b"Transfer-Encoding: chunked\r\n", b"") + GOOD,
}  # fmt: skip


async def _split_in_characters(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """The stream in pieces of one byte, its text in Chinese."""
    data = ROLE + token("\u4f60") + token("\u597d", '"length"') + USAGE + DONE
    writer.write(STREAM)
    for at in range(len(data)):
        writer.write(chunk(data[at : at + 1]))
        await writer.drain()
        await asyncio.sleep(0.0001)
    writer.write(END)


async def _line_too_long(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(STREAM + chunk(ROLE))
    for _ in range(160):
        writer.write(chunk(b"x" * 65_536))
        await writer.drain()


async def _endless_head(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X-More: " + b"y" * 1_000 + b"\r\n")
        await writer.drain()


async def _stalled(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(STREAM + chunk(ROLE + token("one")))
    await asyncio.sleep(60)


async def _slow_drip(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(STREAM + chunk(ROLE))
    while True:
        writer.write(chunk(b"x"))
        await writer.drain()
        await asyncio.sleep(0.02)


async def _reset(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    _cut(writer)


async def _reset_mid_stream(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(STREAM + chunk(ROLE + token("one")))
    await writer.drain()
    await asyncio.sleep(0.1)
    _cut(writer)


async def _never_ends(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A complete answer in a response that goes on."""
    writer.write(STREAM + chunk(GOOD))
    await asyncio.sleep(60)


def _cut(writer: asyncio.StreamWriter) -> None:
    sock = writer.get_extra_info("socket")
    sock.setsockopt(1, 13, b"\x01\x00\x00\x00\x00\x00\x00\x00")  # SO_LINGER of 0 s: close sends RST
    writer.transport.abort()


ACTS: dict[str, Serve] = {
    "split_in_characters": _split_in_characters,
    "line_too_long": _line_too_long,
    "endless_head": _endless_head,
    "stalled": _stalled,
    "slow_drip": _slow_drip,
    "reset": _reset,
    "reset_mid_stream": _reset_mid_stream,
    "never_ends": _never_ends,
}


@dataclass
class Adversary:
    """Where it listens, and what it was sent: request line and headers, in lower case, and bodies."""

    port: int = 0
    heads: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    connections: int = 0

    def url(self, scheme: str = "http", host: str = "127.0.0.1") -> str:
        return f"{scheme}://{host}:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with suppress(*_OVER):
            while await self._serve_one(reader, writer):
                pass
            await writer.drain()
        await _closed(writer)

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await read_head(reader)
        self.bodies.append(await reader.readexactly(int(head["content-length"])))
        self.heads.append(head)
        name = head[""].split()[1].rpartition("/")[2]
        if name == "kept":  # a good answer, and the connection stays
            writer.write(ANSWERS["good"])
            return True
        if name == "kept_once":  # a good answer, then the server closes after a moment
            writer.write(ANSWERS["good"])
            await writer.drain()
            await asyncio.sleep(0.05)
            return False
        if name in ACTS:
            await ACTS[name](reader, writer)
        else:
            writer.write(ANSWERS[name])
        return False


async def read_head(reader: asyncio.StreamReader) -> dict[str, str]:
    """The request line under the empty name, the headers under theirs."""
    lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    named = (line.partition(": ") for line in lines[1:] if line)
    return {"": lines[0]} | {name.lower(): value for name, _, value in named}


@contextmanager
def adversary(tls: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> Iterator[Adversary]:
    """The server, until the end of the block."""
    found = Adversary()
    with _listening(found.serve, host, tls) as found.port:
        yield found


@dataclass
class Proxy:
    """Where it listens, and what was asked of it; refuses tunnels when told to."""

    port: int = 0
    asked: list[dict[str, str]] = field(default_factory=list)
    refuses: bool = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(*_OVER):
            head = await read_head(reader)
            self.asked.append(head)
            method, address, _ = head[""].split()
            if self.refuses:
                writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
            elif method == "CONNECT":
                await _tunnel(address, reader, writer)
            else:
                body = await reader.readexactly(int(head["content-length"]))
                writer.write(ANSWERS["good"] if body else b"")
        await _closed(writer)


@contextmanager
def proxy() -> Iterator[Proxy]:
    """A proxy, until the end of the block; plain requests it answers itself."""
    found = Proxy()
    with _listening(found.serve, "127.0.0.1", None) as found.port:
        yield found


async def _tunnel(address: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    host, _, port = address.rpartition(":")
    there_reader, there_writer = await asyncio.open_connection(host, int(port))
    writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
    try:  # either end may cut its connection in the middle
        await asyncio.gather(
            _copy(reader, there_writer), _copy(there_reader, writer), return_exceptions=True
        )
    finally:
        there_writer.transport.abort()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while piece := await reader.read(65_536):
            writer.write(piece)
    finally:
        writer.close()


async def _closed(writer: asyncio.StreamWriter) -> None:
    """Send what is left and close; cut a connection whose other end takes nothing."""
    writer.close()
    with suppress(*_OVER, TimeoutError):
        await asyncio.wait_for(writer.wait_closed(), 0.2)
    writer.transport.abort()


def certificate(folder: Path) -> Path:
    """A certificate of its own authority for localhost, with its key, in one PEM file.

    Raises:
        FileNotFoundError: there is no openssl.
    """
    made, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        [shutil.which("openssl") or "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", made],
        check=True,
        capture_output=True,
    )  # fmt: skip
    made.write_bytes(made.read_bytes() + key.read_bytes())
    return made


@contextmanager
def _listening(serve: Serve, host: str, tls: ssl.SSLContext | None) -> Iterator[int]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    serving: set[asyncio.Task[None]] = set()

    async def let_in(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            serving.add(task)
        try:
            with suppress(asyncio.CancelledError):
                await serve(reader, writer)
        finally:
            writer.transport.abort()

    async def start() -> asyncio.Server:
        return await asyncio.start_server(let_in, host, 0, ssl=tls)

    async def stop() -> None:
        """Let in who knocks first: a server that closes in the middle of that leaks the connection."""
        for _ in range(10):
            await asyncio.sleep(0.002)
        server.close()
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in others & serving:
                task.cancel()
            await asyncio.wait(others, timeout=0.05)
        await asyncio.sleep(0.01)  # connections are closed in the next rounds

    server = asyncio.run_coroutine_threadsafe(start(), loop).result(10)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        asyncio.run_coroutine_threadsafe(stop(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
