"""What a scheduler knows between steps."""

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
        self.by_priority = settings.order is Order.PRIORITY
        self.aligns_states = settings.prefix_caching and any(
            isinstance(group, RecurrentState) for group in settings.groups
        )

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
