"""The settings that serve a contract best: legal layouts on a coarse grid, then one coordinate at a time.

A layout's saturation is a smooth function of the sequence cap and the token budget, and there are a few
dozen layouts: a grid over these, then doubling and halving the others from the three best until
nothing improves, takes some 60 deterministic simulations. Samplers such as Optuna's pay where one trial
is dear or noisy and there are many continuous settings; neither is so here.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Final

from vramledger.frozen import frozen
from vramledger.methods.sweep.grid import Axis
from vramledger.methods.sweep.objective import Objective
from vramledger.methods.sweep.point import Change, Point, point_of
from vramledger.methods.sweep.row import Row
from vramledger.methods.sweep.run import Progress, Results, Sweep
from vramledger.methods.sweep.settings import BUDGET, DATA, KV, SEQUENCES, TENSOR

_KV_TYPES: Final = ("auto", "fp8")
_COLUMNS: Final = {SEQUENCES: "max_num_seqs", BUDGET: "max_num_batched_tokens", DATA: "dp"}
_LAYOUT: Final = frozenset({TENSOR, DATA})
_BEST: Final = 3  # layouts that are refined
_MOST_ROUNDS: Final = 12
_LIMITS: Final = {SEQUENCES: (1, 16384), BUDGET: (64, 1 << 17)}


@frozen
class Bounds:
    """What may be tried: GPUs of all engines together, and values that replace our own, by setting."""

    most_gpus: int
    values: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, most_gpus: int, axes: Sequence[Axis]) -> "Bounds":
        return cls(most_gpus, {axis.name: axis.values for axis in axes})


@frozen
class Found:
    """All points that were tried, best first, and how the search went."""

    ranking: tuple[Row, ...]
    results: Results
    objective: Objective
    bounds: Bounds
    rounds: int

    @property
    def layouts(self) -> tuple[Row, ...]:
        """The rows of the coarse grid that differ from the best in the layout alone."""
        best = self.best
        if best is None:
            return ()
        refined = {SEQUENCES, BUDGET}.difference(self.bounds.values)
        wanted = _changes(best, _LAYOUT | refined)
        return tuple(row for row in self.ranking if _changes(row, _LAYOUT) == wanted)

    @property
    def best(self) -> Row | None:
        return next((row for row in self.ranking if row.simulated), None)


def _changes(row: Row, left_out: frozenset[str]) -> set[Change]:
    return {change for change in row.point.changes if change.name not in left_out}


def search(sweep: Sweep, bounds: Bounds, objective: Objective, progress: Progress) -> Found:
    """Search; Ctrl-C ends it with what is known.

    Raises:
        BadInput: results cannot be written, or the workers cannot be reached.
    """
    tried = dict.fromkeys((Point(), *coarse(bounds)))
    results = sweep.play(tuple(tried), progress)
    rounds = 0
    while not results.interrupted and rounds < _MOST_ROUNDS:
        known = {_settings(row) for row in results.rows}
        leaders = _leaders(results.rows, objective)
        beside = {one.settings: one.point for row in leaders for one in neighbours(row, bounds)}
        further = [point for settings, point in beside.items() if settings not in known]
        fresh = [point for point in further if point not in tried]
        if not fresh:
            break
        rounds += 1
        tried.update(dict.fromkeys(fresh))
        results = sweep.play(tuple(tried), progress)
    ranking = tuple(sorted(results.rows, key=lambda row: _place(row, objective)))
    return Found(ranking, results, objective, bounds, rounds)


def coarse(bounds: Bounds) -> Iterator[Point]:
    """Every layout within the GPUs, with every way to hold the cache and every value that was given."""
    others = {KV: _KV_TYPES, **bounds.values}
    axes = {name: values for name, values in others.items() if name not in (TENSOR, DATA)}
    for tensor, data in _layouts(bounds):
        for values in product(*axes.values()):
            chosen = dict(zip(axes, values, strict=True))
            yield point_of({**chosen, TENSOR: str(tensor), DATA: str(data)})


@frozen
class Neighbour:
    """A point, and its settings after every default: another point may have the same."""

    point: Point
    settings: frozenset[tuple[str, object]]


def neighbours(row: Row, bounds: Bounds) -> Iterator[Neighbour]:
    """The points one step away from a row in one coordinate."""
    if not row.simulated or not row.point.changes:
        return
    changes = {change.name: change.value for change in row.point.changes}
    for name in (SEQUENCES, BUDGET, DATA):
        for value in _beside(name, row, bounds):
            moved = {**changes, name: str(value)}
            yield Neighbour(point_of(moved), _settings(row, {_COLUMNS[name]: value}))


def _settings(row: Row, moved: Mapping[str, int] | None = None) -> frozenset[tuple[str, object]]:
    """What a point sets, those of the refinement after every default."""
    resolved = {name: row.columns.get(name) for name in _COLUMNS.values()}
    return frozenset({**resolved, **(moved or {})}.items()) | frozenset(
        (change.name, change.value) for change in row.point.changes if change.name not in _COLUMNS
    )


def _layouts(bounds: Bounds) -> Iterator[tuple[int, int]]:
    most = bounds.most_gpus
    for tensor in _numbers(bounds, TENSOR, most):
        for data in _numbers(bounds, DATA, most // tensor):
            if tensor * data <= most:
                yield tensor, data


def _numbers(bounds: Bounds, name: str, most: int) -> list[int]:
    """The values that were given, else the powers of two and the most."""
    given = bounds.values.get(name)
    if given is not None:
        return [int(value) for value in given if value.isdigit() and int(value) > 0]
    powers = [1 << k for k in range(most.bit_length()) if 1 << k <= most]
    return powers if name == TENSOR else sorted({*powers, most})


def _beside(name: str, row: Row, bounds: Bounds) -> list[int]:
    now = int(row.columns[_COLUMNS[name]])
    if name in bounds.values:
        return []  # the grid has them all
    if name == DATA:
        most = bounds.most_gpus // int(row.columns["tp"])
        return [value for value in (now - 1, now + 1) if 1 <= value <= most]
    least, most = _LIMITS[name]
    return [value for value in (now // 2, now * 2) if least <= value <= most]


def _leaders(rows: Sequence[Row], objective: Objective) -> list[Row]:
    """The best row of each of the best layouts."""
    found: dict[tuple[object, ...], Row] = {}
    for row in sorted(rows, key=lambda row: _place(row, objective)):
        if row.simulated and row.point.changes:
            found.setdefault(_family(row), row)
    return list(found.values())[:_BEST]


def _family(row: Row) -> tuple[object, ...]:
    """What a refinement leaves alone."""
    moved = {SEQUENCES, BUDGET, DATA}
    return tuple(change for change in row.point.changes if change.name not in moved)


def _place(row: Row, objective: Objective) -> tuple[object, ...]:
    return (*objective.order(row), len(row.point.changes), row.point.text)
