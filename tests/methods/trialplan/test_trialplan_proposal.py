"""The order of trials and the time they take: never more than there is, the likeliest failure first, one restart a setting."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vramledger.errors import BadInput
from vramledger.methods.trialplan.budget import Budget, until_of
from vramledger.methods.trialplan.item import BY_NAME, Item
from vramledger.methods.trialplan.line_need import LineNeed
from vramledger.methods.trialplan.proposal import (
    Extra,
    grouped,
    in_order,
    propose,
    total_seconds,
)
from vramledger.methods.trialplan.scenario_need import RUN, ScenarioNeed

NOW = datetime(2026, 12, 2, 12, 0, tzinfo=UTC)


def line(asked: str, hours: float | None, chance: float = 0.05) -> LineNeed:
    needed = None if hours is None else round(hours * 1000)
    return LineNeed(
        asked, 0.99, 0.95, needed, 1000.0, 1.0, hours, hours, chance, "" if hours else "why"
    )


def need(name: str, *lines: LineNeed, fewest_s: float = 60.0) -> ScenarioNeed:
    return ScenarioNeed(name, 1000, 3600.0, fewest_s, 60.0, lines)


hours_of_a_line = st.one_of(st.none(), st.floats(0.001, 50))
first, second = (
    st.builds(line, st.just(asked), hours_of_a_line, st.floats(0, 1)) for asked in ("a", "b")
)
needs = st.lists(
    st.builds(
        need, st.sampled_from(["x", "y", "z", "v"]), first, second, fewest_s=st.floats(1, 7200)
    ),
    min_size=0,
    max_size=4,
    unique_by=lambda each: each.name,
)
extras = st.lists(
    st.one_of(
        st.builds(Extra, st.just("cold"), st.one_of(st.none(), st.floats(1, 9000))),
        st.builds(
            lambda value: Extra("variation", settings={"max-num-seqs": value}),
            st.sampled_from(["8", "16"]),
        ),
    ),
    max_size=4,
)


@given(needs, extras, st.floats(0, 40), st.floats(0, 3600))
def test_a_proposal_never_takes_longer_than_there_is(
    wanted: list[ScenarioNeed], more: list[Extra], hours: float, restart_s: float
) -> None:
    budget = Budget(NOW, hours=hours or None)
    found = propose(wanted, budget, 0.9, more, restart_s)
    assert found.seconds <= budget.seconds + 1e-6


@given(needs, st.floats(0.01, 100), st.floats(0.01, 10))
def test_nor_does_it_cost_more_than_there_is(
    wanted: list[ScenarioNeed], money: float, price: float
) -> None:
    budget = Budget(NOW, most_cost=money, per_hour=price)
    found = propose(wanted, budget, 0.9)
    assert budget.cost_of(found.seconds) <= money + 1e-6


@given(needs, extras, st.floats(0, 40))
def test_a_line_is_called_decided_only_where_its_trial_is_long_enough(
    wanted: list[ScenarioNeed], more: list[Extra], hours: float
) -> None:
    found = propose(wanted, Budget(NOW, hours=hours or None), 0.9, more)
    sends = {item.scenario: item.send_s for item in found.items if item.kind == "run"}
    for each in found.lines:
        if each.decided:
            assert each.need.hours is not None
            assert each.need.hours * 3600 <= (sends[each.scenario] or 0) + 1e-3
    decided = {f"{each.scenario}: {each.need.asked}" for each in found.lines if each.decided}
    assert decided == {line for item in found.items for line in item.decides}


@given(needs)
def test_without_a_limit_everything_that_time_decides_is_decided(
    wanted: list[ScenarioNeed],
) -> None:
    found = propose(wanted, Budget(NOW), 0.9)
    assert all(each.decided for each in found.lines if each.need.hours is not None)
    assert not found.left_out


def test_the_order_has_the_least_expected_time_until_a_failure() -> None:
    """Against every other order, a failure ending the sequence."""
    wanted = [
        need("long-safe", line("a", 3.0, 0.05)),
        need("short-safe", line("a", 0.2, 0.05)),
        need("long-risky", line("a", 3.0, 0.6)),
        need("short-risky", line("a", 0.3, 0.5)),
    ]

    def expected_s(order: tuple[ScenarioNeed, ...]) -> float:
        total, reached = 0.0, 1.0
        for each in order:
            total += reached * each.takes_s
            reached *= 1 - each.chance_of_failing
        return total

    best = min(map(expected_s, permutations(wanted)))
    assert expected_s(tuple(in_order(wanted))) == pytest.approx(best)


def test_a_setting_costs_one_restart_however_many_trials_have_it() -> None:
    def item(name: str, *, fresh: bool = False, **settings: str) -> Item:
        return Item(name, "variation", 100.0, "daily", 10.0, settings=settings, fresh=fresh)

    mixed = [
        item("1", seqs="8"),
        item("2"),
        item("3", seqs="16"),
        item("4", seqs="8"),
        item("5", fresh=True),
    ]
    ordered = grouped(mixed)
    assert [each.name for each in ordered] == ["2", "5", "1", "4", "3"]
    assert total_seconds(ordered, 1000.0) == 5 * 100 + 3 * 1000  # for 5, for 8, for 16
    changes = sum(a.settings != b.settings for a, b in pairwise(ordered))
    assert changes == 2


def test_what_does_not_fit_whole_is_cut_to_the_lines_that_it_still_decides() -> None:
    wanted = [need("daily", line("quick", 0.5), line("slow", 10.0))]
    found = propose(wanted, Budget(NOW, hours=2.0), 0.9)
    assert [(item.name, item.send_s, item.decides) for item in found.items] == [
        ("ready", None, ()),
        ("daily", 1800.0, ("daily: quick",)),
    ]
    assert [each.decided for each in found.lines] == [True, False]
    assert not found.decides
    assert found.seconds_to_decide > 10 * 3600


def test_a_line_that_no_time_decides_is_listed_and_takes_none() -> None:
    found = propose([need("nightly", line("done by 06:00", None))], Budget(NOW), 0.9)
    assert found.items == ()
    assert [each.decided for each in found.lines] == [None]


def test_a_cold_trial_warms_nothing_up() -> None:
    wanted = need("daily", line("a", 0.5))
    cold, warm = (wanted.item(kind, 600.0) for kind in (BY_NAME["cold"], RUN))
    assert warm.takes_s - cold.takes_s == 180.0
    assert cold.fresh
    assert cold.decides == ()


def test_the_next_time_that_the_clock_says_so() -> None:
    assert until_of("18:00", NOW) == NOW.replace(hour=18)
    assert until_of("09:30", NOW) == NOW.replace(hour=9, minute=30) + timedelta(days=1)
    assert until_of("2026-12-03T01:00", NOW) == datetime(2026, 12, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "soon",
            "--until soon is no moment; write 18:00 for the next time the clock says so, or 2026-12-02T18:00.",
        ),
        ("2026-12-01T18:00", "--until 2026-12-01T18:00 is over; it is 2026-12-02T12:00 now."),
    ],
)
def test_what_is_no_moment_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(BadInput) as raised:
        until_of(text, NOW)
    assert str(raised.value) == sentence


@given(st.floats(0, 1e5), st.floats(0, 1e5))
def test_nothing_begins_that_cannot_end(hours: float, takes_s: float) -> None:
    budget = Budget(NOW, until=NOW + timedelta(hours=hours))
    late = NOW + timedelta(hours=hours) - timedelta(seconds=takes_s)
    assert budget.has_room(late - timedelta(seconds=1), takes_s)
    assert not budget.has_room(late + timedelta(seconds=1), takes_s)


def test_the_tightest_limit_counts() -> None:
    budget = Budget(NOW, NOW + timedelta(hours=8), hours=6.0, most_cost=10.0, per_hour=2.5)
    assert budget.seconds == 4 * 3600
    assert budget.ends == NOW + timedelta(hours=4)
    assert Budget(NOW).ends is None
