"""The loads of the engines as a router sees them: published now and then, or as they are."""

from collections.abc import Sequence

from vramledger.simulate.routing.engine import Engine
from vramledger.simulate.view import Kind, Moment, View


class Board:
    """Loads by engine as they were at the last whole multiple of `every_ns`; None publishes nothing.

    At such a moment steps that end then have ended, and turns that begin then have not begun.
    """

    def __init__(self, engines: Sequence[Engine], every_ns: int | None) -> None:
        self._engines = engines
        self._every = every_ns
        self._published_ns = -1
        self.views: tuple[View, ...] = ()

    @property
    def next_ns(self) -> int | None:
        """When loads are published next, None where they are not, or whenever they are asked for."""
        if not self._every:
            return None
        return (self._published_ns // self._every + 1) * self._every

    def reach(self, now: int) -> None:
        """A request arrives: advance the engines as far as its router sees them."""
        if self._every is None:
            return
        last = now - now % self._every if self._every else now
        if last > self._published_ns:
            for engine in self._engines:
                engine.advance(last)
        self._publish(last)

    def before(self, moment: Moment) -> None:
        """Something is about to happen in engines that have come up to there."""
        if self._every:
            last = moment.ns - 1 if moment.kind is Kind.END else moment.ns
            self._publish(last - last % self._every)

    def look(self, now: int) -> None:
        """A request arrives at engines that have come up to there."""
        if self._every is not None:
            self._publish(now - now % self._every if self._every else now)

    def _publish(self, when: int) -> None:
        if when > self._published_ns or not self._every:
            self._published_ns = when
            self.views = tuple(engine.view() for engine in self._engines)
