"""Where requests go: the address, the way to it, and the key, which never stands in a record."""

import os
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies_environment, proxy_bypass_environment  # type: ignore[attr-defined]

from vramledger import __version__
from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.named_file import read_bytes
from vramledger.printable import without_password

CHAT: Final = "/v1/chat/completions"
COMPLETIONS: Final = "/v1/completions"
_PORTS: Final = {"http": 80, "https": 443}
_LONGEST_KEY: Final = 16 << 10
_SHORTEST_SECRET: Final = 8


@frozen
class Target:
    """An endpoint of a server. Secrets are named, not held: `key_env` is an environment variable, `key_file` a file.

    `url` is the server's base, with or without ``/v1``; `path` the endpoint under it. `proxy` is the address of a
    proxy, or None for what the environment says (HTTP_PROXY, HTTPS_PROXY, NO_PROXY), or empty for none. With `trace`,
    16 hexadecimal digits, every request carries `traceparent` and `x-request-id` made of them and its number.
    """

    url: str
    path: str = CHAT
    key_env: str | None = None
    key_file: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    ca_file: str | None = None
    check_certificate: bool = True
    proxy: str | None = None
    trace: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The target as a JSON object."""
        return {each.name: getattr(self, each.name) for each in fields(self)} | {
            "headers": dict(self.headers)
        }

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> "Target":
        """What `to_json` made."""
        return cls(**found)


@frozen
class Place:
    """Host and port of something that listens."""

    host: str
    port: int


@frozen
class Route:
    """How to reach a target: whom to connect to, and through which tunnel if any.

    `first` is the server or its proxy; with `tunnel`, the proxy is asked for a connection to `server`.
    `path` is what the request line says: a whole address where a proxy forwards plain HTTP.
    """

    server: Place
    first: Place
    tls: bool
    tunnel: bool
    proxied: bool
    path: str
    proxy_authorization: str | None = field(default=None, repr=False)


def route_to(target: Target) -> Route:
    """The way to a target.

    Raises:
        BadInput: the address or the proxy's is none, or holds a password.
    """
    parts = _parts(target.url, "server")
    server = _place(parts)
    tls = parts.scheme == "https"
    base = parts.path.rstrip("/").removesuffix("/v1")
    path = base + target.path + (f"?{parts.query}" if parts.query else "")
    proxy = _proxy(target, parts)
    if proxy is None:
        return Route(server, server, tls, tunnel=False, proxied=False, path=path)
    authorization = _basic(proxy) if proxy.username else None
    whole = path if tls else f"http://{parts.netloc}{path}"
    return Route(server, _place(proxy), tls, tls, proxied=True, path=whole, proxy_authorization=authorization)  # fmt: skip


def key_of(target: Target) -> str | None:
    """The API key, from where the target says; None where it names no place.

    Raises:
        BadInput: it is not there, or cannot stand in a header.
    """
    if target.key_file is not None:
        path = Path(target.key_file)
        key = read_bytes(path, _LONGEST_KEY, "an API key").decode("latin-1").strip()
        where = str(path)
    elif target.key_env is not None:
        key, where = os.environ.get(target.key_env, "").strip(), f"${target.key_env}"
    else:
        return None
    if not key or not key.isascii() or not key.isprintable():
        raise BadInput(f"{where} holds no API key; put the key there, on one line.")
    return key


def is_secret(key: str) -> bool:
    """Whether a key must be taken out of what a server repeats; shorter ones, such as EMPTY, may be part of any word."""
    return len(key) >= _SHORTEST_SECRET


def request_head(target: Target, route: Route, key: str | None) -> bytes:
    """The head of every request to the target, up to the value of Content-Length.

    Raises:
        BadInput: a header cannot be sent.
    """
    host = f"[{route.server.host}]" if ":" in route.server.host else route.server.host
    default = _PORTS["https" if route.tls else "http"]
    headers = {
        "Host": host if route.server.port == default else f"{host}:{route.server.port}",
        "User-Agent": f"vramledger/{__version__}",
        "Accept": "text/event-stream",
        "Accept-Encoding": "identity",
        "Content-Type": "application/json",
        **target.headers,
    }
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    if route.proxy_authorization is not None and not route.tunnel:
        headers["Proxy-Authorization"] = route.proxy_authorization
    lines = [f"POST {route.path} HTTP/1.1", *(f"{name}: {headers[name]}" for name in headers)]
    if not all(line.isascii() and line.isprintable() for line in lines):
        raise BadInput(
            "A header or the path holds a character that HTTP does not allow; write it without."
        )
    return ("\r\n".join(lines) + "\r\nContent-Length: ").encode()


def _proxy(target: Target, parts: SplitResult) -> SplitResult | None:
    if target.proxy is not None:
        found = _parts(target.proxy, "proxy") if target.proxy else None
        if found is not None and found.username:
            raise BadInput(
                "The proxy's address holds a password; give it in $HTTPS_PROXY or $HTTP_PROXY instead."
            )
    else:
        proxies = getproxies_environment()
        address = proxies.get(parts.scheme)
        bypassed = proxy_bypass_environment(parts.netloc.rpartition("@")[2], proxies)
        found = _parts(address, "proxy") if address and not bypassed else None
    if found is not None and found.scheme != "http":
        raise BadInput(
            f"The proxy {without_password(found.geturl())} wants TLS to itself, and proxies are spoken to in plain HTTP only; give "
            "its http:// address, or name the server in $NO_PROXY."
        )
    return found


def _parts(url: str, whose: str) -> SplitResult:
    shown = without_password(url)
    try:
        parts = urlsplit(url)
        known = parts.scheme in _PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        known = False
    if not known:
        raise BadInput(
            f"{shown!r} is no address of a {whose}; write it as http://HOST:PORT or https://HOST."
        )
    if parts.username and whose == "server":
        raise BadInput(
            f"{shown!r} holds a password; give the key by an environment variable or a file."
        )
    return parts


def _place(parts: SplitResult) -> Place:
    return Place(parts.hostname or "", parts.port or _PORTS[parts.scheme])


def _basic(parts: SplitResult) -> str:
    words = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return f"Basic {b64encode(words.encode()).decode()}"
