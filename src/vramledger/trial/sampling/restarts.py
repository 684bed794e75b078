"""Whether a server restarted between two pages: its process began at another time, or its counters fell."""

from collections.abc import Mapping, Sequence
from typing import Final

from vramledger.engine.metrics.page import Series
from vramledger.record.samples import MetricKind
from vramledger.trial.sampling.source import Event

_SAME_START_S: Final = 1.0  # clients work it out from clock ticks, so the last digits may waver
_COUNTING: Final = (MetricKind.COUNTER, MetricKind.BUCKET)


class Restarts:
    """Compares each page with the one before.

    Pages that go back and forth between servers are told once, since they come from several behind one address.
    """

    def __init__(self, target: str) -> None:
        self._target = target
        self._starts: list[float] = []
        self._several = False

    def seen(
        self,
        start: float | None,
        values: Mapping[int, float],
        last: Mapping[int, float],
        series: Sequence[Series],
    ) -> tuple[Event, ...]:
        """What is to be told of a page that follows another; `start` is when its process began, if it says so."""
        began = self._began_again(start)
        if self._several:
            return began
        fell = [
            number
            for number, before in last.items()
            if series[number].kind in _COUNTING and values.get(number, before) < before
        ]
        if fell and not began:
            first = series[fell[0]]
            details = {"target": self._target, "counters": len(fell), "first": first.raw_name}
            return (Event("counters_fell", details),)
        return began

    def _began_again(self, start: float | None) -> tuple[Event, ...]:
        if start is None or self._several:
            return ()
        known = [_is_same(start, each) for each in self._starts]
        if not known or known[-1]:
            self._starts = self._starts or [start]
            return ()
        if any(known):
            self._several = True
            details = {"target": self._target, "servers": len(self._starts)}
            return (Event("several_servers", details),)
        before = self._starts[-1]
        self._starts.append(start)
        details = {"target": self._target, "began_at": start, "before": before}
        return (Event("server_restarted", details),)


def _is_same(one: float, other: float) -> bool:
    return abs(one - other) <= _SAME_START_S
