"""Requests of a ServeGen description: each client's arrivals by window, its lengths by table.

A client's gaps are drawn in a time in which its rate is 1, and an arrival beyond the end of a window
is carried into the next; so a quiet and uneven client has neither more nor fewer requests at the
windows' edges. Passes over the description follow each other as long as requests are asked for.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from vramledger.frozen import frozen
from vramledger.workload.synth.arrivals import Arrivals
from vramledger.workload.synth.draws import Shares
from vramledger.workload.synth.lengths import DrawnLengths
from vramledger.workload.synth.renewal import (
    Gaps,
    gamma,
    gamma_of_shape,
    poisson,
    weibull_of_shape,
)
from vramledger.workload.synth.servegen import Client, Description, Window

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BY_SHAPE: Final[Mapping[str, Callable[[float], Gaps]]] = {
    "Gamma": gamma_of_shape,
    "Weibull": weibull_of_shape,
}


@frozen
class DrawnRequests:
    """Requests by time, with the number of their client."""

    times: "NDArray[np.float64]"
    lengths: DrawnLengths
    client: "NDArray[np.int32]"


def drawn_requests(
    description: Description, asked: Arrivals, rng: "Mapping[str, np.random.Generator]"
) -> Iterator[DrawnRequests]:
    """Chunks of requests, up to the number or the time that was asked for, the first of them at 0."""
    import numpy as np

    left = asked.requests
    first = True
    for whole in _endless(description, asked, rng):
        until = len(whole.times)
        if asked.seconds is not None:
            until = int(np.searchsorted(whole.times, asked.seconds))
        if left is not None:
            until = min(until, left)
            left -= until
        chunk = _until(whole, until)
        if first and until:
            chunk.times[0], first = 0.0, False
        if until:
            yield chunk
        if left == 0 or until < len(whole.times):
            return


def _until(whole: DrawnRequests, count: int) -> DrawnRequests:
    import numpy as np

    return DrawnRequests(
        whole.times[:count], whole.lengths.taken(np.arange(count)), whole.client[:count]
    )


def _endless(
    description: Description, asked: Arrivals, rng: "Mapping[str, np.random.Generator]"
) -> Iterator[DrawnRequests]:
    factor = 1.0 if asked.rate is None else asked.rate / description.mean_per_s
    edges = sorted({w.start_s for client in description.clients for w in client.windows})
    draws = [_ClientDraws(client, factor, rng["arrivals"]) for client in description.clients]
    start = 0.0
    while True:
        for begin, end in zip(edges, [*edges[1:], description.period_s], strict=True):
            if asked.seconds is not None and start + begin > asked.seconds:
                return
            yield _merged([each.between(begin, end) for each in draws], start, rng["lengths"])
        start += description.period_s


def _merged(
    parts: "list[tuple[NDArray[np.float64], _Table]]",
    start_s: float,
    rng: "np.random.Generator",
) -> DrawnRequests:
    import numpy as np

    times = np.concatenate([times for times, _ in parts]) + start_s
    inputs = np.concatenate([table.inputs.draw(rng, len(times)) for times, table in parts])
    outputs = np.concatenate([table.outputs.draw(rng, len(times)) for times, table in parts])
    client = np.repeat(np.arange(len(parts)), [len(times) for times, _ in parts])
    order = np.argsort(times, kind="stable")
    every = np.ones(len(times), np.bool_)
    lengths = DrawnLengths(inputs[order], outputs[order], every, every)
    return DrawnRequests(times[order], lengths, client[order].astype(np.int32))


class _Lengths:
    def __init__(self, shares: tuple[tuple[int, float], ...]) -> None:
        import numpy as np

        self._tokens = np.array([tokens for tokens, _ in shares], np.int32)
        self._shares = Shares(np.array([share for _, share in shares], float))

    def draw(self, rng: "np.random.Generator", count: int) -> "NDArray[np.int32]":
        found: NDArray[np.int32] = self._tokens[self._shares.draw(rng, count)]
        return found


@frozen
class _Table:
    inputs: _Lengths
    outputs: _Lengths


class _ClientDraws:
    """One client's arrivals, window after window."""

    def __init__(self, client: Client, factor: float, rng: "np.random.Generator") -> None:
        self._windows = client.windows
        self._window_starts = [window.start_s for window in client.windows]
        self._tables = [_Table(_Lengths(t.inputs), _Lengths(t.outputs)) for t in client.tables]
        self._table_starts = [table.start_s for table in client.tables]
        self._factor, self._rng = factor, rng
        self._wait: float | None = None  # until the next arrival, in mean gaps

    def between(self, begin: float, end: float) -> "tuple[NDArray[np.float64], _Table]":
        """Arrival times from begin to end, within one window, and the lengths of that time."""
        import numpy as np

        table = self._tables[max(bisect_right(self._table_starts, begin) - 1, 0)]
        window = self._windows[max(bisect_right(self._window_starts, begin) - 1, 0)]
        per_s = window.per_s * self._factor
        if not per_s or not window.start_s <= begin < window.start_s + window.seconds:
            return np.zeros(0), table
        length = (end - begin) * per_s
        gaps = gaps_of(window)
        if self._wait is None:
            self._wait = float(gaps(self._rng, 1)[0] * self._rng.random())
        places = np.array([self._wait])
        while places[-1] < length:
            more = gaps(self._rng, int((length - places[-1]) * 1.1) + 16)
            places = np.concatenate((places, places[-1] + np.cumsum(more)))
        count = int(np.searchsorted(places, length))
        self._wait = float(places[count] - length)
        return begin + places[:count] / per_s, table


def gaps_of(window: Window) -> Gaps:
    """The gaps of a window: as fitted; else gamma gaps of its cv; without one, exponential gaps."""
    if window.shape is not None:
        return _BY_SHAPE[window.gaps](window.shape)
    return gamma(window.cv) if window.cv > 0 else poisson(1.0)
