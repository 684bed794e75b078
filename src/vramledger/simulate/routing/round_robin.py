"""Engines in turn, whatever they do."""

from collections.abc import Sequence

from vramledger.simulate.routing.router import Routed
from vramledger.simulate.view import View


class RoundRobin:
    """Request i, in the order of sending, goes to engine i modulo their number."""

    every_ns = None

    def __init__(self, engines: int) -> None:
        self._engines = engines

    def choose(self, request: Routed, views: Sequence[View]) -> int:
        """Its place decides."""
        del views
        return request.place % self._engines
