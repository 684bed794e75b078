"""Requests on their way to the engines that a router chooses."""

from collections.abc import Sequence

from vramledger.simulate.fast.load import Load
from vramledger.simulate.routing.board import Board
from vramledger.simulate.routing.engine import Engine
from vramledger.simulate.routing.router import Routed, Router


class Dispatch:
    """A router with its engines; `places` has the requests of each in the order in which they were sent."""

    def __init__(
        self, engines: Sequence[Engine], router: Router, load: Load, block_size: int
    ) -> None:
        self.engines = engines
        self.board = Board(engines, router.every_ns)
        self.places: list[list[int]] = [[] for _ in engines]
        self._router = router
        self._load = load
        self._part_tokens = load.pieces * block_size

    def send(self, place: int, arrival_ns: int) -> None:
        """A request arrives: it goes to the engine of the router's choice."""
        cancel = int(self._load.asked["cancel_after_ns"][place])
        self.send_until(place, arrival_ns, cancel)

    def send_until(self, place: int, arrival_ns: int, cancel_after_ns: int) -> None:
        """The same for a client whose patience is another than the load says."""
        chosen = self._router.choose(self._routed(place), self.board.views)
        self.engines[chosen].send(place, arrival_ns, cancel_after_ns)
        self.places[chosen].append(place)

    def _routed(self, place: int) -> Routed:
        asked = self._load.asked[place]
        start = int(asked["prefix_start"])
        prefix = self._load.prefix[start : start + int(asked["prefix_length"])].tolist()
        return Routed(place, int(asked["input_tokens"]), prefix, self._part_tokens)
