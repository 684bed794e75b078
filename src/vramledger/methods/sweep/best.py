"""The best of a list of points, and which of a long list are judged at the slow end of the step times too."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from vramledger.methods.sweep.candidates import has_small_cache
from vramledger.methods.sweep.objective import OBJECTIVES, ranked
from vramledger.methods.sweep.point import Point
from vramledger.methods.sweep.prices import Prices
from vramledger.methods.sweep.row import Row
from vramledger.methods.sweep.run import Progress, Results, Sweep

MOST_JUDGED: Final = 64  # points of a list that are all judged at the slow end
FINALISTS: Final = 8  # of a longer list, judged at once
_OBJECTIVE: Final = OBJECTIVES["gpus"]
_OF_THE_LOAD: Final = frozenset({"rate-scale", "scenario", "closed", "acceptance"})


def play_list(
    sweep: Sweep, points: Sequence[Point], progress: Progress, prices: Prices, *, knee: bool
) -> Results:
    """The rows of a list: of up to `MOST_JUDGED` points all are judged at the slow end, else the best.

    Those are the first `FINALISTS`, and the next so many as long as none of them keeps the contract there.

    Raises:
        As `Sweep.play`.
    """
    few = len(points) <= MOST_JUDGED
    results = sweep.play(points, progress, knee=knee, ends=few)
    if few or results.interrupted:
        return results
    held = [row for row in results.rows if row.keeps or row.at_expected_only]
    stopped = _judge(sweep, [row.point for row in _in_order(held, prices)], progress, knee=knee)
    judged = sweep.play(points, progress, knee=knee, ends=False)
    return replace(judged, reused=results.reused, interrupted=stopped)


def _judge(sweep: Sweep, held: Sequence[Point], progress: Progress, *, knee: bool) -> bool:
    """Judge points at the slow end, the best first, until some of them keep the contract there; whether it was interrupted."""
    for start in range(0, len(held), FINALISTS):
        judged = sweep.play(held[start : start + FINALISTS], progress, knee=knee)
        if judged.interrupted:
            return True
        if any(row.keeps for row in judged.rows):
            return False
    return False


def best_of(rows: Sequence[Row], start: Row | None, prices: Prices) -> Row | None:
    """The one that keeps the contract, at the slow end too, with the fewest GPUs or at the lowest price.

    None where none does, and where the points are of several loads, which are not compared. What holds
    the cache in fewer bits than the base changes answers, and is left out.
    """
    if any(change.name in _OF_THE_LOAD for row in rows for change in row.point.changes):
        return None
    small = start is not None and has_small_cache(start)
    kept = [row for row in rows if row.keeps and (small or not has_small_cache(row))]
    return next(iter(_in_order(kept, prices)), None)


def _in_order(rows: Iterable[Row], prices: Prices) -> list[Row]:
    return [row for equals in ranked(rows, _OBJECTIVE, prices) for row in equals]
