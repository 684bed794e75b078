"""The settings that serve a contract best: screened on a part of the requests, the finalists on all of them.

Screen and finals judge alike: what keeps the contract at the expected step times is played at their slow end too.

1. Every legal layout within the GPUs, with the cache as the base has it and in FP8, is screened: what the ledger
   refuses and what theory rules out is not simulated, the others are, on the quarter of the requests that comes
   fastest. Few GPUs come first, and more than twice those that keep the contract are left out.
2. From the best layouts one coordinate is moved at a time, on the same part: fewer engines where the contract is
   kept, doubled and halved caps and budgets where it is not.
3. The best of each card, number of GPUs and kind of cache are simulated on all requests, as a list of points would
   be, and ranked.

A layout's saturation is a smooth function of the sequence cap and the token budget, and there are a few dozen
layouts, so this takes some 60 short simulations and a dozen long ones. Samplers such as Optuna's pay where one
trial is dear or noisy and there are many continuous settings; neither is so here.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from vramledger.methods.sweep.base import Base
from vramledger.methods.sweep.candidates import (
    Bounds,
    Home,
    Neighbour,
    neighbours,
    settings_of_row,
    waves,
    with_fewer,
)
from vramledger.methods.sweep.depth import Depth
from vramledger.methods.sweep.found import Found, Hunt
from vramledger.methods.sweep.objective import Objective
from vramledger.methods.sweep.point import Point
from vramledger.methods.sweep.prices import UNPRICED, Prices
from vramledger.methods.sweep.row import Row, Verdict
from vramledger.methods.sweep.run import Progress, Results, Sweep
from vramledger.methods.sweep.trials import distance, is_rival
from vramledger.workload.store import read_metadata

_PART: Final = 0.25
_LEAST: Final = 2000  # requests of a part that a screen is worth
_BEST: Final = 2  # families of each kind of cache that are refined
_MOST_ROUNDS: Final = 12
_TRIES: Final = 3  # points of a group on all requests, until one keeps what its screen said
_KNEES: Final = 8
_RIVALS: Final = 2

_Screen: TypeAlias = Callable[[Sequence[Point]], Results]


def search(
    sweep: Sweep,
    bounds: Bounds,
    objective: Objective,
    progress: Progress,
    prices: Prices = UNPRICED,
    *,
    knee: bool = False,
) -> Found:
    """Search; Ctrl-C ends it with what is known.

    Raises:
        BadInput: results cannot be written, or the workers cannot be reached.
    """
    first = sweep.play((Point(),), progress)
    if not first.rows:
        return Found((), (), (), 1.0, first, objective, bounds, prices, 0)
    start = first.rows[0]
    hunt = Hunt(bounds, Home.of(start), objective, prices, start)
    share = _share(sweep.base, start)
    screen: _Screen = (
        (lambda points: sweep.screen(points, Depth(share, bound=True, ends=True), progress))
        if share < 1
        else lambda points: sweep.play(points, progress)
    )
    screened, rounds = _screened(hunt, screen)
    results = screened if screened.interrupted else _finals(hunt, sweep, screened.rows, progress)
    if knee and not results.interrupted:
        results = _with_knees(hunt, sweep, results, progress)
    return hunt.found(results, screened.rows, share, rounds)


def _share(base: Base, start: Row) -> float:
    """Of the requests, for a screen: all of a workload whose part would say little."""
    rows: int | None = start.figure("offered")
    if not start.simulated:
        rows = read_metadata(base.question.part.workload).rows
    return _PART if rows is not None and rows * _PART >= _LEAST else 1.0


def _screened(hunt: Hunt, screen: _Screen) -> tuple[Results, int]:
    """The coarse grid and what lies beside its best, until nothing new lies there."""
    tried: dict[Point, None] = {}
    results, rounds = Results((), 0, 0), 0
    for wave in waves(hunt.bounds, hunt.home):
        if results.interrupted or hunt.has_enough(results.rows, wave.gpus):
            break
        tried.update(dict.fromkeys(wave.points))
        results = screen(tuple(tried))
    while not results.interrupted and rounds < _MOST_ROUNDS:
        known = {settings_of_row(row) for row in results.rows}
        beside = {one.settings: one.point for one in _beside(results.rows, hunt)}
        further = [point for settings, point in beside.items() if settings not in known]
        fresh = [point for point in further if point not in tried]
        if not fresh:
            break
        rounds += 1
        tried.update(dict.fromkeys(fresh))
        results = screen(tuple(tried))
    return results, rounds


def _beside(rows: Sequence[Row], hunt: Hunt) -> Iterator[Neighbour]:
    """What lies beside the best row of each of the best families, with the base's cache and with a smaller one.

    A row that keeps the contract is worth moving to fewer GPUs only, and the best with fewer GPUs in every way.
    """
    bounds, home = hunt.bounds, hunt.home
    for members in hunt.families(rows, _BEST):
        best = members[0]
        if best.verdict is not Verdict.PASS or not hunt.objective.fewest:
            yield from neighbours(best, bounds, home)
            continue
        yield from with_fewer(best, bounds, home)
        smaller = [row for row in members if row.columns["gpus"] < best.columns["gpus"]]
        if smaller:
            most = max(row.columns["gpus"] for row in smaller)
            near = next(row for row in smaller if row.columns["gpus"] == most)
            yield from neighbours(near, bounds, home)


def _finals(hunt: Hunt, sweep: Sweep, screened: Sequence[Row], progress: Progress) -> Results:
    """The best of each group on all requests; the next of it where that falls short of its screen."""
    groups = hunt.groups(screened)
    first = [members[0] for members in groups.values()] or hunt.nearest(screened)
    first += [row for members in groups.values() for row in _rival(members)][:_RIVALS]
    chosen = dict.fromkeys((Point(), *(row.point for row in first)))
    results = sweep.play(tuple(chosen), progress)
    for place in range(1, _TRIES):
        by_point = {row.point: row for row in results.rows}
        more = [
            members[place].point
            for members in groups.values()
            if len(members) > place and _fell_short(members[:place], by_point)
        ]
        if results.interrupted or not more:
            break
        chosen.update(dict.fromkeys(more))
        results = sweep.play(tuple(chosen), progress)
    return results


def _rival(members: Sequence[Row]) -> list[Row]:
    """Of a group the one that differs most from its best, of those about as good: the order may be wrong there."""
    near = [row for row in members[1:] if is_rival(row, members[0])]
    return [max(near, key=lambda row: distance(row, members[0]))] if near else []


def _fell_short(members: Sequence[Row], by_point: dict[Point, Row]) -> bool:
    """Whether the first kept the contract on its part, and none does on all requests."""
    full = [by_point.get(row.point) for row in members]
    said = members[0].verdict is Verdict.PASS
    return said and not any(row is not None and row.verdict is Verdict.PASS for row in full)


def _with_knees(hunt: Hunt, sweep: Sweep, results: Results, progress: Progress) -> Results:
    """The same with the highest loads of the best that keep the contract, and of the base."""
    keeping = [row for row in results.rows if row.verdict is Verdict.PASS]
    points = dict.fromkeys((Point(), *(row.point for row in hunt.ranked(keeping)[:_KNEES])))
    stopped = sweep.play(tuple(points), progress, knee=True).interrupted
    known = sweep.play(tuple(row.point for row in results.rows), progress)
    return replace(known, interrupted=stopped)
