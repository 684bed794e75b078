"""A server on this machine that lies: endless, slow, short, astray or broken answers."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ENDLESS = b"x" * (1 << 20)


@dataclass
class Lies:
    """What was asked: path and token of every request; where to send a client that is sent on."""

    url: str = ""
    other: str = ""
    asked: list[tuple[str, str | None]] = field(default_factory=list)


class LyingServer(ThreadingHTTPServer):
    """The first word of the path says which lie is told."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, lies: Lies) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.lies = lies
        lies.url = f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients hang up on liars; that is no news."""


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: LyingServer

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        self.server.lies.asked.append((self.path, self.headers.get("Authorization")))
        self.close_connection = True
        kind = self.path.split("/")[1]
        getattr(self, f"tell_{kind}", self.tell_nothing)()

    def head(self, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Connection", "close")  # else a client may ask again as we hang up
        self.end_headers()
        if self.command == "HEAD":
            raise ConnectionError("a HEAD has no body")

    def tell_nothing(self) -> None:
        self.head(404, Content_Length="0")

    def tell_endless(self) -> None:
        self.head(ETag='"1"', X_Repo_Commit="0" * 40)
        while True:
            self.wfile.write(ENDLESS)

    def tell_short(self) -> None:
        self.head(Content_Length="1000")
        self.wfile.write(b"vllm")

    def tell_drip(self) -> None:
        self.head(ETag='"1"', X_Repo_Commit="0" * 40)
        while True:
            self.wfile.write(b"#")
            time.sleep(0.1)

    def tell_slowheader(self) -> None:
        while True:
            self.wfile.write(b"H")
            time.sleep(0.1)

    def tell_error(self) -> None:
        self.head(500, Content_Length="0")

    def tell_binary(self) -> None:
        self.head(Content_Length="256")
        self.wfile.write(bytes(range(256)))

    def tell_garbage(self) -> None:
        self.wfile.write(b"\x00\x1b[31mnot http\r\n\r\n")

    def tell_file(self) -> None:
        self.head(302, Location="file:///etc/passwd", Content_Length="0")

    def tell_ftp(self) -> None:
        self.head(302, Location="ftp://127.0.0.1/x", Content_Length="0")

    def tell_circle(self) -> None:
        self.head(302, Location=self.path, Content_Length="0")

    def tell_redirect(self) -> None:
        """To another server, with a body that never ends."""
        self.head(302, Location=f"{self.server.lies.other}/nothing")
        while True:
            self.wfile.write(ENDLESS)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - inherited name
        del format, args


@contextmanager
def lying() -> Iterator[Lies]:
    """A server running beside the test."""
    lies = Lies()
    with LyingServer(lies) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield lies
        finally:
            server.shutdown()
            thread.join()
