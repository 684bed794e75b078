"""What is due for requests at given times, the earliest first; of one time the lowest rank first."""

import heapq
from collections.abc import Iterator


class Due:
    """Ranks of requests by when something is due for them, in nanoseconds."""

    def __init__(self) -> None:
        self._times: list[tuple[int, int]] = []

    def add(self, when: int, rank: int) -> None:
        """Something is due for that request then."""
        heapq.heappush(self._times, (when, rank))

    @property
    def first(self) -> int | None:
        """When the next is due, None where nothing is."""
        return self._times[0][0] if self._times else None

    def taken(self, now: int) -> Iterator[int]:
        """The ranks of all that is due up to now; each is due no more once it is handed out."""
        while self._times and self._times[0][0] <= now:
            yield heapq.heappop(self._times)[1]


def earliest(*times: int | None) -> int | None:
    """The first of these times, None where none of them comes."""
    return min((time for time in times if time is not None), default=None)
