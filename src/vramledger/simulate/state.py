"""What a scheduler knows between steps."""

from collections import deque
from collections.abc import Iterable

from vramledger.simulate.cache.kv_cache import KvCache
from vramledger.simulate.groups import RecurrentState
from vramledger.simulate.policy import Policy
from vramledger.simulate.queues import WaitingQueue
from vramledger.simulate.request import Request, Status
from vramledger.simulate.settings import Order, Settings
from vramledger.simulate.step import Step


class State:
    """Running requests in the order of admission, waiting ones in the order of service, the cache."""

    def __init__(
        self, settings: Settings, policy: Policy, cache: KvCache, waiting: WaitingQueue
    ) -> None:
        self.settings = settings
        self.policy = policy
        self.cache = cache
        self.waiting = waiting
        self.running: list[Request] = []
        self.fetching: dict[int, Request] = {}  # their cache is on its way, by rank
        self.fetched = deque[Request]()  # it has come; served before all that wait
        self.kept: dict[
            int, Request
        ] = {}  # over, but their blocks are still to be fetched, by rank
        self.by_priority = settings.order is Order.PRIORITY
        self.aligns_states = settings.prefix_caching and any(
            isinstance(group, RecurrentState) for group in settings.groups
        )

    @property
    def waits(self) -> int:
        """Requests that are not served yet, or not again, those included whose cache is on its way."""
        return len(self.waiting) + len(self.fetching) + len(self.fetched)

    @property
    def holders(self) -> Iterable[Request]:
        """Every request that holds blocks."""
        if not (self.fetching or self.fetched or self.kept):
            return self.running
        return (*self.running, *self.fetching.values(), *self.fetched, *self.kept.values())

    def preempt(self, request: Request, step: Step) -> None:
        """Take a request's blocks; it computes everything again when its turn comes.

        Tokens in flight are still delivered, but no longer change what is computed.
        """
        self.running.remove(request)
        self.cache.release(request)
        request.status = Status.PREEMPTED
        request.lost, request.computed = request.computed, 0
        request.drafts = 0
        request.stale = request.in_flight
        request.placeholders = 0
        request.preemptions += 1
        self.waiting.put_back([request])
        step.preempted.append(request)
