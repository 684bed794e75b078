"""Looks on at what passes, puts the drawn requests to B, and compares when both sides have ended."""

import asyncio
import itertools
import secrets
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

from vramledger.methods.mirror.asked import MirrorAsked
from vramledger.methods.mirror.drawn import Draw, Models, NotPut, Put, comparable, put_of
from vramledger.methods.mirror.front import Header
from vramledger.methods.mirror.heard import UNREADABLE, Heard
from vramledger.methods.mirror.kept import Again, Kept
from vramledger.methods.mirror.lane import Lane
from vramledger.methods.mirror.row import pair_of, row_of
from vramledger.trial.wire.limits import Limits


class Traffic:
    """Counts of what passed."""

    def __init__(self) -> None:
        self.requests = self.comparable = self.drawn = self.lost_sight = 0
        self.statuses: Counter[int] = Counter()
        self.unreached: Counter[str] = Counter()


class _Under:
    """A request that is put to B, until both have ended."""

    def __init__(self, number: int, put: Put) -> None:
        self.number, self.put = number, put
        self.a: Heard
        self.b: Heard
        self.again: Heard | None = None
        self.tasks: list[asyncio.Task[None]] = []

    @property
    def heard(self) -> list[Heard]:
        """Everyone who listens."""
        return [self.a, self.b, *([self.again] if self.again is not None else [])]


class Mirroring:
    """The onlooker of every connection; at most `at_once` requests are under way to B."""

    def __init__(
        self,
        asked: MirrorAsked,
        models: Models,
        to_a: Lane,
        to_b: Lane,
        key_b: str | None,
        limits: Limits,
    ) -> None:
        self._asked, self._models = asked, models
        self._to_a, self._to_b, self._key_b, self._limits = to_a, to_b, key_b, limits
        self._draw, self._repeat = Draw(asked.share, asked.seed), Draw(asked.repeat, asked.seed + 1)
        self._key = secrets.token_bytes(32)
        self._numbers = itertools.count()
        self._under_way: set[_Under] = set()
        self.kept, self.traffic = Kept(asked.seed), Traffic()
        self.stopped = False

    # The connections call these.

    def wants(self, method: bytes, path: bytes) -> bool:
        """Whether a request is one of the share."""
        self.traffic.requests += 1
        if not comparable(method, path):
            return False
        self.traffic.comparable += 1
        taken = self._draw.taken()
        self.traffic.drawn += taken
        return taken and not self.stopped

    def asked(self, path: bytes, headers: list[Header], body: bytes) -> Heard | None:
        """Put it to B too; who listens to A's answer."""
        if len(self._under_way) >= self._asked.at_once:
            self.kept.skipped["busy"] += 1
            return None
        try:
            put = put_of(path, headers, body, self._models)
        except NotPut as error:
            self.kept.skipped[error.reason] += 1
            return None
        under = _Under(next(self._numbers), put)
        self._under_way.add(under)
        self.kept.put += 1
        self.kept.greedy_put += put.greedy
        ended = self._ended_of(under)
        under.a, under.b = (Heard(self._limits, self._key, ended) for _ in range(2))
        key = self._key_b
        if key is None and self._asked.pass_keys:
            key = _bearer(put.authorization)
        self._send(under, self._to_b.exchange(put.path, key, put.body, under.b))
        if put.greedy and self._repeat.taken():
            under.again = Heard(self._limits, self._key, ended)
            own = _bearer(put.authorization)
            self._send(under, self._to_a.exchange(put.path, own, body, under.again))
        return under.a

    def answered(self, status: int) -> None:
        """A answered somebody."""
        self.traffic.statuses[status] += 1

    def unreached(self, failure: str) -> None:
        """A could not be reached."""
        self.traffic.unreached[failure] += 1

    def lost_sight(self) -> None:
        """A connection is passed on unseen."""
        self.traffic.lost_sight += 1

    # The owner calls these.

    @property
    def under_way(self) -> int:
        """Requests that one side has not ended."""
        return len(self._under_way)

    async def finish(self, grace_s: float, hurried: asyncio.Event) -> None:
        """Put no more, and wait for what is under way, but no longer than that and not once `hurried` is set."""
        self.stopped = True
        waits = [asyncio.ensure_future(each) for each in (self._all_ended(), hurried.wait())]
        _, left_over = await asyncio.wait(
            waits, timeout=grace_s, return_when=asyncio.FIRST_COMPLETED
        )
        for each in left_over:
            each.cancel()
        await asyncio.gather(*left_over, return_exceptions=True)
        self.kept.unfinished += len(self._under_way)
        left = [task for under in self._under_way for task in under.tasks]
        self._under_way.clear()
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _all_ended(self) -> None:
        """Every request that is under way has ended on both sides; none is added any more."""
        heard = [each for under in self._under_way for each in under.heard]
        await asyncio.gather(*(each.over.wait() for each in heard))

    def _send(self, under: _Under, exchange: Coroutine[Any, Any, None]) -> None:
        under.tasks.append(asyncio.get_running_loop().create_task(exchange))

    def _ended_of(self, under: _Under) -> Callable[[], None]:
        def ended() -> None:
            if under in self._under_way:
                if under.a.given_up:
                    self._drop(under)
                elif all(each.ended for each in under.heard):
                    self._under_way.discard(under)
                    self._compare(under)

        return ended

    def _drop(self, under: _Under) -> None:
        """The client has gone: so does the request to B."""
        self._under_way.discard(under)
        self.kept.aborted += 1
        for task in under.tasks:
            task.cancel()

    def _compare(self, under: _Under) -> None:
        kept, a, b = self.kept, under.a, under.b
        if b.given_up:
            kept.unfinished += 1
            return
        unread = [side for side, each in (("a", a), ("b", b)) if each.failure in UNREADABLE]
        for side in unread:
            kept.unreadable[side] += 1
        if unread:
            return
        kept.outcome(a.failure, b.failure)
        if a.failure is None:
            kept.answered(under.number, failed_by_b=b.failure is not None)
        if a.failure is None and b.failure is None:
            kept.row(row_of(under.number, a, b, greedy=under.put.greedy))
        elif under.put.greedy and (a.failure is None or b.failure is None):
            kept.greedy_failed += 1
        if a.failure is None and under.again is not None:
            self._compare_again(under.number, a, under.again)

    def _compare_again(self, number: int, a: Heard, again: Heard) -> None:
        if again.failure is None and not again.given_up:
            self.kept.repeated(Again(*pair_of(number, a, again)))
        else:
            self.kept.again_failed += 1


def _bearer(authorization: str | None) -> str | None:
    """The key of a client, where it comes as a bearer's."""
    kind, _, key = (authorization or "").partition(" ")
    sound = kind.lower() == "bearer" and key.isascii() and key.isprintable()
    return key.strip() or None if sound else None
