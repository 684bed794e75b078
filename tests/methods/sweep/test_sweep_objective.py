"""The order of rows in which near equals are equal."""

from typing import Any

from vramledger.methods.sweep.objective import OBJECTIVES, better, ranked
from vramledger.methods.sweep.point import Point, point_of
from vramledger.methods.sweep.row import Row

FEWEST = OBJECTIVES["gpus"]


def test_a_load_is_never_held_against_a_goodput() -> None:
    shared = {"status": "simulated", "verdict": "PASS", "gpus": 2, "no_hits_goodput_per_hour": 9e4}
    searched_one = Row(point_of({"a": "1"}), {**shared, "knee": "found", "knee_per_s": 9.0})
    other = Row(Point(), shared)
    assert ranked((other, searched_one), FEWEST) == ((searched_one,), (other,))
    assert better(searched_one, other, FEWEST)


def test_equals_lie_within_the_tolerance_of_the_best_of_their_class() -> None:
    def row(name: str, goodput: float, **more: Any) -> Row:
        columns = {"status": "simulated", "verdict": "PASS", "gpus": 1, **more}
        return Row(point_of({name: "1"}), {**columns, "no_hits_goodput_per_hour": goodput})

    a, b, c = row("a", 1000), row("b", 992), row("c", 984)
    assert ranked((c, b, a), FEWEST) == ((a, b), (c,))  # c is near b, and not near the best
    failing = row("f", 2000, verdict="FAIL")
    assert ranked((failing, a), FEWEST) == ((a,), (failing,))
