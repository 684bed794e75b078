"""Servers of either pool as engines that requests are sent to."""

from dataclasses import replace

from vramledger.simulate.fast.load import Load
from vramledger.simulate.request import Arrival
from vramledger.simulate.routing.engine import LoopEngine
from vramledger.simulate.scheduler import Scheduler
from vramledger.simulate.settings import Settings
from vramledger.simulate.split.loop import Fetch, SplitLoop
from vramledger.simulate.split.pool import Pool
from vramledger.simulate.step_cost import StepCost


class SplitEngine(LoopEngine[SplitLoop]):
    """A server of a pool; it halts when a request is over and when a cache is sent for."""

    def __init__(
        self, pool: Pool, settings: Settings, load: Load, cost: StepCost, seed: int
    ) -> None:
        super().__init__(SplitLoop(Scheduler(settings, seed=seed), cost), load)
        self.pool = pool
        self.places: list[int] = []  # by rank

    def send(self, place: int, arrival_ns: int, cancel_after_ns: int) -> None:
        """A request of the load: its prompt, or its answer."""
        self.places.append(place)
        self._loop.send(_PARTS[self.pool](self._asked(place, arrival_ns, cancel_after_ns)))

    def ended_lately(self) -> list[int]:
        """Ranks of the requests that are over since this was asked last."""
        found = list(self._loop.lately)
        self._loop.lately.clear()
        return found

    def hands_over(self, rank: int) -> bool:
        """Whether a request's blocks are kept for another server."""
        return rank in self._loop.scheduler.state.kept

    def sent_for(self) -> list[Fetch]:
        """Caches that were sent for since this was asked last."""
        found = list(self._loop.fetches)
        self._loop.fetches.clear()
        return found

    def comes(self, rank: int, when: int) -> None:
        """The cache of a request comes then."""
        self._loop.comes(rank, when)

    def fetched_from(self, rank: int, when: int) -> None:
        """The blocks of a request that is over are not needed from then on."""
        self._loop.fetched_from(rank, when)


def _prompt(whole: Arrival) -> Arrival:
    return replace(whole, output_tokens=1, hands_over=True)


def _answer(whole: Arrival) -> Arrival:
    return replace(whole, fetches=True)


_PARTS = {Pool.PREFILL: _prompt, Pool.DECODE: _answer}
