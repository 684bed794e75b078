"""What the head of a request must say to reach A, where the client wrote it for the proxy."""

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.trial.wire.target import Route, Target, route_to

_PORTS = {True: 443, False: 80}
Header = tuple[bytes, bytes]


@frozen
class Front:
    """`host` is A's own name; `prefix` comes before every path, empty where A is at the root of its address."""

    host: bytes
    prefix: bytes
    proxy_authorization: bytes | None = None

    def head(self, method: bytes, path: bytes, version: bytes, headers: list[Header]) -> bytes:
        """A request's head as the client wrote it, but for the host and the prefix."""
        lines = [b"%b %b HTTP/%b" % (method, self.prefix + path, version)]
        lines += [
            b"%b: %b" % (name, self.host if name.lower() == b"host" else value)
            for name, value in headers
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


def _host(route: Route) -> str:
    name = f"[{route.server.host}]" if ":" in route.server.host else route.server.host
    return name if route.server.port == _PORTS[route.tls] else f"{name}:{route.server.port}"
