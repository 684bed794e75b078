"""Clients of a closed loop, who send their next request the instant one ends."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.simulate.routing.timeline import Timeline

if TYPE_CHECKING:
    Integers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

_NOT_YET: Final = -1


class Clients:
    """They send the requests in their order, `in_flight` at a time, from time 0 on.

    `front_ns` is by place how long a request takes from its client to the router, to whom `send` gives it with the
    time. `sent_ns` is by place when it was sent.
    """

    def __init__(
        self,
        timeline: Timeline,
        send: Callable[[int, int], None],
        front_ns: "Integers",
        in_flight: int,
    ) -> None:
        self._timeline = timeline
        self._send = send
        self._front_ns = front_ns
        self._next = 0
        self.sent_ns: Integers = np.full(len(front_ns), _NOT_YET)
        self.ended(in_flight, 0)

    def ended(self, count: int, now: int) -> None:
        """So many requests have ended, or could be sent at first."""
        for place in range(self._next, min(self._next + count, len(self._front_ns))):
            self.sent_ns[place] = now
            self._timeline.expect(now + int(self._front_ns[place]), partial(self._send, place))
            self._next = place + 1

    @property
    def unsent(self) -> int:
        """Requests that wait for others to end."""
        return len(self._front_ns) - self._next
