"""The engine loop of a server that computes only prompts, or only answers."""

from vramledger.frozen import frozen
from vramledger.simulate.due import Due, earliest
from vramledger.simulate.engine_loop import Cost, EngineLoop
from vramledger.simulate.outcome import Ending
from vramledger.simulate.request import Request
from vramledger.simulate.scheduler import Scheduler
from vramledger.simulate.sentences import never_fetched
from vramledger.simulate.step import Step


@frozen
class Fetch:
    """A request whose cache is sent for: how many blocks, and when."""

    rank: int
    blocks: int
    begun_ns: int


class SplitLoop(EngineLoop):
    """An engine loop that halts when a request is over and when a cache is sent for.

    When the cache comes it is told, likewise when blocks of a request that is over have been fetched from it.
    """

    def __init__(self, scheduler: Scheduler, cost: Cost) -> None:
        super().__init__(scheduler, cost, stops=True)
        self.fetches: list[Fetch] = []  # not answered yet
        self.lately: list[int] = []  # ranks of requests that are over, not told yet
        self._sent_for = 0
        self._coming = Due()  # when caches have come
        self._leaving = Due()  # when blocks have been fetched

    @property
    def news(self) -> int:
        """Ends, and caches that were sent for."""
        return self.ended + self._sent_for

    def comes(self, rank: int, when: int) -> None:
        """The cache of a request comes then."""
        self._coming.add(when, rank)

    def fetched_from(self, rank: int, when: int) -> None:
        """The blocks of a request that is over are not needed from then on."""
        self._leaving.add(when, rank)

    def _close(self) -> None:
        """Blocks that nobody fetched are given back."""
        for request in list(self.scheduler.state.kept.values()):
            self.scheduler.release_kept(request)

    def _why_stuck(self) -> str:
        kept = len(self.scheduler.state.kept)
        return never_fetched(kept) if kept else super()._why_stuck()

    def _take_in(self) -> None:
        for rank in self._leaving.taken(self.now):
            self.events += 1
            self.scheduler.release_kept(self.requests[rank])
        for rank in self._coming.taken(self.now):
            request = self.requests[rank]
            if not request.is_over:
                self.events += 1
                self.scheduler.fetched(request)
        super()._take_in()

    def _over(self, request: Request, ending: Ending) -> None:
        super()._over(request, ending)
        self.lately.append(request.rank)

    def _note(self, step: Step) -> None:
        super()._note(step)
        self._sent_for += len(step.fetching)
        self.fetches += [
            Fetch(request.rank, blocks, self.now) for request, blocks in step.fetching.items()
        ]

    def _turn_begins(self) -> int | None:
        """An engine with nothing to do also waits for caches, and for clients of requests that wait for them."""
        begins = super()._turn_begins()
        if begins == self.now or not self.scheduler.state.fetching:
            return begins
        first = earliest(begins, self._coming.first, self.leaving.first)
        return None if first is None else max(self.now, first)

    def _others_come(self) -> int | None:
        return earliest(super()._others_come(), self._coming.first, self._leaving.first)
