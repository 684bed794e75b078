"""What a search tries: legal layouts on a coarse grid, and the points one step away from a good one."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Final

from vramledger.frozen import frozen
from vramledger.methods.sweep.grid import Axis
from vramledger.methods.sweep.point import Point, point_of
from vramledger.methods.sweep.row import Row
from vramledger.methods.sweep.settings import BUDGET, DATA, KV, SEQUENCES, TENSOR

SMALL_CACHE: Final = "fp8"
_COLUMNS: Final = {
    SEQUENCES: "max_num_seqs",
    BUDGET: "max_num_batched_tokens",
    DATA: "dp",
    TENSOR: "tp",
}
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
class Home:
    """The base's layout: a value that it has is no change. `each` counts the GPUs of one rank over all servers."""

    tensor: int | None
    data: int | None
    each: int
    small_cache: bool

    @classmethod
    def of(cls, start: Row) -> "Home":
        tensor, data, gpus = (start.columns.get(name) for name in ("tp", "dp", "gpus"))
        each = 1 if not (tensor and data and gpus) else max(gpus // (tensor * data), 1)
        return cls(tensor, data, each, has_small_cache(start))

    def point(self, changes: Mapping[str, str]) -> Point:
        """The point, without layouts that the base has anyway."""
        own = {TENSOR: str(self.tensor), DATA: str(self.data)}
        return point_of({name: value for name, value in changes.items() if own.get(name) != value})


def has_small_cache(row: Row) -> bool:
    """Whether it holds keys and values in 8 bits."""
    return str(row.columns.get("kv_cache_dtype") or "").startswith(SMALL_CACHE)


@frozen
class Wave:
    """Points of so many GPUs."""

    gpus: int
    points: tuple[Point, ...]


def waves(bounds: Bounds, home: Home) -> tuple[Wave, ...]:
    """Every layout within the GPUs, with the cache as the base has it and in FP8, and every given value.

    From few GPUs to many.
    """
    found: dict[int, list[Point]] = {}
    for tensor, data in _layouts(bounds, home):
        points = found.setdefault(tensor * data * home.each, [])
        points += _of_layout(tensor, data, bounds, home)
    return tuple(Wave(gpus, tuple(dict.fromkeys(found[gpus]))) for gpus in sorted(found))


def _of_layout(tensor: int, data: int, bounds: Bounds, home: Home) -> Iterator[Point]:
    caches: tuple[str | None, ...] = (None,) if home.small_cache else (None, SMALL_CACHE)
    others: dict[str, tuple[str | None, ...]] = {KV: caches, **bounds.values}
    axes = {name: values for name, values in others.items() if name not in (TENSOR, DATA)}
    for values in product(*axes.values()):
        chosen = {name: value for name, value in zip(axes, values, strict=True) if value}
        yield home.point({**chosen, TENSOR: str(tensor), DATA: str(data)})


@frozen
class Neighbour:
    """A point, and its settings after every default: another point may have the same."""

    point: Point
    settings: frozenset[tuple[str, object]]


def neighbours(row: Row, bounds: Bounds, home: Home) -> Iterator[Neighbour]:
    """The points one step away from a row in one coordinate."""
    return _moved(row, (SEQUENCES, BUDGET, DATA), bounds, home)


def with_fewer(row: Row, bounds: Bounds, home: Home) -> Iterator[Neighbour]:
    """The point with one engine less, if there is one."""
    now = settings_of_row(row)
    return (
        one for one in _moved(row, (DATA,), bounds, home) if _engines(one.settings) < _engines(now)
    )


def _engines(settings: frozenset[tuple[str, object]]) -> int:
    return next(value for name, value in settings if name == "dp" and isinstance(value, int))


def _moved(row: Row, names: Sequence[str], bounds: Bounds, home: Home) -> Iterator[Neighbour]:
    changes = {change.name: change.value for change in row.point.changes}
    for name in names:
        for value in _beside(name, row, bounds, home):
            moved = {**changes, name: str(value)}
            yield Neighbour(home.point(moved), settings_of_row(row, {_COLUMNS[name]: value}))


def settings_of_row(
    row: Row, moved: Mapping[str, int] | None = None
) -> frozenset[tuple[str, object]]:
    """What a point sets, those that a search moves after every default."""
    resolved = {name: row.columns.get(name) for name in _COLUMNS.values()}
    return frozenset({**resolved, **(moved or {})}.items()) | frozenset(
        (change.name, change.value) for change in row.point.changes if change.name not in _COLUMNS
    )


def family(row: Row) -> tuple[object, ...]:
    """What a refinement leaves alone."""
    moved = {SEQUENCES, BUDGET, DATA}
    return tuple(change for change in row.point.changes if change.name not in moved)


def _layouts(bounds: Bounds, home: Home) -> Iterator[tuple[int, int]]:
    most = bounds.most_gpus // home.each
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
    return powers if name == TENSOR or not most else sorted({*powers, most})


def _beside(name: str, row: Row, bounds: Bounds, home: Home) -> list[int]:
    if name in bounds.values:
        return []  # the grid has them all
    now = int(row.columns[_COLUMNS[name]])
    if name == DATA:
        most = bounds.most_gpus // (home.each * int(row.columns["tp"]))
        return [value for value in (now - 1, now + 1) if 1 <= value <= most]
    least, most = _LIMITS[name]
    return [value for value in (now // 2, now * 2) if least <= value <= most]
