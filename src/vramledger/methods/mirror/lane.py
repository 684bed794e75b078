"""The way to a server for requests of the mirror's own, each on a connection of its own.

None is kept for the next: that a server has just closed an idle connection must not look like a failure of it.
"""

import asyncio
import time
from dataclasses import replace

from vramledger.methods.mirror.heard import Heard
from vramledger.trial.wire.connection import Connection
from vramledger.trial.wire.desk import Desk
from vramledger.trial.wire.dial import Dialer, DialError
from vramledger.trial.wire.limits import Limits
from vramledger.trial.wire.target import Target, request_head


class Lane:
    """Requests to a target whose `path` is empty, to endpoints below it.

    Raises:
        BadInput: the target cannot be used.
    """

    def __init__(self, target: Target, limits: Limits, desk: Desk) -> None:
        self._target, self._limits, self._desk = target, limits, desk
        self._dialer = Dialer(target, limits)

    async def exchange(self, path: str, key: str | None, body: bytes, heard: Heard) -> None:
        """Put one request and wait until `heard` has its end, whatever that is; calling it off ends the connection."""
        connection: Connection | None = None
        try:
            async with asyncio.timeout(self._limits.request_s):
                head = self._head(path, key)
                connection = await self._dialer.dial(self._connection)
                connection.send(head, body, heard)
                await heard.over.wait()
        except TimeoutError:
            heard.fail("request_timeout", time.monotonic_ns())
        except DialError as error:
            heard.fail(error.failure, time.monotonic_ns())
        finally:
            heard.give_up()
            if connection is not None:
                connection.close()

    def _connection(self) -> Connection:
        return Connection(self._desk, self._limits, Connection.close, _forgotten)

    def _head(self, path: str, key: str | None) -> bytes:
        route = self._dialer.route
        return request_head(self._target, replace(route, path=route.path + path), key)


def _forgotten(_: Connection) -> None:
    """Nobody waits for it."""
