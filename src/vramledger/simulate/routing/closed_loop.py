"""So many requests in flight: the next is sent the instant one ends."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.simulate.routing.dispatch import Dispatch
from vramledger.simulate.routing.timeline import Timeline

if TYPE_CHECKING:
    Integers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

_NOT_YET: Final = -1


class ClosedLoop:
    """Clients that send the requests in their order, `in_flight` at a time, from time 0 on.

    `front_ns` is by place how long a request takes from its client to its engine. A client that goes away sends
    its next when the engine's loop lets go of the request.
    """

    def __init__(self, dispatch: Dispatch, front_ns: "Integers", in_flight: int) -> None:
        self._dispatch = dispatch
        self._timeline = Timeline(dispatch.engines, (dispatch.board,))
        self._front_ns = front_ns
        self._in_flight = in_flight
        self._seen = [0] * len(dispatch.engines)  # requests that have ended, by engine
        self._next = 0
        self.sent_ns: Integers = np.full(len(front_ns), _NOT_YET)

    def run(self, told: Callable[[int], None]) -> None:
        """Until all requests have ended, or those in flight never will.

        `told` is given the number of requests that have ended. What could not be sent any more goes to the engine
        that holds the others back, so that it is told of as incomplete.
        """
        self._told = told
        self._send_next(self._in_flight, 0)
        self._timeline.run(self)
        if self._next < len(self._front_ns):
            stuck = max(self._dispatch.engines, key=lambda engine: engine.view().in_flight)
            self._send_next(len(self._front_ns), stuck.now)
            self._timeline.run(self)

    def _send_next(self, count: int, now: int) -> None:
        for place in range(self._next, min(self._next + count, len(self._front_ns))):
            self.sent_ns[place] = now
            self._timeline.expect(now + int(self._front_ns[place]), place)
            self._next = place + 1

    def arrived(self, what: int, now: int) -> None:
        """A request comes to the router."""
        self._dispatch.send(what, now)

    def went_on(self, number: int) -> None:
        """Each request that has ended makes room for another."""
        engine = self._dispatch.engines[number]
        ended = engine.ended - self._seen[number]
        if ended:
            self._seen[number] += ended
            self._send_next(ended, engine.now)
            self._told(sum(self._seen))
