"""The mirror as a process: it listens, passes on and looks on until its time is over or somebody ends it."""

import asyncio
import gc
import os
import signal
import threading
import time
from contextlib import suppress
from dataclasses import replace
from typing import Final, Protocol

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.methods.mirror.added import PATH, Pairs, Way
from vramledger.methods.mirror.asked import MirrorAsked
from vramledger.methods.mirror.drawn import Models
from vramledger.methods.mirror.front import front_of
from vramledger.methods.mirror.lane import Lane
from vramledger.methods.mirror.mirroring import Mirroring
from vramledger.methods.mirror.passing import OWN
from vramledger.methods.mirror.relay import ClientSide
from vramledger.methods.mirror.result import Mirrored, Seen, mirrored
from vramledger.methods.shadow.asked import ServerAsked
from vramledger.methods.shadow.side import Told, told_of
from vramledger.trial.server.ask import ask_server
from vramledger.trial.wire.desk import Desk
from vramledger.trial.wire.dial import Dialer
from vramledger.trial.wire.limits import Limits
from vramledger.trial.wire.target import Target, key_of

_BACKLOG: Final = 2048
_SHOW_S: Final = 1.0
_ANSWERS: Final = {"Accept": "application/json, text/event-stream"}


@frozen
class Moment:
    """What is to be shown while it runs. `failed_a` and `failed_b` are of the requests that were put to both."""

    t_s: float
    to_go_s: float | None
    requests: int
    clients: int
    put: int
    under_way: int
    compared: int
    failed_a: int
    failed_b: int
    skipped: int


class Watch(Protocol):
    """Looks on."""

    def listening(self, address: str) -> None:
        """Clients may come."""

    def show(self, moment: Moment) -> None:
        """Once a second."""

    def ending(self, busy: int) -> None:
        """No more is taken; so many clients still have answers under way."""


@frozen
class _Sides:
    """Both servers, and the keys they are asked with."""

    a: Told
    b: Told
    key_a: str | None
    key_b: str | None
    models: Models


def run_mirror(asked: MirrorAsked, watch: Watch) -> Mirrored:
    """Pass on, put the share to B, and compare, until the time is over or a signal ends it.

    Raises:
        BadInput: a server cannot be used, or nothing can be listened on.
    """
    import uvloop

    sides = _sides_of(asked)
    gc.collect()
    gc.freeze()  # what is there now stays, and need not be looked through while somebody waits
    try:
        seen = uvloop.run(_Mirror(asked, sides, watch).run())
    finally:
        gc.unfreeze()
    return mirrored(asked, seen)


def _sides_of(asked: MirrorAsked) -> _Sides:
    key_a, key_b = (_key(each) for each in (asked.a, asked.b))
    facts = [ask_server(each.url, key, closely=False) for each, key in ((asked.a, key_a), (asked.b, key_b))]  # fmt: skip
    a, b = told_of(facts[0], asked.a.model), told_of(facts[1], asked.b.model)
    served = frozenset(each.name for each in facts[1].models)
    models = Models(asked.a.model, served, b.model, always=asked.b.model is not None)
    return _Sides(a, b, key_a, key_b, models)


def _key(asked: ServerAsked) -> str | None:
    return key_of(Target(asked.url, key_env=asked.key_env, key_file=asked.key_file))


