"""What a step of tensor parallelism does on a link, and at which bandwidth its sign would change.

All in closed form (`simulate.timing.closed_loop`), for requests of mean lengths on a server that is filled
with engines of the one layout or of the other. Only the bandwidth of the link is varied: its latency
and the kind of its collectives stay.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import exp, log
from typing import Final

from vramledger.errors import VramError
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator
from vramledger.methods.sweep.base import Base
from vramledger.methods.sweep.point import Point, point_of
from vramledger.methods.sweep.row import Row
from vramledger.methods.sweep.settings import DATA, TENSOR, changed
from vramledger.simulate.run import Question
from vramledger.simulate.timing.closed_loop import Load
from vramledger.simulate.timing.coefficients import Coefficients, shipped
from vramledger.simulate.timing.link import Link
from vramledger.simulate.timing.outlook import Prepared, closed_form, prepare

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

    @property
    def ratio(self) -> float:
        return self.after / self.before

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
    reason: str = ""


def tensor_steps(base: Base, rows: Sequence[Row]) -> tuple[TensorStep, ...]:
    """Every step between neighbouring tensor splits of points that differ in nothing else.

    The number of engines and how much arrives do not count as differences: a server is always full.
    """
    means = next((_means(row) for row in rows if row.simulated), None)
    if means is None:
        return ()
    return tuple(
        _step(base, others, low, high, means)
        for others, splits in _splits(rows).items()
        for low, high in pairwise(splits)
    )


def _means(row: Row) -> tuple[float, float]:
    return row.columns["input_tokens_mean"], row.columns["output_tokens_mean"]


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


def _step(base: Base, others: Point, low: int, high: int, means: tuple[float, float]) -> TensorStep:
    label = others.label if others.changes else ""
    try:
        sides = _Sides.of(base, others, low, high, means)
    except VramError as error:
        return TensorStep(label, low, high, "", 0, 0.0, None, (), str(error))
    reason = sides.first.room.shortage or sides.second.room.shortage
    gpu, link = sides.card.name, sides.second.work.tensor_link
    if reason:
        return TensorStep(label, low, high, gpu, sides.server, 0.0, link, (), reason)
    turns = tuple(_turn(name, sides, link) for name in (SATURATION, ALONE, LOADED))
    return TensorStep(label, low, high, gpu, sides.server, sides.in_flight, link, turns)


@frozen
class _Sides:
    """Both layouts, prepared, and what is asked of them."""

    first: Prepared
    second: Prepared
    card: Accelerator
    server: int
    in_flight: float
    means: tuple[float, float]
    coefficients: Coefficients

    @classmethod
    def of(
        cls, base: Base, others: Point, low: int, high: int, means: tuple[float, float]
    ) -> "_Sides":
        questions = [_at(base, others, split) for split in (low, high)]
        first, second = (prepare(question.case.deployment()) for question in questions)
        card = first.deployment.accelerator
        server = max(card.per_server or _SERVER, second.deployment.layout.world)
        fit = questions[0].fit or shipped()
        half = _held(first, means) * server / first.deployment.layout.world / 2
        return cls(first, second, card, server, half, means, fit.coefficients)

    def figure(self, name: str, one: Prepared) -> float:
        """Of the server filled with engines of that layout."""
        engines = self.server / one.deployment.layout.world
        if name == SATURATION:
            return engines * _saturation(one, self.means, self.coefficients)
        each = 1.0 if name == ALONE else max(self.in_flight / engines, 1.0)
        return closed_form(one, Load(*self.means, each), self.coefficients).waits.total


def _at(base: Base, others: Point, split: int) -> Question:
    changes = {change.name: change.value for change in others.changes}
    return changed(base, point_of({**changes, TENSOR: str(split)}))


def _held(one: Prepared, means: tuple[float, float]) -> float:
    return max(min(one.room.held(*means), float(one.room.sequences)), 1.0)


def _saturation(one: Prepared, means: tuple[float, float], c: Coefficients) -> float:
    """Requests a second of an engine whose queue never empties: those that run over their time in it."""
    found = closed_form(one, Load(*means, _held(one, means)), c)
    stay = found.waits.prefill + found.waits.queue + found.waits.running_step
    return found.running / (stay + means[1] * found.tpot)


def _turn(name: str, sides: _Sides, link: Link) -> Turn:
    def effect(position: float) -> float:
        """Logarithm of the ratio on a link of exp(position) bytes a second."""
        rate = exp(position)
        first = _over(sides.first, rate, link)
        return log(sides.figure(name, _over(sides.second, rate, link)) / sides.figure(name, first))

    at = tuple(exp(root) for root in _roots(effect))
    before, after = sides.figure(name, sides.first), sides.figure(name, sides.second)
    return Turn(name, before, after, at, effect(log(FASTEST)) > 0)


def _over(one: Prepared, bytes_per_s: float, link: Link) -> Prepared:
    """The same with another rate of its link, where that is of the kind of `link`."""
    own = one.work.tensor_link
    if own.ranks == 1 or own.pcie != link.pcie:
        return one
    return replace(one, work=replace(one.work, tensor_link=replace(own, bytes_per_s=bytes_per_s)))


def _roots(effect: Callable[[float], float]) -> Iterator[float]:
    """Where it crosses 0 between the slowest and the fastest link."""
    from scipy.optimize import brentq

    first, last = log(SLOWEST), log(FASTEST)
    places = [first + (last - first) * k / (_SAMPLES - 1) for k in range(_SAMPLES)]
    values = [effect(place) for place in places]
    for (low, below), (high, above) in pairwise(zip(places, values, strict=True)):
        if below * above < 0:
            yield float(brentq(effect, low, high, xtol=_ACCURACY))
