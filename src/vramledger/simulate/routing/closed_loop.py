"""So many requests in flight on routed engines: the next is sent the instant one ends."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from vramledger.simulate.routing.clients import Clients
from vramledger.simulate.routing.dispatch import Dispatch
from vramledger.simulate.routing.timeline import Timeline

if TYPE_CHECKING:
    from vramledger.simulate.routing.clients import Integers


class ClosedLoop:
    """Engines with their clients.

    A client that goes away sends its next request when the engine's loop lets go of the old one.
    """

    def __init__(self, dispatch: Dispatch, front_ns: "Integers", in_flight: int) -> None:
        self._dispatch = dispatch
        self._timeline = Timeline(dispatch.engines, (dispatch.board,))
        self._clients = Clients(self._timeline, dispatch.send, front_ns, in_flight)
        self._seen = [0] * len(dispatch.engines)  # requests that have ended, by engine

    @property
    def sent_ns(self) -> "Integers":
        """When each request was sent, by place."""
        return self._clients.sent_ns

    def run(self, told: Callable[[int], None]) -> None:
        """Until all requests have ended, or those in flight never will.

        `told` is given the number of requests that have ended. What could not be sent any more is sent in the end,
        so that it is told of as incomplete.
        """
        self._told = told
        self._timeline.run(self)
        if self._clients.unsent:
            last = max(engine.now for engine in self._dispatch.engines)
            self._clients.ended(self._clients.unsent, last)
            self._timeline.run(self)

    def went_on(self, number: int) -> None:
        """Each request that has ended makes room for another."""
        engine = self._dispatch.engines[number]
        ended = engine.ended - self._seen[number]
        if ended:
            self._seen[number] += ended
            self._clients.ended(ended, engine.now)
            self._told(sum(self._seen))
