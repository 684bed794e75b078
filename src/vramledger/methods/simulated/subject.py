"""The simulator as a subject: a workload at another rate, drawn anew for every attempt."""

import time
from dataclasses import replace
from itertools import chain
from typing import Final

from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.methods.simulated.draws import drawn
from vramledger.methods.simulated.observed import observed
from vramledger.methods.subject import Axis, Observation, Range
from vramledger.simulate.capacity import Capacity
from vramledger.simulate.figures import Figures
from vramledger.simulate.from_deployment import settings_of
from vramledger.simulate.judged import fewest_requests
from vramledger.simulate.offered import read_offered
from vramledger.simulate.pace import Pace
from vramledger.simulate.run import (
    Bench,
    NotServed,
    Question,
    Ready,
    bench_of,
    can_hit,
    expected,
    played,
    ready_for,
)
from vramledger.simulate.run_notes import notes_of
from vramledger.simulate.sanity import offered_per_s
from vramledger.simulate.ttft_band import turns_on_ttft
from vramledger.workload.operators.prepared import prepared
from vramledger.workload.operators.scale import LARGEST

_FEWEST_REQUESTS: Final = 20  # in a thinned workload without latency limits; fewer have no p95
_MOST_REQUESTS: Final = 4_000_000  # in a raised one, so that a search ends


@frozen
class Standing:
    """A question ready to be played at other rates; `hits` says whether prefix hits are possible."""

    ready: Ready
    bench: Bench  # at the rate of the question
    hits: bool
    capacity: Capacity  # what theory says of it
    axis: Axis


def standing_of(question: Question) -> Standing | NotServed:
    """The deployment with its workload.

    Raises:
        BadInput: no workload, nothing in it, or a deployment that is none.
        CannotKnow: a card, cache, feature or workload that cannot be simulated, or too few requests for a
            percentile of the contract.
    """
    ready = ready_for(question)
    if isinstance(ready, NotServed):
        return ready
    with prepared(question.part, question.seed) as path:
        bench = bench_of(ready, read_offered(path, question.seed))
    _refuse_few(bench)
    settings = settings_of(
        bench.deployment, bench.pool, prefix_caching=False, acceptance=question.acceptance
    )
    return Standing(ready, bench, can_hit(bench), expected(bench, settings), axis_of(question))


def _refuse_few(bench: Bench) -> None:
    """Raises CannotKnow where the workload has too few requests for a percentile of the contract."""
    contract = bench.question.contract
    needed = 1 if contract is None else fewest_requests(contract)
    if len(bench.offered) < needed:
        raise CannotKnow(
            f"The workload has {_requests(len(bench.offered))}, and the contract's percentiles need {needed:,} or more "
            "(p95 needs 20, p99 100), so no knee can be told; give a workload with more requests."
        )


def _requests(count: int) -> str:
    return "1 request" if count == 1 else f"{count:,} requests"


def axis_of(question: Question) -> Axis:
    """A closed loop has a number in flight and no rate."""
    return Axis.RATE if question.serving.closed is None else Axis.CONCURRENCY


def question_at(question: Question, level: float, seed: int) -> Question:
    """The question at another load."""
    if axis_of(question) is Axis.CONCURRENCY:
        serving = replace(question.serving, closed=round(level))
        return replace(question, serving=serving, seed=seed)
    return replace(question, part=replace(question.part, rate_scale=level), seed=seed)


class SimulatedSubject:
    """Levels are factors on the recorded arrivals, or requests in flight of a closed loop.

    Attempt n of a level has the question's seed plus n, so that ``vram simulate --rate-scale LEVEL
    --seed SEED`` (or ``--closed``) shows the same run. `pace` is the end of the band of the
    step times, `start` a level to begin at when one is known to be near.
    """

    def __init__(
        self,
        standing: Standing,
        *,
        hits: bool,
        pace: Pace = Pace.EXPECTED,
        start: float | None = None,
    ) -> None:
        self._ready = replace(standing.ready, question=replace(standing.ready.question, pace=pace))
        self._standing = standing
        self._hits = hits
        self._drawn: dict[float, tuple[str, ...]] = {}
        found = _RANGES[standing.axis](standing)
        self._range = found if start is None else replace(found, start=start, guess=None)

    @property
    def range(self) -> Range:
        """From the thinnest workload that has percentiles, or one in flight, to the largest simulated."""
        return self._range

    @property
    def drawn(self) -> tuple[str, ...]:
        """What the seed decided in the levels that were played; empty where it decided nothing."""
        return tuple(dict.fromkeys(chain.from_iterable(self._drawn.values())))

    def repeats(self, level: float) -> bool:
        """Whether the seed decides anything there: nothing of the whole workload at its own rate is drawn."""
        if level in self._drawn:
            return bool(self._drawn[level])
        question = question_at(self._ready.question, level, 0)
        return bool(drawn(replace(self._standing.bench, question=question)))

    def play(self, level: float, attempt: int) -> Observation:
        """The workload at that load, simulated.

        Raises:
            BadInput: nothing is left of the workload.
            CannotKnow: the workload has no times.
        """
        began = time.perf_counter()
        question = question_at(self._ready.question, level, self._ready.question.seed + attempt)
        with prepared(question.part, question.seed) as path:
            offered = read_offered(path, question.seed)
        bench = bench_of(replace(self._ready, question=question), offered)
        self._drawn.setdefault(level, drawn(bench))
        run = played(bench, _silent, hits=self._hits, beside=self._expected(bench))
        notes = notes_of(bench, run, run if self._hits else None)
        seen = observed(bench, run, level, time.perf_counter() - began)
        return replace(seen, notes=notes)

    def _expected(self, bench: Bench) -> Figures | None:
        """The figures at the expected step times, where the run is at an end and the contract is of TTFT."""
        if bench.question.pace is Pace.EXPECTED or not turns_on_ttft(bench.question.contract):
            return None
        question = replace(bench.question, pace=Pace.EXPECTED)
        expected_bench = bench_of(replace(self._ready, question=question), bench.offered)
        return played(expected_bench, _silent, hits=self._hits).figures


def _silent(_done: int, _of_all: int) -> None:
    """Plays are told one by one, not the requests of each."""


def _rates(standing: Standing) -> Range:
    bench = standing.bench
    start = bench.question.part.rate_scale
    rows = len(bench.offered) / start  # at factor 1
    arrive = offered_per_s(bench.offered)
    contract = bench.question.contract
    fewest = max(_FEWEST_REQUESTS, 1 if contract is None else fewest_requests(contract))
    return Range(
        start=start,
        lowest=min(start, fewest / rows),
        highest=max(start, min(LARGEST, _MOST_REQUESTS / rows)),
        guess=None if arrive is None else start * standing.capacity.saturation_per_s / arrive,
        why_lowest=f"fewer than {fewest:,} requests have no such percentiles",
        why_highest=(
            f"a search plays {_MOST_REQUESTS:,} requests and {LARGEST:,.0f} times the arrivals at most"
        ),
    )


def _numbers_in_flight(standing: Standing) -> Range:
    start = standing.bench.question.serving.closed or 1
    most = max(start, len(standing.bench.offered))  # more are never in flight
    return Range(
        start,
        1,
        most,
        Axis.CONCURRENCY,
        guess=standing.capacity.concurrency,
        why_lowest="fewer than one are none",
        why_highest="the workload has no more requests",
    )


_RANGES: Final = {Axis.RATE: _rates, Axis.CONCURRENCY: _numbers_in_flight}
