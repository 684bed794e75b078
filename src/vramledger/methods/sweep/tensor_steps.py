"""What a step of tensor parallelism does on a link, and at which bandwidth its sign would change.

All in closed form, TTFT for requests of mean lengths, on a server that is filled with engines of the one layout
or of the other. Pool, scheduler, step time and saturation are those of a simulation of the same launch, so
that an engine has here the saturation that ``vram simulate`` prints. Only the bandwidth of the link is
varied: its latency and the kind of its collectives stay.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import exp, log
from typing import Final

from vramledger.errors import VramError
from vramledger.frozen import frozen
from vramledger.methods.sweep.base import Base
from vramledger.methods.sweep.depth import busiest
from vramledger.methods.sweep.point import Point, point_of
from vramledger.methods.sweep.row import Row
from vramledger.methods.sweep.settings import DATA, TENSOR, changed
from vramledger.methods.sweep.tensor_side import Side, Tokens, side_of
from vramledger.simulate.offered import read_offered
from vramledger.simulate.run import NotServed, Question
from vramledger.simulate.timing.link import Link
from vramledger.workload.operators.prepared import prepared

SLOWEST: Final = 1e9  # bytes/s of one direction, between which a change of sign is looked for
FASTEST: Final = 1e13
_LEFT_OUT: Final = frozenset(
    {TENSOR, DATA, "replicas", "rate-scale", "scenario", "router", "closed"}
)
_SAMPLES: Final = 81  # of the bandwidth, evenly in its logarithm
_ACCURACY: Final = 1e-6  # of the logarithm of a bandwidth
_SERVER: Final = 8  # GPUs, where the card's sheet does not say
SATURATION, ALONE, LOADED = "saturation", "TTFT alone", "TTFT under load"


@frozen
class Turn:
    """One figure before and after the step, on this link; `at` are bandwidths where its sign changes.

    `rises_above` says what it does on a link faster than all of them.
    """

    name: str
    before: float  # requests/s of the server, or seconds
    after: float
    at: tuple[float, ...]  # bytes/s of one direction, from slow to fast
    rises_above: bool
    engines: tuple[int, int] = (1, 1)  # that fill the server before and after

    @property
    def ratio(self) -> float:
        return self.after / self.before

    @property
    def of_an_engine(self) -> tuple[float, float]:
        """A saturation of the server as that of each engine on it, before and after."""
        return self.before / self.engines[0], self.after / self.engines[1]

    @property
    def rises(self) -> bool:
        return self.after > self.before


@frozen
class TensorStep:
    """From one tensor split to the next; `reason` says why there are no figures."""

    label: str  # what else the points change, "" for the base
    before: int
    after: int
    gpu: str
    server_gpus: int
    in_flight: float  # requests on the server, of the TTFT under load: half of what the first holds
    link: Link | None
    turns: tuple[Turn, ...]
    end: str  # of the ledger's band at which the KV pool is: low or expected
    reason: str = ""


def tensor_steps(base: Base, rows: Sequence[Row]) -> tuple[TensorStep, ...]:
    """Every step between neighbouring tensor splits of points that differ in nothing else.

    The number of engines and how much arrives do not count as differences: a server is always full.
    """
    played = next((row for row in rows if row.simulated), None)
    splits = _splits(rows)
    if played is None or not splits:
        return ()
    part, seed = base.question.part, base.question.seed
    with prepared(part, seed) as path:
        offered = busiest(read_offered(path, seed), base.depth.share)
    tokens = Tokens.of(played, offered)
    return tuple(
        _step(base, others, low, high, tokens)
        for others, of_these in splits.items()
        for low, high in pairwise(of_these)
    )


def _splits(rows: Sequence[Row]) -> dict[Point, list[int]]:
    """The splits in rising order, by what else is changed; only where there are several."""
    found: dict[Point, set[int]] = {}
    for row in rows:
        split = row.columns.get("tp")
        if split is not None:
            found.setdefault(_others(row.point), set()).add(split)
    stated = {others: sorted(splits) for others, splits in found.items() if len(splits) > 1}
    alone = Point()
    return {others: stated[others] for others in sorted(stated, key=lambda one: one != alone)}


def _others(point: Point) -> Point:
    return Point(tuple(change for change in point.changes if change.name not in _LEFT_OUT))


def _step(base: Base, others: Point, low: int, high: int, tokens: Tokens) -> TensorStep:
    label, end = (others.label if others.changes else ""), base.question.end
    try:
        first, second = (side_of(_at(base, others, split), tokens) for split in (low, high))
    except VramError as error:
        return TensorStep(label, low, high, "", 0, 0.0, None, (), end, str(error))
    if isinstance(first, NotServed):
        return TensorStep(label, low, high, "", 0, 0.0, None, (), end, first.reason)
    if isinstance(second, NotServed):
        return TensorStep(label, low, high, "", 0, 0.0, None, (), end, second.reason)
    pair = _pair(first, second, tokens)
    turns = tuple(_turn(name, pair) for name in (SATURATION, ALONE, LOADED))
    card = second.prepared.deployment.accelerator.name
    return TensorStep(label, low, high, card, pair.server, pair.in_flight, second.link, turns, end)


@frozen
class _Pair:
    """Both layouts, and the server that they fill."""

    first: Side
    second: Side
    server: int
    in_flight: float
    tokens: Tokens

    def figure(self, name: str, side: Side) -> float:
        """Of the server filled with engines of that layout."""
        engines = self.server / side.gpus
        if name == SATURATION:
            return engines * side.saturation()
        each = 1.0 if name == ALONE else max(self.in_flight / engines, 1.0)
        return side.ttft(self.tokens, each)


def _pair(first: Side, second: Side, tokens: Tokens) -> _Pair:
    card = second.prepared.deployment.accelerator
    server = max(card.per_server or _SERVER, second.gpus)
    half = first.at_once * server / first.gpus / 2
    return _Pair(first, second, server, half, tokens)


def _at(base: Base, others: Point, split: int) -> Question:
    changes = {change.name: change.value for change in others.changes}
    return changed(base, point_of({**changes, TENSOR: str(split)}))


def _turn(name: str, pair: _Pair) -> Turn:
    link = pair.second.link

    def effect(position: float) -> float:
        """Logarithm of the ratio on a link of exp(position) bytes a second."""
        sides = (side.over(exp(position), link) for side in (pair.first, pair.second))
        before, after = (pair.figure(name, side) for side in sides)
        return log(after / before)

    at = tuple(exp(root) for root in _roots(effect))
    before, after = (pair.figure(name, side) for side in (pair.first, pair.second))
    engines = (pair.server // pair.first.gpus, pair.server // pair.second.gpus)
    return Turn(name, before, after, at, effect(log(FASTEST)) > 0, engines)


def _roots(effect: Callable[[float], float]) -> Iterator[float]:
    """Where it crosses 0 between the slowest and the fastest link."""
    from scipy.optimize import brentq

    first, last = log(SLOWEST), log(FASTEST)
    places = [first + (last - first) * k / (_SAMPLES - 1) for k in range(_SAMPLES)]
    values = [effect(place) for place in places]
    for (low, below), (high, above) in pairwise(zip(places, values, strict=True)):
        if below * above < 0:
            yield float(brentq(effect, low, high, xtol=_ACCURACY))
