"""What the proxy adds to an answer: a short question put to A directly and through it, one after the other, again and again.

Both go over connections that are kept, so that the difference is the way through the proxy alone, its wait behind
other clients included. The interval of the median is that of the order statistics (binomial, 95 %).
"""

import asyncio
from contextlib import suppress
from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.methods.mirror.heard import Heard
from vramledger.methods.shadow.intervals import CONFIDENCE, Estimate
from vramledger.trial.wire.connection import Connection
from vramledger.trial.wire.desk import Desk
from vramledger.trial.wire.dial import Dialer, DialError
from vramledger.trial.wire.limits import Limits
from vramledger.trial.wire.target import Target, request_head

PATH: Final = "/v1/models"
_FIRST: Final = 21  # pairs at the start, close together
_SOON_S: Final = 0.02
_LATER_S: Final = 5.0
_MOST: Final = 10_000
_FEWEST: Final = 6  # an interval of a median has its ends among six


@frozen
class Added:
    """Medians of so many pairs, and the median of their differences, in seconds."""

    pairs: int
    direct_s: float | None
    through_s: float | None
    added: Estimate


class Way:
    """One kept connection, over which the question is put again and again."""

    def __init__(self, target: Target, key: str | None, limits: Limits, desk: Desk) -> None:
        self._dialer, self._limits, self._desk = Dialer(target, limits), limits, desk
        head = request_head(target, self._dialer.route, key)
        self._head = b"GET" + head.removeprefix(b"POST")
        self._connection: Connection | None = None

    async def seconds(self) -> float | None:
        """How long the answer took; None where there was none."""
        connection = self._connection
        heard = Heard(self._limits, b"", _nothing)
        try:
            async with asyncio.timeout(self._limits.request_s):
                if connection is None or connection.lost:
                    connection = self._connection = await self._dialer.dial(self._new)
                connection.send(self._head, b"", heard)
                await heard.over.wait()
        except (TimeoutError, DialError):
            self.close()
            return None
        return heard.e2e_s if heard.status is not None else None

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _new(self) -> Connection:
        return Connection(self._desk, self._limits, _nothing_of, _nothing_of)


class Pairs:
    """Puts the question both ways, in turns which goes first."""

    def __init__(self, direct: Way, through: Way) -> None:
        self._ways = (direct, through)
        self._found: list[tuple[float, float]] = []

    async def run(self) -> None:
        """Until it is called off."""
        try:
            for number in range(_MOST):
                await self._once(number % 2)
                await asyncio.sleep(_SOON_S if number < _FIRST else _LATER_S)
        finally:
            for each in self._ways:
                each.close()

    async def _once(self, first: int) -> None:
        took: dict[int, float | None] = {}
        for place in (first, 1 - first):
            with suppress(BadInput):
                took[place] = await self._ways[place].seconds()
        direct, through = took.get(0), took.get(1)
        if direct is not None and through is not None:
            self._found.append((direct, through))

    def added(self) -> Added:
        """What the pairs say; the first, whose connections were new, is left out."""
        pairs = self._found[1:]
        if not pairs:
            return Added(0, None, None, Estimate(None, reason="A did not answer often enough"))
        import numpy as np

        direct, through = np.array(pairs).T
        return Added(
            len(pairs),
            float(np.median(direct)),
            float(np.median(through)),
            _median(sorted(through - direct)),
        )


def _median(ordered: list[float]) -> Estimate:
    from statistics import median

    from scipy.stats import binom

    value, count = float(median(ordered)), len(ordered)
    if count < _FEWEST:
        return Estimate(value, reason="too few pairs for an interval")
    place = int(
        binom.ppf((1 - CONFIDENCE) / 2, count, 0.5)
    )  # so many lie below the median at least
    low = max(place - 1, 0)
    return Estimate(value, float(ordered[low]), float(ordered[count - 1 - low]))


def _nothing() -> None:
    """Nobody is told."""


def _nothing_of(_: Connection) -> None:
    """Nobody is told."""
