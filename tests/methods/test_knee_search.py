"""The search for the highest level that keeps a goal, on subjects whose end is known."""

from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from made_up_subjects import Holds, MadeUp, up_to
from vramledger.methods.knee.probes import Probes
from vramledger.methods.knee.search import Ending, Limit, highest, rechecked
from vramledger.methods.subject import Axis, Goal, Range, Subject, Verdict

ROUNDING = 1.001  # levels have four digits
ends = st.floats(-2.5, 2.5).map(lambda power: 10**power)
tolerances = st.sampled_from([0.005, 0.02, 0.1, 0.5])


def probes_of(subject: Subject) -> Probes:
    return Probes(subject, lambda _done, _of_all: None)


def found(subject: Subject, tolerance: float = 0.02, goal: Goal = Goal.CONTRACT) -> Limit:
    return highest(probes_of(subject), goal, tolerance)


def between(limit: Limit) -> tuple[float, float]:
    assert limit.held is not None
    assert limit.failed is not None
    return limit.held.level, limit.failed.level


@given(ends, tolerances, st.none() | ends)
def test_the_end_lies_in_an_interval_within_the_tolerance(
    end: float, tolerance: float, guess: float | None
) -> None:
    limit = found(MadeUp(up_to(end), Range(1.0, 1e-3, 1e3, guess=guess)), tolerance)
    low, high = between(limit)
    assert limit.ending is Ending.FOUND
    assert low <= end < high <= low * (1 + tolerance) * ROUNDING
    assert limit.uncertain == limit.again == ()


@given(ends, tolerances)
def test_a_level_that_is_no_draw_is_played_once(end: float, tolerance: float) -> None:
    subject = MadeUp(up_to(end), draws=False)
    found(subject, tolerance)
    assert {attempt for _level, attempt in subject.played} == {0}


@given(st.integers(1, 500), st.integers(1, 500))
def test_a_number_in_flight_is_found_exactly(end: int, start: int) -> None:
    levels = Range(float(start), 1.0, 1000.0, Axis.CONCURRENCY)
    low, high = between(found(MadeUp(up_to(end), levels), 0.0001))
    assert (low, high) == (end, end + 1)


def noisy(end: float, spread: float, seed: int) -> Holds:
    """Every attempt has an end of its own, drawn around one."""

    def holds(level: float, attempt: int) -> bool:
        return level <= end * 10 ** Random(f"{seed} {attempt}").gauss(0, spread)

    return holds


@given(ends, st.sampled_from([0.01, 0.05, 0.2]), st.integers(0, 2**32))
def test_both_ends_of_noisy_draws_are_clear(end: float, spread: float, seed: int) -> None:
    subject = MadeUp(noisy(end, spread, seed), Range(1.0, 1e-6, 1e6))
    limit = found(subject)
    low, high = between(limit)
    assert limit.held is not None
    assert limit.failed is not None
    assert low < high
    assert 2 * limit.held.held(Goal.CONTRACT) - len(limit.held.plays) >= 3
    assert 2 * limit.failed.held(Goal.CONTRACT) - len(limit.failed.plays) <= -3
    assert all(low < point.level < high for point in limit.uncertain)
    assert max(attempt for _level, attempt in subject.played) < 7


def test_of_noisy_draws_an_end_is_rarely_where_four_of_five_draws_go_the_other_way() -> None:
    spread, quantile = 0.02, 0.8416  # standard deviations up to which four of five lie
    rarely, often = 3.0 * 10 ** (spread * quantile), 3.0 * 10 ** (-spread * quantile)
    wrong = 0
    for seed in range(300):
        low, high = between(found(MadeUp(noisy(3.0, spread, seed), Range(1.0, 1e-6, 1e6))))
        wrong += (low > rarely) + (high < often)
    assert wrong <= 20  # of 600 ends, each wrong at most once in 65 times: 9, give or take 3


@given(ends, st.floats(1.05, 3), st.floats(1.05, 3))
def test_where_levels_above_hold_again_the_lowest_end_is_told(
    end: float, gap: float, more: float
) -> None:
    again, last = end * gap, end * gap * more

    def holds(level: float, _attempt: int) -> bool:
        return level <= end or again < level <= last

    probes = probes_of(MadeUp(holds))
    first = highest(probes, Goal.CONTRACT, 0.02)
    for share in (0.5, 1.02, 1.2, gap * 1.01, gap * more * 0.99, gap * more * 1.1):
        probes.first(probes.range.rounded(end * share))
    limit = rechecked(probes, first, 0.02)
    low, high = between(limit)
    clear = {p.level: p.verdict(Goal.CONTRACT) for p in probes.points}
    assert all(clear[level] is not Verdict.TOO_MUCH for level in clear if level < high)
    assert [p.level for p in limit.again] == [
        level for level, said in clear.items() if said is Verdict.HOLDS and level > high
    ]
    assert low <= end < high  # a level just above the end was played


def test_a_contract_that_nothing_meets_ends_at_the_lowest_level() -> None:
    limit = found(MadeUp(lambda _level, _attempt: False))
    assert limit.ending is Ending.NOTHING_HOLDS
    assert limit.held is None
    assert limit.failed is not None
    assert limit.failed.level == 1e-3


def test_an_end_that_is_not_reached_is_said() -> None:
    limit = found(MadeUp(lambda _level, _attempt: True))
    assert limit.ending is Ending.NEVER_REACHED
    assert limit.held is not None
    assert limit.held.level == 1e3


@given(ends, st.floats(1.1, 50), st.none() | ends)
def test_a_contract_that_asks_for_some_load_holds_between(
    low: float, width: float, guess: float | None
) -> None:
    end = low * width
    assume(end < 900)
    subject = MadeUp(
        lambda level, _attempt: low <= level <= end,
        Range(1.0, 1e-3, 1e3, guess=guess),
        wants_more=lambda level, _attempt: level < low,
    )
    held, failed = between(found(subject))
    assert low <= held <= end < failed <= held * 1.02 * ROUNDING


def test_where_too_little_meets_too_much_nothing_holds() -> None:
    subject = MadeUp(
        lambda _level, _attempt: False, wants_more=lambda level, _attempt: level < 20.0
    )
    limit = found(subject)
    assert limit.ending is Ending.NOTHING_HOLDS
    assert limit.little is not None
    assert limit.failed is not None
    assert limit.little.level < 20.0 <= limit.failed.level <= limit.little.level * 1.021


@given(st.floats(0.01, 100), st.floats(0.3, 1.0))
def test_the_safe_load_is_found_beside_the_contract(end: float, share: float) -> None:
    probes = probes_of(MadeUp(up_to(end), safe_share=share))
    highest(probes, Goal.CONTRACT, 0.02)
    low, high = between(highest(probes, Goal.SAFE, 0.02))
    assert low <= end * share < high <= low * 1.02 * ROUNDING


def test_an_unlucky_first_draw_does_not_decide() -> None:
    def holds(level: float, attempt: int) -> bool:
        return level <= (1.0 if attempt == 0 else 8.0)

    low, high = between(found(MadeUp(holds)))
    assert low <= 8.0 < high


@pytest.mark.parametrize("level", [0.0012345678, 1.23456, 987.654])
def test_levels_are_those_that_are_printed(level: float) -> None:
    rounded = Range(1.0, 1e-3, 1e3).rounded(level)
    assert float(f"{rounded:g}") == rounded
