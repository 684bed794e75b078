"""The requests that wait, in the order in which they are served.

After ``vllm/v1/core/sched/request_queue.py`` of 0.32.0.
"""

import heapq
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final, Protocol

from vramledger.simulate.request import Request
from vramledger.simulate.settings import Order


class WaitingQueue(Protocol):
    """What the scheduler needs of a queue."""

    def __len__(self) -> int: ...
    def add(self, request: Request) -> None:
        """A request that arrives."""

    def head(self) -> Request:
        """Whose turn it is; the queue must not be empty."""

    def pop(self) -> Request:
        """Take the head out."""

    def put_back(self, requests: Iterable[Request]) -> None:
        """Requests that were served before all that wait now, in the order of their turn."""

    def remove(self, request: Request) -> None:
        """A request that ends while it waits."""


class ArrivalQueue:
    """First come, first served; who is put back stands in front."""

    def __init__(self) -> None:
        self._waiting: deque[Request] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, request: Request) -> None:
        """At the end."""
        self._waiting.append(request)

    def head(self) -> Request:
        """The first in the row."""
        return self._waiting[0]

    def pop(self) -> Request:
        """The first in the row, out of it."""
        return self._waiting.popleft()

    def put_back(self, requests: Iterable[Request]) -> None:
        """At the front, in the order given."""
        self._waiting.extendleft(reversed(list(requests)))

    def remove(self, request: Request) -> None:
        """Out of the row, wherever it stands."""
        self._waiting.remove(request)


class PriorityQueue:
    """The smaller priority first, then the earlier arrival; nobody can be put in front."""

    def __init__(self) -> None:
        self._heap: list[tuple[tuple[int, int], Request]] = []

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, request: Request) -> None:
        """Where its priority puts it; no two orders are equal, so requests are never compared."""
        heapq.heappush(self._heap, (request.order, request))

    def head(self) -> Request:
        """The most urgent."""
        return self._heap[0][1]

    def pop(self) -> Request:
        """The most urgent, out of the queue."""
        return heapq.heappop(self._heap)[1]

    def put_back(self, requests: Iterable[Request]) -> None:
        """Where their priorities put them."""
        for request in requests:
            self.add(request)

    def remove(self, request: Request) -> None:
        """Out of the queue, wherever it stands."""
        self._heap.remove((request.order, request))
        heapq.heapify(self._heap)


QUEUES: Final[dict[Order, Callable[[], WaitingQueue]]] = {
    Order.FCFS: ArrivalQueue,
    Order.PRIORITY: PriorityQueue,
}
