"""Several engines in one order of time, for loads that depend on what the engines do.

At one instant: steps that end, by the number of the engine; arrivals, by the order in which they were made known;
turns of the loops, by the number of the engine. An engine goes ahead alone until something could happen elsewhere.
"""

import heapq
from collections.abc import Callable, Sequence
from typing import Protocol

from vramledger.frozen import frozen
from vramledger.simulate.routing.board import Board
from vramledger.simulate.routing.engine import Engine
from vramledger.simulate.view import FOREVER, Kind, Moment

Arrives = Callable[[int], None]  # what to do at the time that it is given


class Watcher(Protocol):
    """Who is told of what engines do."""

    def went_on(self, number: int) -> None:
        """An engine has gone on; it may have ended requests."""


@frozen
class _Next:
    """An engine and when it goes on."""

    moment: Moment
    number: int

    @property
    def order(self) -> tuple[int, int, int]:
        """Sorts by time, kind and number."""
        return (self.moment.ns, self.moment.kind, self.number)


class Timeline:
    """The engines, which halt when a request ends, and the arrivals to come."""

    def __init__(self, engines: Sequence[Engine], boards: Sequence[Board]) -> None:
        self._engines = engines
        self._boards = boards
        self._arrivals: list[tuple[int, int, Arrives]] = []  # (when, number, what)
        self._known = 0

    def expect(self, when: int, what: Arrives) -> None:
        """Something comes from outside, at this instant or later."""
        heapq.heappush(self._arrivals, (when, self._known, what))
        self._known += 1

    def run(self, watcher: Watcher) -> None:
        """Until nothing can happen any more."""
        while self._step(watcher):
            pass

    def _step(self, watcher: Watcher) -> bool:
        coming = sorted(self._upcoming(), key=lambda one: one.order)[:2]
        arrives = self._arrivals[0][0] if self._arrivals else None
        if coming and not _comes_first(arrives, coming[0].moment):
            self._go_on(coming, FOREVER if arrives is None else arrives)
            watcher.went_on(coming[0].number)
            return True
        if arrives is None:
            return False
        _, _, what = heapq.heappop(self._arrivals)
        for board in self._boards:
            board.look(arrives)
        what(arrives)
        return True

    def _upcoming(self) -> list[_Next]:
        moments = ((engine.next_moment, number) for number, engine in enumerate(self._engines))
        return [_Next(moment, number) for moment, number in moments if moment is not None]

    def _go_on(self, coming: Sequence[_Next], arrives: int) -> None:
        """Let the first of them go on, as far as nothing can happen elsewhere."""
        first = coming[0]
        for board in self._boards:
            board.before(first.moment)
        published = (board.next_ns for board in self._boards)
        elsewhere = [arrives, *(when for when in published if when is not None)]
        horizon = min(*elsewhere, *(one.moment.ns for one in coming[1:]), FOREVER)
        least = first.moment.ns + (first.moment.kind is Kind.TURN)
        self._engines[first.number].advance(max(horizon, least))


def _comes_first(arrives: int | None, moment: Moment) -> bool:
    """Whether an arrival comes before what an engine does next."""
    if arrives is None:
        return False
    return arrives < moment.ns or (arrives == moment.ns and moment.kind is Kind.TURN)
