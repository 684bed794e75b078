"""Servers of either pool as engines that requests are sent to."""

from dataclasses import replace

from vramledger.simulate.columns import columns_of
from vramledger.simulate.fast.load import Load
from vramledger.simulate.fast.records import FastOutcome
from vramledger.simulate.request import Arrival
from vramledger.simulate.routing.engine import arrival_of
from vramledger.simulate.scheduler import Scheduler
from vramledger.simulate.settings import Settings
from vramledger.simulate.split.loop import Fetch, SplitLoop
from vramledger.simulate.split.pool import Pool
from vramledger.simulate.step_cost import StepCost
from vramledger.simulate.view import FOREVER, Moment, View


class SplitEngine:
    """A server of a pool; it halts when a request is over and when a cache is sent for."""

    def __init__(
        self, pool: Pool, settings: Settings, load: Load, cost: StepCost, seed: int
    ) -> None:
        self.pool = pool
        self.places: list[int] = []  # by rank
        self._load = load
        self._loop = SplitLoop(Scheduler(settings, seed=seed), cost)

    @property
    def now(self) -> int:
        """Its clock."""
        return self._loop.now

    @property
    def ended(self) -> int:
        """Requests that are over."""
        return self._loop.ended

    @property
    def next_moment(self) -> Moment | None:
        """When it does something next."""
        return self._loop.next_moment

    def send(self, place: int, arrival_ns: int, cancel_after_ns: int) -> None:
        """A request of the load: its prompt, or its answer."""
        whole = arrival_of(self._load.asked[place], self._load, arrival_ns, cancel_after_ns)
        self.places.append(place)
        self._loop.send(_PARTS[self.pool](whole))

    def advance(self, until: int = FOREVER) -> None:
        """Up to a time, or up to news."""
        self._loop.advance(until)

    def view(self) -> View:
        """The load as it is now."""
        return self._loop.view()

    def finish(self) -> FastOutcome:
        """Everything that can still happen."""
        return columns_of(self._loop.finish())

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
