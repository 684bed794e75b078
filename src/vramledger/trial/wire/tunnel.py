"""Asking a proxy for a tunnel to the server, by CONNECT (RFC 9110, 9.3.6), before TLS begins."""

import asyncio
import re
import socket
from typing import Final

from vramledger.trial.wire.target import Route

_LONGEST: Final = 16 << 10
_OPENED: Final = re.compile(rb"HTTP/1\.[01] 2\d\d[ \r]")


class TunnelRefused(Exception):
    """The proxy would not."""


async def ask_for_tunnel(sock: socket.socket, route: Route) -> None:
    """Open a tunnel through the proxy that the socket is connected to.

    Raises:
        TunnelRefused: the proxy answers anything else than yes.
        OSError: the connection failed.
    """
    loop = asyncio.get_running_loop()
    host = f"[{route.server.host}]" if ":" in route.server.host else route.server.host
    place = f"{host}:{route.server.port}"
    lines = [f"CONNECT {place} HTTP/1.1", f"Host: {place}"]
    if route.proxy_authorization is not None:
        lines.append(f"Proxy-Authorization: {route.proxy_authorization}")
    await loop.sock_sendall(sock, ("\r\n".join(lines) + "\r\n\r\n").encode())
    answer = b""
    while b"\r\n\r\n" not in answer and len(answer) < _LONGEST:
        piece = await loop.sock_recv(sock, 1)  # no byte of what comes after the head
        if not piece:
            break
        answer += piece
    if not answer.endswith(b"\r\n\r\n") or _OPENED.match(answer) is None:
        raise TunnelRefused
