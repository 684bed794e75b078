"""One page over a connection that stays open, bounded in time and size whatever the server does."""

import http.client
import socket
import ssl
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Final
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

from vramledger.deadline import within
from vramledger.frozen import frozen
from vramledger.trial.sampling.source import Missed
from vramledger.trial.wire.target import is_secret

MOST_BYTES: Final = 8 << 20
ACCEPT: Final = (
    "text/plain;version=0.0.4, application/openmetrics-text;version=1.0.0;q=0.5, */*;q=0.1"
)
KEY_GONE: Final = b"[the key]"
_PIECE: Final = 1 << 16
_STALE: Final = (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError)


@frozen
class Fetched:
    """A page, and of its head what is of use; header names are in lower case."""

    body: bytes
    headers: Mapping[str, str]


class PageConnection:
    """Asks for one address again and again, by GET or another method, with the same `body` where there is one.

    Not for use by two threads at once.

    Proxies of the environment are used as by the standard library. Redirects are refused. Where a page repeats the key
    that it was asked with, the key is taken out: pages go into records.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        timeout_s: float,
        most: int = MOST_BYTES,
        method: str = "GET",
        body: bytes | None = None,
    ) -> None:
        self._method, self._body = method, body
        self._parts, self._timeout_s, self._most = urlsplit(url), timeout_s, most
        self._headers = {"Accept": ACCEPT, "User-Agent": "vramledger", **headers}
        self._secret = _secret(headers)
        self._connection: http.client.HTTPConnection | None = None

    def get(self) -> Fetched:
        """The page.

        Raises:
            Missed: there is none within the time, or it is too large.
        """
        end = time.monotonic() + self._timeout_s
        try:
            return within(self._timeout_s, lambda: self._exchange(end))
        except TimeoutError:
            self.close()
            raise Missed("timeout", f"it did not answer within {self._timeout_s:g} s") from None
        except Missed:
            self.close()
            raise
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            raise missed_by(error) from None

    def close(self) -> None:
        """Drop the connection, under a thread that still waits for it too."""
        connection, self._connection = self._connection, None
        if connection is not None:
            if connection.sock is not None:
                with suppress(OSError):  # it is gone already, which is what is wanted
                    connection.sock.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _exchange(self, end: float) -> Fetched:
        reused = self._connection is not None
        try:
            return self._ask(end)
        except _STALE:
            if not reused:
                raise
            self.close()  # the server let the idle connection go, which it may
            return self._ask(end)

    def _ask(self, end: float) -> Fetched:
        if self._connection is None:
            self._connection = self._connect()
        connection = self._connection
        connection.request(self._method, self._path(), self._body, self._headers)
        with connection.getresponse() as response:  # its end leaves an open connection open
            body = self._body_of(response, end)
            headers = {
                name.lower(): self._without_key(value.encode()).decode()
                for name, value in response.headers.items()
            }
        if response.will_close:
            self.close()
        return Fetched(self._without_key(body), headers)

    def _body_of(self, response: http.client.HTTPResponse, end: float) -> bytes:
        if response.status // 100 != 2:
            raise Missed(f"http_{response.status}", f"it answers {response.status}")
        body = bytearray()
        while piece := response.read1(_PIECE):
            body += piece
            if len(body) > self._most:
                raise Missed("too_large", f"it sends more than {self._most:,} bytes")
            if time.monotonic() > end:
                raise TimeoutError
        if response.length:
            raise Missed("cut_off", "it ended before the length it had stated")
        return bytes(body)

    def _without_key(self, text: bytes) -> bytes:
        return text.replace(self._secret, KEY_GONE) if self._secret else text

    def _path(self) -> str:
        path = self._parts._replace(scheme="", netloc="", fragment="").geturl() or "/"
        proxied = self._parts.scheme == "http" and _proxy(self._parts) is not None
        return f"http://{self._host()}{path}" if proxied else path

    def _host(self) -> str:
        return self._parts.netloc.rpartition("@")[2]

    def _connect(self) -> http.client.HTTPConnection:
        host = self._parts.hostname
        if self._parts.scheme not in ("http", "https") or not host:
            raise Missed("address", "its address is no http:// or https:// address")
        secure = self._parts.scheme == "https"
        made = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        proxy = _proxy(self._parts)
        if proxy is None:
            return made(host, self._parts.port, timeout=self._timeout_s)
        connection = made(proxy.hostname or "", proxy.port or 80, timeout=self._timeout_s)
        if secure:
            connection.set_tunnel(host, self._parts.port or 443)
        return connection


def missed_by(error: Exception) -> Missed:
    """An error of the standard library as a class and a sentence, without the server's words."""
    for kind, error_class, why in _KINDS:
        if isinstance(error, kind):
            return Missed(error_class, why)
    return Missed("connection", "the connection failed")


def _secret(headers: Mapping[str, str]) -> bytes:
    """The key among these headers; empty where there is none, or only a word that stands for one."""
    key = headers.get("Authorization", "").removeprefix("Bearer ")
    return key.encode() if is_secret(key) else b""


def _proxy(parts: SplitResult) -> SplitResult | None:
    given = getproxies().get(parts.scheme)
    if not given or proxy_bypass(parts.hostname or ""):
        return None
    return urlsplit(given if "://" in given else f"http://{given}")


_KINDS: Final[tuple[tuple[type[Exception], str, str], ...]] = (
    (ssl.SSLCertVerificationError, "tls", "its certificate is not trusted"),
    (ssl.SSLError, "tls", "the TLS handshake failed"),
    (socket.gaierror, "dns", "its name cannot be resolved"),
    (ConnectionRefusedError, "connect_refused", "nothing listens there"),
    (ConnectionResetError, "reset", "it closed the connection"),
    (BrokenPipeError, "reset", "it closed the connection"),
    (http.client.RemoteDisconnected, "reset", "it closed the connection"),
    (http.client.IncompleteRead, "cut_off", "it ended before its last chunk"),
    (http.client.HTTPException, "no_http", "what it answers is not HTTP"),
    (ValueError, "no_http", "what it answers is not HTTP"),
)
