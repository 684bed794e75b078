"""Requests that outgrow the whole pool again and again: what repeats with no event in between always will."""

from vramledger.simulate.sentences import TIMES_ENOUGH
from vramledger.simulate.step import Step


class Thrashing:
    """Who outgrew the pool since the last event; `found` once one of them did so often enough."""

    def __init__(self) -> None:
        self.found = False
        self._outgrown: list[int] = []  # ranks
        self._events = 0  # when the last one outgrew the pool

    @property
    def last(self) -> int | None:
        """The rank of the request that outgrew the pool last, None where none did."""
        return self._outgrown[-1] if self._outgrown else None

    def notice(self, step: Step, events: int) -> None:
        """A step was decided after so many events."""
        if step.outgrew is None:
            return
        if events > self._events:
            self._events = events
            self._outgrown.clear()
        self._outgrown.append(step.outgrew.rank)
        self.found = self._outgrown.count(step.outgrew.rank) >= TIMES_ENOUGH
