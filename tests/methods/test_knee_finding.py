"""What is said where no load holds for certain, where the end is not reached, and what a search of limits leaves out."""

from dataclasses import replace

import pytest

from made_up_subjects import Holds, MadeUp, up_to
from vramledger.methods.knee.find import find_knee, find_limits
from vramledger.methods.knee.probes import Probes
from vramledger.methods.knee.search import limit_of
from vramledger.methods.simulated.knee import Finding, Side, SlowEnd
from vramledger.methods.subject import Axis, Goal, Range, Verdict
from vramledger.report.knee_words import both, sentences

LEVELS = Range(1.0, 0.25, 4.0, why_lowest="it is short", why_highest="it is long")


def probes_of(holds: Holds) -> Probes:
    return Probes(MadeUp(holds, LEVELS), lambda _done, _of_all: None)


def side(holds: Holds, slow: Holds | None = None) -> Side:
    probes = probes_of(holds)
    knee = find_knee(probes, 0.5)
    if slow is None:
        return Side(hits=False, knee=knee, points=probes.points, drawn=())
    found = find_limits(probes_of(slow), 0.5)
    end = SlowEnd(1.3, found, found.points)
    return Side(hits=False, knee=knee, points=probes.points, drawn=(), slow=end)


def by_turns(_level: float, attempt: int) -> bool:
    return attempt % 2 == 0


def nothing(_level: float, _attempt: int) -> bool:
    return False


@pytest.mark.parametrize(
    ("holds", "slow", "finding"),
    [
        (up_to(2), None, Finding.HOLDS),
        (up_to(2), up_to(1), Finding.HOLDS),
        (up_to(9), up_to(9), Finding.HOLDS),
        (up_to(2), nothing, Finding.NOT_AT_THE_SLOW_END),
        (nothing, nothing, Finding.DOES_NOT_HOLD),
        (by_turns, nothing, Finding.UNCERTAIN),
        (
            lambda level, attempt: level < 1 and by_turns(level, attempt),
            nothing,
            Finding.UNCERTAIN,
        ),
    ],
)
def test_a_finding_needs_both_ends_of_the_step_times(
    holds: Holds, slow: Holds | None, finding: Finding
) -> None:
    assert side(holds, slow).finding is finding


@pytest.mark.parametrize(
    ("asked", "holds", "slow", "finding"),
    [
        (1.0, up_to(2), up_to(1), Finding.HOLDS),
        (2.0, up_to(3), up_to(1), Finding.UNCERTAIN_THERE),
        (3.0, up_to(1), up_to(1), Finding.AT_LESS_LOAD),
        (3.0, up_to(1), None, Finding.AT_LESS_LOAD),
        (3.0, up_to(1), nothing, Finding.NOT_AT_THE_SLOW_END),
        (3.0, nothing, nothing, Finding.DOES_NOT_HOLD),
    ],
)
def test_a_finding_is_of_the_load_that_was_asked_for(
    asked: float, holds: Holds, slow: Holds | None, finding: Finding
) -> None:
    assert replace(side(holds, slow), asked=asked).finding is finding


def test_a_decision_takes_the_safe_load_of_the_slow_end() -> None:
    found = side(up_to(3), up_to(1))
    assert found.slow is not None
    assert found.slow.limits is not None
    assert found.decision is found.slow.limits.safe
    alone = side(up_to(3))
    assert alone.knee is not None
    assert alone.decision is alone.knee.safe


def test_where_no_load_is_clear_the_uncertain_ones_are_told() -> None:
    limits = find_limits(probes_of(by_turns), 0.5)
    said = sentences(limits.contract, Axis.RATE)
    assert said[0] == "No load keeps the contract for certain."
    assert said[1].startswith("At these loads it holds about as often as it fails: ")


def test_uncertain_loads_below_one_that_fails_are_told() -> None:
    limits = find_limits(
        probes_of(lambda level, attempt: level < 1 and by_turns(level, attempt)), 0.5
    )
    said = sentences(limits.contract, Axis.RATE)
    assert said[0] == "No load keeps the contract for certain: at 1/s (x1) it holds finds False."
    assert said[1].startswith("Below that it holds about as often as it fails: ")


def test_a_search_that_was_ended_does_not_blame_the_highest_load() -> None:
    probes = probes_of(up_to(9))
    probes.verdict(1.0, Goal.CONTRACT)
    assert sentences(limit_of(probes, Goal.CONTRACT), Axis.RATE) == [
        (
            "The contract holds at the highest load that was tried, 1/s (x1); its end was not reached, because "
            "the search was ended before it."
        )
    ]


def test_why_no_load_beyond_was_tried_is_said() -> None:
    high = find_limits(probes_of(up_to(9)), 0.5)
    assert both(high.contract, high.safe, Axis.RATE) == [
        (
            "The contract holds at the highest load that was tried, 4/s (x4); its end was not reached, because "
            "it is long."
        ),
        "The end of the safe load was not reached either.",
    ]
    low = find_limits(probes_of(nothing), 0.5)
    assert sentences(low.contract, Axis.RATE) == [
        (
            "No load keeps the contract: even at 0.25/s (x0.25), the lowest that was tried, it holds finds "
            "False (it is short)."
        )
    ]


def test_limits_alone_are_those_of_the_whole_search_with_fewer_plays() -> None:
    whole, alone = find_knee(probes_of(up_to(2)), 0.1), find_limits(probes_of(up_to(2)), 0.1)
    for one, other in ((whole.contract, alone.contract), (whole.safe, alone.safe)):
        assert one.held is not None
        assert other.held is not None
        assert one.held.level == other.held.level
        assert other.held.verdict(other.goal) is Verdict.HOLDS
    assert len(alone.points) < len(whole.points)
