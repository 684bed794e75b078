"""Opening connections: names, TCP, proxies and TLS, with every way to fail told apart."""

import asyncio
import errno
import socket
import ssl
from collections.abc import Callable
from typing import Any, Final, TypeVar

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.trial.wire.limits import Limits
from vramledger.trial.wire.target import Place, Route, Target, route_to
from vramledger.trial.wire.tunnel import TunnelRefused, ask_for_tunnel

_Made = TypeVar("_Made", bound=asyncio.BaseProtocol)
_NO_ROOM: Final = frozenset(
    {errno.EMFILE, errno.ENFILE, errno.EADDRNOTAVAIL, errno.ENOBUFS, errno.ENOMEM}
)


class DialError(Exception):
    """No connection; `failure` is its class."""

    def __init__(self, failure: str) -> None:
        super().__init__(failure)
        self.failure = failure


@frozen
class _Address:
    family: int
    where: Any  # as the socket module has it: two parts, or four for IPv6


class Dialer:
    """Opens connections to one target; the addresses of its name are looked up once, and again after a failure.

    Raises:
        BadInput: the target's address, proxy or certificate authority cannot be used.
    """

    def __init__(self, target: Target, limits: Limits) -> None:
        self.route: Route = route_to(target)
        self._limits = limits
        self._tls = _tls_context(target) if self.route.tls else None
        self._addresses: tuple[_Address, ...] = ()

    async def dial(self, made: Callable[[], _Made]) -> _Made:
        """A connection that is ready, as `made` makes it.

        Raises:
            DialError: there is none, and why.
        """
        try:
            async with asyncio.timeout(self._limits.connect_s):
                return await self._dial(made)
        except TimeoutError:
            raise DialError("connect_timeout") from None
        except DialError:
            self._addresses = ()
            raise

    async def _dial(self, made: Callable[[], _Made]) -> _Made:
        sock = await self._connected()
        try:
            if self.route.tunnel:
                await ask_for_tunnel(sock, self.route)
            return await self._handed_over(made, sock)
        except BaseException as error:
            sock.close()
            failure = self._class_of(error)
            if failure is None:
                raise
            raise DialError(failure) from error

    def _class_of(self, error: BaseException) -> str | None:
        """What went wrong on a connected socket, as a class; None where it is not the network's fault."""
        if isinstance(error, TunnelRefused):
            return "proxy"
        if isinstance(error, (ssl.SSLError, ConnectionError)) and self._tls is not None:
            return "tls"
        return _class_of(error) if isinstance(error, OSError) else None

    async def _handed_over(self, made: Callable[[], _Made], sock: socket.socket) -> _Made:
        loop = asyncio.get_running_loop()
        if self._tls is None:
            return (await loop.create_connection(made, sock=sock))[1]
        host = self.route.server.host
        return (await loop.create_connection(made, sock=sock, ssl=self._tls, server_hostname=host))[
            1
        ]

    async def _connected(self) -> socket.socket:
        """A socket connected to the server or its proxy, by the first of its addresses that answers."""
        if not self._addresses:
            self._addresses = await _looked_up(self.route.first)
        failure = "unreachable"
        for address in self._addresses:
            try:
                return await _connect(address)
            except OSError as error:
                failure = _class_of(error)
        own = failure in ("no_sockets", "connect_timeout")
        raise DialError("proxy" if self.route.proxied and not own else failure)


async def _connect(address: _Address) -> socket.socket:
    sock = socket.socket(address.family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.get_running_loop().sock_connect(sock, address.where)
    except BaseException:
        sock.close()
        raise
    return sock


async def _looked_up(place: Place) -> tuple[_Address, ...]:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(
            place.host, place.port, type=socket.SOCK_STREAM
        )
    except (socket.gaierror, UnicodeError):
        raise DialError("dns") from None
    return tuple(_Address(family, where) for family, _, _, _, where in found)


def _class_of(error: OSError) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "connect_refused"
    if isinstance(error, ConnectionResetError):
        return "reset"
    if isinstance(error, TimeoutError):
        return "connect_timeout"
    return "no_sockets" if error.errno in _NO_ROOM else "unreachable"


def _tls_context(target: Target) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=target.ca_file)
    except (OSError, ssl.SSLError) as error:
        raise BadInput(
            f"{target.ca_file} holds no certificate authority ({error.strerror or error}); give a PEM file."
        ) from None
    if not target.check_certificate:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
