"""What the head of a request must say to reach A, where the client wrote it for the proxy."""

from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.trial.wire.target import Route, Target, route_to

_PORTS: Final = {True: 443, False: 80}
_TO_A_PROXY: Final = frozenset({b"proxy-authorization", b"proxy-connection"})
_OF_BOTH: Final = frozenset(  # a connection of a client is one to A, so these mean the same to A
    {b"close", b"keep-alive", b"upgrade", b"te", b"transfer-encoding", b"content-length", b"host"}
)
Header = tuple[bytes, bytes]


@frozen
class Front:
    """`host` is A's own name; `prefix` comes before every path, empty where A is at the root of its address."""

    host: bytes
    prefix: bytes
    proxy_authorization: bytes | None = None

    def head(self, method: bytes, path: bytes, version: bytes, headers: list[Header]) -> bytes:
        """A request's head as the client wrote it, but for the host, the prefix, and what was meant for a proxy alone.

        That is the client's key to a proxy, and every header that ``Connection`` names as one of this connection (RFC 9110, 7.6.1).
        """
        lines = [b"%b %b HTTP/%b" % (method, self.prefix + path, version)]
        left_out = _TO_A_PROXY | (_named(headers) - _OF_BOTH)
        lines += [
            b"%b: %b" % (name, self.host if name.lower() == b"host" else value)
            for name, value in headers
            if name.lower() not in left_out
        ]
        if self.proxy_authorization is not None:
            lines.append(b"Proxy-Authorization: " + self.proxy_authorization)
        return b"\r\n".join((*lines, b"", b""))


def front_of(target: Target) -> Front:
    """What leads to a target whose `path` is empty.

    Raises:
        BadInput: the address holds a question mark, or none that can be reached.
    """
    route = route_to(target)
    if "?" in route.path:
        raise BadInput(f"{target.url} holds a question mark; give A's address up to its path.")
    authorization = None if route.tunnel else route.proxy_authorization
    return Front(
        _host(route).encode("idna" if not _host(route).isascii() else "ascii"),
        route.path.encode("ascii", "backslashreplace"),
        authorization.encode() if authorization is not None else None,
    )


def _named(headers: list[Header]) -> frozenset[bytes]:
    """The options of ``Connection``, in lower case."""
    values = (value for name, value in headers if name.lower() == b"connection")
    return frozenset(each.strip().lower() for value in values for each in value.split(b","))


def _host(route: Route) -> str:
    name = f"[{route.server.host}]" if ":" in route.server.host else route.server.host
    return name if route.server.port == _PORTS[route.tls] else f"{name}:{route.server.port}"
