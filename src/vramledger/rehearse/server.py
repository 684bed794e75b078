"""The server: sockets, the lives of the process behind them, and what all requests share."""

import asyncio
import functools
import os
import time
from collections.abc import Callable, Sequence
from http import HTTPStatus
from math import inf
from pathlib import Path
from typing import Final

from vramledger.errors import BadInput, ExitCode
from vramledger.frozen import frozen
from vramledger.rehearse.api.asked import Served
from vramledger.rehearse.endpoints import ENDPOINTS, reply_to, send
from vramledger.rehearse.faults.fault import Fault, Outage
from vramledger.rehearse.faults.together import Faults
from vramledger.rehearse.http.connection import HALF_S, Connection
from vramledger.rehearse.http.request import HttpRequest
from vramledger.rehearse.life import Life
from vramledger.rehearse.subject import Subject
from vramledger.rehearse.truth import TruthFile

_BACKLOG: Final = 2048
_LOOK_S: Final = 5.0  # between two looks for requests that never become whole


@frozen
class Options:
    """How it is served; `port` 0 takes a free one."""

    host: str = "127.0.0.1"
    port: int = 0
    seed: int = 0
    speed: float = 1.0
    faults: Sequence[Fault] = ()
    truth: Path | None = None


class Server:
    """One address; `say` is given sentences for people. `ended` has the exit code once it is to end."""

    def __init__(
        self,
        subject: Subject,
        options: Options,
        loop: asyncio.AbstractEventLoop,
        say: Callable[[str], None],
    ) -> None:
        self.subject, self.seed = subject, options.seed
        self.faults = Faults(options.faults, options.seed)
        self.truth_file = TruthFile(options.truth)
        self.served = Served(
            subject.model_names, subject.settings.max_model_len, subject.deployment.model.text.vocab
        )
        self.created = int(time.time())
        self._options, self._loop, self.say = options, loop, say
        self._connections: set[Connection] = set()
        self._numbers = self._lives = 0
        self._alive = False
        self._listener: asyncio.Server | None = None
        self._timers: list[asyncio.TimerHandle] = []
        self._look: asyncio.TimerHandle | None = None
        self.ended: asyncio.Future[ExitCode] = loop.create_future()
        self._metrics_end_s = inf
        self.life = self._new_life()

    @property
    def metrics_gone(self) -> bool:
        """Whether a fault has taken the metrics page away."""
        return time.monotonic() >= self._metrics_end_s

    @property
    def life_id(self) -> str:
        """What request ids of this life begin with."""
        return f"{self.created:x}{self._lives:02x}"

    def next_number(self) -> int:
        """Requests are numbered as they come, over all lives."""
        self._numbers += 1
        return self._numbers - 1

    async def open(self) -> str:
        """Listen; the address as a URL.

        Raises:
            BadInput: the address cannot be had.
        """
        await self._listen(self._options.port)
        self._metrics_end_s = time.monotonic() + self.faults.metrics_until_s
        for outage in self.faults.outages:
            self._timers.append(self._loop.call_later(outage.at_s, self._die, outage))
        self._look = self._loop.call_later(_LOOK_S, self._end_halves)
        host = f"[{self._options.host}]" if ":" in self._options.host else self._options.host
        return f"http://{host}:{self._port}"

    def stop(self, code: ExitCode) -> None:
        """Have `ended` tell that it is to end."""
        if not self.ended.done():
            self.ended.set_result(code)

    async def close(self) -> None:
        """Answer nobody any more."""
        for timer in (*self._timers, *([self._look] if self._look is not None else [])):
            timer.cancel()
        self._end_life()
        await asyncio.sleep(0)  # connections that were reset have that to tell
        self.truth_file.close()

    async def _listen(self, port: int) -> None:
        accept = functools.partial(Connection, self._handle, self._connections)
        host = self._options.host
        try:
            listener = await self._loop.create_server(accept, host, port, backlog=_BACKLOG)
        except (OSError, OverflowError, UnicodeError) as error:
            raise BadInput(
                f"Nothing can be served on {host} port {port}: {_reason(error)}; choose another --port, or 0 for a free one."
            ) from None
        self._listener, self._port = listener, listener.sockets[0].getsockname()[1]
        self._alive = True

    def _handle(self, connection: Connection, request: HttpRequest) -> None:
        if not self._alive:
            connection.reset()
            return
        reply = reply_to(self, connection, request)
        status = 200 if reply is None else int(reply.status)
        handler = request.path if request.path in ENDPOINTS else "none"
        connection.on_over = functools.partial(
            self.life.page.answered, handler, request.method, status
        )
        if reply is not None:
            send(connection, reply, request.method)

    def _end_halves(self) -> None:
        """Refuse what began long ago and is not whole: its client would hold a socket for ever."""
        since = time.monotonic() - HALF_S
        for connection in tuple(self._connections):
            if connection.began_s is not None and connection.began_s < since:
                connection.refuse(HTTPStatus.REQUEST_TIMEOUT)
        self._look = self._loop.call_later(_LOOK_S, self._end_halves)

    def _new_life(self) -> Life:
        self._lives += 1
        options = self._options
        return Life(
            self.subject,
            self._loop,
            seed=options.seed,
            speed=options.speed,
            say=self.say,
            failed=self._failed,
        )

    def _end_life(self) -> None:
        self._alive = False
        if self._listener is not None:
            self._listener.close()
        for connection in tuple(self._connections):
            connection.reset()
        self.life.end()

    def _die(self, outage: Outage) -> None:
        """All that is under way is lost."""
        self.say(
            f"The rehearsed server dies, and is back in {outage.lasts_s:g} s, as --fault restart asks."
        )
        self._end_life()
        self._timers.append(self._loop.call_later(outage.lasts_s, self._rise))

    def _rise(self) -> None:
        self.life = self._new_life()
        self._rising = self._loop.create_task(self._listen(self._port))
        self._rising.add_done_callback(self._risen)

    def _risen(self, rising: "asyncio.Task[None]") -> None:
        error = None if rising.cancelled() else rising.exception()
        if isinstance(error, Exception):
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        """Nothing can be served any more."""
        if not self.ended.done():
            self.ended.set_exception(error)


def _reason(error: Exception) -> str:
    """Why an address cannot be listened on, as the system puts it where it does."""
    number = getattr(error, "errno", None)
    return os.strerror(number) if number and number > 0 else str(error)
