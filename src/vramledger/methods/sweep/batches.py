"""Points handed out in batches, so that a worker reads the same part of the workload once."""

from collections.abc import Iterator, Sequence
from typing import Final

from vramledger.methods.sweep.point import Point

_MOST: Final = 4  # points of a batch: what a worker that is killed loses
_EACH: Final = 8  # batches that every worker gets at least


def batches(points: Sequence[Point], workers: int) -> Iterator[tuple[Point, ...]]:
    """All points, those of one part of the workload beside each other."""
    ordered = sorted(points, key=_part)
    size = max(1, min(_MOST, len(points) // (_EACH * workers)))
    for start in range(0, len(ordered), size):
        yield tuple(ordered[start : start + size])


def _part(point: Point) -> tuple[str, str]:
    return point.value("scenario") or "", point.value("rate-scale") or ""
