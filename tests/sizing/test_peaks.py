"""Scenarios of overlapping hours add up, others take the stricter peak."""

from sizing_questions import need
from vramledger.plan.requirement import Kind
from vramledger.sizing.peaks import joined_notes, peaks


def test_one_scenario_is_one_peak() -> None:
    (peak,) = peaks((need(7),))
    assert peak.name == "daily"
    assert peak.concurrent.value == 7
    assert joined_notes([peak]) == ()


def test_hours_apart_stay_apart() -> None:
    day, night = need(7, hours="08:00-18:00"), need(9, name="nightly", hours="18:00-08:00")
    assert [peak.name for peak in peaks((day, night))] == ["daily", "nightly"]


def test_hours_that_overlap_add_up() -> None:
    day, night = need(7, hours="08:00-18:00"), need(9, name="nightly", hours="17:00-06:00")
    (both,) = peaks((day, night))
    assert both.name == "daily + nightly"
    assert both.concurrent.value == 16
    assert joined_notes([both]) == (
        (
            "daily + nightly: these may run at the same time and add up to 16 requests in flight; "
            "hours that do not overlap keep scenarios apart."
        ),
    )


def test_hours_over_midnight_meet_the_early_morning() -> None:
    night, morning = need(9, hours="22:00-06:00"), need(3, name="early", hours="05:00-07:00")
    assert [peak.name for peak in peaks((night, morning))] == ["daily + early"]


def test_three_scenarios_meet_pairwise_only() -> None:
    needs = (
        need(1, name="a", hours="08:00-12:00"),
        need(2, name="b", hours="11:00-15:00"),
        need(4, name="c", hours="14:00-18:00"),
    )
    assert [peak.name for peak in peaks(needs)] == ["a + b", "b + c"]


def test_without_hours_loads_may_coincide() -> None:
    (both,) = peaks((need(7), need(9, name="burst")))
    assert both.concurrent.value == 16


def test_two_views_of_the_same_traffic_never_add_up() -> None:
    needs = (need(7, traffic="line 4"), need(9, name="burst", traffic="line 4"))
    assert [peak.concurrent.value for peak in peaks(needs)] == [7, 9]


def test_latency_and_the_largest_headroom_decide_a_mix() -> None:
    batch = need(9, name="batch", kind=Kind.THROUGHPUT, headroom=0.1)
    (both,) = peaks((batch, need(7, headroom=0.3)))
    assert both.kind is Kind.LATENCY
    assert both.headroom == 0.3


def test_equal_ends_mean_the_whole_day() -> None:
    (both,) = peaks((need(1, hours="09:00-09:00"), need(2, name="late", hours="03:00-04:00")))
    assert both.name == "daily + late"
