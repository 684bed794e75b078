"""The table of tried loads: a column for every line of the contract, and a mark where one broke."""

from vramledger.methods.knee.probes import Point
from vramledger.methods.subject import Axis, Check, Figures, Observation
from vramledger.report.knee_table import BROKEN, curve
from vramledger.simulate.judged import Amount

FIGURES = Figures(2.0, 1.9, 6840.0, 0.1, 0.2, 3.0, 5.0, 0.5, 6.0, 9.0, 3)


def latency(asked: str, value: float, threshold: float) -> Check:
    amount = Amount(asked.split(maxsplit=1)[0], value, threshold)
    return Check(asked, f"{value:g}", value <= threshold, amount=amount)


def seen(level: float, tpot: float, *more: Check, preemptions: int = 0) -> Observation:
    return Observation(
        level=level,
        seed=0,
        contract=(
            latency("ttft_s p95 <= 2", 0.2, 2),
            latency("tpot_s p95 <= 0.05", tpot, 0.05),
            Check("the queue drains", "it drains", holds=True),
            *more,
        ),
        headroom=(
            Check("KV use p99 <= 75%", "50%", holds=True, amount=Amount("kv_p99", 0.5, 0.75)),
            Check(
                "no preemption",
                f"{preemptions}",
                preemptions == 0,
                amount=Amount("preemptions", preemptions, 0),
            ),
        ),
        figures=FIGURES,
        took_s=0.0,
    )


def cells(*points: Point) -> list[dict[str, str]]:
    shown = curve(Axis.RATE, points)
    return [dict(zip(shown.head, row, strict=True)) for row in shown.rows]


def test_every_line_has_its_value_and_the_one_that_broke_is_marked() -> None:
    low, high = cells(
        Point(1.0, (seen(1.0, 0.04),), repeats=True),
        Point(2.0, (seen(2.0, 0.06, preemptions=3),), repeats=True),
    )
    assert low["ttft_s p95 <= 2"] == high["ttft_s p95 <= 2"] == "0.2"
    assert low["tpot_s p95 <= 0.05"] == "0.04"
    assert high["tpot_s p95 <= 0.05"] == "0.06 !"
    assert low["the queue drains"] == "it drains"
    assert (low["preempted"], high["preempted"]) == ("3", "3 !")
    assert low["KV p99"] == "50.0%"


def test_of_several_draws_those_that_broke_are_counted() -> None:
    plays = (seen(1.0, 0.04), seen(1.0, 0.06), seen(1.0, 0.07))
    (row,) = cells(Point(1.0, plays, repeats=True))
    assert row["tpot_s p95 <= 0.05"] == "0.04 !2"
    assert row["ttft_s p95 <= 2"] == "0.2"
    assert BROKEN.startswith("! marks what broke; a number behind it counts the draws")


def test_a_line_that_only_one_load_shows_has_a_column_all_the_same() -> None:
    stuck = Check("every request can go on", "one cannot", holds=False)
    low, high = cells(
        Point(1.0, (seen(1.0, 0.04),), repeats=False),
        Point(2.0, (seen(2.0, 0.04, stuck),), repeats=False),
    )
    assert low["every request can go on"] == ""
    assert high["every request can go on"] == "one cannot !"


def test_ttft_has_a_column_of_its_own_only_where_no_line_shows_it() -> None:
    point = Point(1.0, (seen(1.0, 0.04),), repeats=True)
    assert "TTFT p95" not in curve(Axis.RATE, (point,)).head
    bare = Observation(1.0, 0, (), (), FIGURES, 0.0)
    shown = curve(Axis.CONCURRENCY, (Point(8.0, (bare,), repeats=False),))
    assert shown.head[0] == "in flight"
    assert dict(zip(shown.head, shown.rows[0], strict=True))["TTFT p95"] == "200 ms"