class _Mirror:
    """All of it inside one event loop."""

    def __init__(self, asked: MirrorAsked, sides: _Sides, watch: Watch) -> None:
        self._asked, self._sides, self._watch = asked, sides, watch
        self._clients: set[ClientSide] = set()
        self._signals = 0

    async def run(self) -> Seen:
        """From listening to the last comparison."""
        loop = asyncio.get_running_loop()
        self._ended, self._hurried = asyncio.Event(), asyncio.Event()
        desk, limits = Desk(loop), Limits(request_s=self._asked.timeout_s)
        target_a = Target(self._asked.a.url, path="")
        self._mirroring = Mirroring(
            self._asked,
            self._sides.models,
            Lane(replace(target_a, headers=_ANSWERS), limits, desk),
            Lane(Target(self._asked.b.url, path="", headers=_ANSWERS), limits, desk),
            self._sides.key_b,
            limits,
        )
        self._front, self._dialer = front_of(target_a), Dialer(target_a, limits)
        listener, address = await self._listen()
        with suppress(ValueError, RuntimeError):  # not the main thread
            if threading.current_thread() is threading.main_thread():
                for each in (signal.SIGINT, signal.SIGTERM):
                    loop.add_signal_handler(each, self._signalled)
        return await self._until_the_end(listener, address, self._pairs(address, limits, desk))

    async def _until_the_end(self, listener: asyncio.Server, address: str, pairs: Pairs) -> Seen:
        began = time.monotonic()
        self._watch.listening(address)
        tasks = [asyncio.create_task(pairs.run()), asyncio.create_task(self._showing(began))]
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._asked.for_s):
                    await self._ended.wait()
            seconds = time.monotonic() - began
            await _called_off(tasks)
            listener.close()
            await self._wind_down()
        finally:
            listener.close()
            await _called_off(tasks)
            for each in tuple(self._clients):
                each.reset()
            await asyncio.sleep(0)
        early = self._signals > 0 and self._asked.for_s is not None
        kept, traffic = self._mirroring.kept, self._mirroring.traffic
        return Seen(self._sides.a, self._sides.b, seconds, traffic, kept, pairs.added(), early)

    async def _listen(self) -> tuple[asyncio.Server, str]:
        host, loop = self._asked.host, asyncio.get_running_loop()
        try:
            listener = await loop.create_server(
                self._client, host, self._asked.port, backlog=_BACKLOG
            )
        except (OSError, OverflowError, UnicodeError) as error:
            number = getattr(error, "errno", None)
            why = os.strerror(number) if number and number > 0 else str(error)
            raise BadInput(
                f"Nothing can be listened to on {host} port {self._asked.port}: {why}; choose another --listen, or port 0 for a free one."
            ) from None
        port = listener.sockets[0].getsockname()[1]
        return listener, f"http://{f'[{host}]' if ':' in host else host}:{port}"

    def _client(self) -> ClientSide:
        return ClientSide(self._dialer, self._front, self._mirroring, self._clients)

    def _pairs(self, address: str, limits: Limits, desk: Desk) -> Pairs:
        marked = {OWN: "1"}
        key = self._sides.key_a
        direct = Target(self._asked.a.url, path=PATH, headers=marked)
        through = Target(address, path=PATH, headers=marked, proxy="")
        return Pairs(Way(direct, key, limits, desk), Way(through, key, limits, desk))

    async def _showing(self, began: float) -> None:
        while True:
            await asyncio.sleep(_SHOW_S)
            self._watch.show(self._moment(time.monotonic() - began))

    def _moment(self, t_s: float) -> Moment:
        kept, mirroring = self._mirroring.kept, self._mirroring
        whole = self._asked.for_s
        return Moment(
            t_s,
            None if whole is None else max(0.0, whole - t_s),
            mirroring.traffic.requests,
            len(self._clients),
            kept.put,
            mirroring.under_way,
            kept.compared,
            sum(kept.errors_a.values()),
            sum(kept.errors_b.values()),
            sum(kept.skipped.values()),
        )

    async def _wind_down(self) -> None:
        """Answers under way come to their end, for a time; whoever waits for nothing is sent away."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self._asked.grace_s
        self._watch.ending(sum(each.busy for each in self._clients))
        while self._clients and not self._hurried.is_set() and loop.time() < end:
            for each in tuple(self._clients):
                if not each.busy:
                    each.end()
            await asyncio.sleep(0.02)
        await self._mirroring.finish(max(0.0, end - loop.time()), self._hurried)

    def _signalled(self) -> None:
        self._signals += 1
        (self._ended if self._signals == 1 else self._hurried).set()


async def _called_off(tasks: "list[asyncio.Task[None]]") -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
