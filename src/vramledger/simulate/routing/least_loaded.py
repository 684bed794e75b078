"""The engine with the least load, as vLLM's front end counts it for its data-parallel engines.

After ``DPLBAsyncMPClient.get_core_engine_for_request`` of ``vllm/v1/engine/core_client.py``: the score is
waiting x 4 + running; the first engine with the least score gets the request, and one is added to its waiting
requests until the coordinator (``vllm/v1/engine/coordinator.py``) publishes the counts again, every 100 ms while they
change. One front end: with several API servers each would count only its own requests between two publications.
"""

from collections.abc import Sequence
from typing import Final

from vramledger.simulate.routing.router import Routed
from vramledger.simulate.view import View

PUBLISHED_EVERY_NS: Final = 100_000_000
WAITING_COUNTS: Final = 4


class LeastLoaded:
    """vLLM's score over counts that are published every `every_ns`.

    Equal scores go to the first engine from number `seed` on, as each API server of vLLM begins at its own.
    """

    def __init__(self, engines: int, *, seed: int = 0, every_ns: int = PUBLISHED_EVERY_NS) -> None:
        self.every_ns = every_ns
        self._order = [(seed + number) % engines for number in range(engines)]
        self._seen: Sequence[View] = ()
        self._scores: list[int] = []

    def choose(self, request: Routed, views: Sequence[View]) -> int:
        """The least score, counting what it has sent since the counts were published."""
        del request
        if views is not self._seen:
            self._seen = views
            self._scores = [WAITING_COUNTS * one.waiting + one.running for one in views]
        chosen = min(self._order, key=self._scores.__getitem__)
        self._scores[chosen] += WAITING_COUNTS
        return chosen
