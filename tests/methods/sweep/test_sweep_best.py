"""Which points of a list are judged at the slow end, and which one is the best."""

from pathlib import Path
from typing import Any

from swept import LAUNCH, Inventing, base, quiet
from vramledger.methods.sweep.best import FINALISTS, MOST_JUDGED, best_of, play_list
from vramledger.methods.sweep.point import Point, point_of
from vramledger.methods.sweep.prices import UNPRICED
from vramledger.methods.sweep.run import Results, Sweep


def invented(point: Point) -> dict[str, Any]:
    goodput = float(point.value("max-num-seqs") or 1)
    small = point.value("kv-cache-dtype") == "fp8"
    return {
        "verdict": "PASS",
        "gpus": 1,
        "no_hits_goodput_per_hour": goodput,
        "kv_cache_dtype": "fp8" if small else "bfloat16",
    }


def played(folder: Path, points: tuple[Point, ...], workers: Inventing) -> Results:
    with Sweep(base(folder, LAUNCH, "ttft p95 <= 1"), workers) as sweep:
        return play_list(sweep, points, quiet, UNPRICED, knee=False)


def test_all_of_a_short_list_are_judged_at_the_slow_end(tmp_path: Path) -> None:
    workers = Inventing(invented)
    points = (Point(), *(point_of({"max-num-seqs": str(n)}) for n in range(2, MOST_JUDGED + 1)))
    found = played(tmp_path, points, workers)
    assert all(row.keeps for row in found.rows)
    assert len(workers.asked) == MOST_JUDGED


def test_of_a_long_list_the_best_are(tmp_path: Path) -> None:
    workers = Inventing(invented)
    points = (Point(), *(point_of({"max-num-seqs": str(2**n)}) for n in range(1, MOST_JUDGED + 1)))
    found = played(tmp_path, points, workers)
    judged = [row.point for row in found.rows if row.keeps]
    assert judged == list(points[-FINALISTS:])
    assert all(row.at_expected_only for row in found.rows if not row.keeps)
    assert len(workers.asked) == len(points) + FINALISTS
    best = best_of(found.rows, found.rows[0], UNPRICED)
    assert best is not None
    assert best.point == points[-1]


def test_the_next_best_are_judged_while_none_keeps_the_contract_at_the_slow_end(
    tmp_path: Path,
) -> None:
    points = (Point(), *(point_of({"max-num-seqs": str(n)}) for n in range(2, 80)))

    def slow_only_below_60(point: Point) -> dict[str, Any]:
        holds = int(str(point.value("max-num-seqs") or 1)) < 60
        return {**invented(point), "slow_end_holds": holds}

    workers = Inventing(slow_only_below_60)
    found = played(tmp_path, points, workers)
    best = best_of(found.rows, found.rows[0], UNPRICED)
    assert best is not None
    assert int(str(best.point.value("max-num-seqs"))) < 60
    assert len(workers.asked) < 2 * len(points)


def test_the_best_has_the_cache_and_the_load_of_the_base(tmp_path: Path) -> None:
    small = point_of({"kv-cache-dtype": "fp8", "max-num-seqs": "64"})
    rows = played(tmp_path, (Point(), small), Inventing(invented)).rows
    assert best_of(rows, rows[0], UNPRICED) is rows[0]
    loads = played(tmp_path, (Point(), point_of({"rate-scale": "2"})), Inventing(invented)).rows
    assert best_of(loads, loads[0], UNPRICED) is None
