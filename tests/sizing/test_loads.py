"""Loads as they are stated, as requests in flight."""

from dataclasses import replace

import pytest

from sizing_questions import LENGTHS
from vramledger.evidence import Basis
from vramledger.plan.requirement import Contract, Kind, Load, LoadUnit, Scenario
from vramledger.sizing.loads import in_flight_peak, load_notes, need_of


def scenario(load: Load, kind: Kind = Kind.LATENCY) -> Scenario:
    return Scenario("daily", kind, LENGTHS, load)


def test_requests_in_flight_are_taken_as_stated() -> None:
    need = need_of(scenario(Load(LoadUnit.CONCURRENT, 48)))
    assert need.concurrent.is_sharp
    assert need.concurrent.value == 48
    assert need.mean is None


def test_a_rate_with_a_duration_is_littles_law_and_its_poisson_peak() -> None:
    need = need_of(scenario(Load(LoadUnit.REQUESTS_PER_S, 2.0, seconds_per_request=5.0)))
    assert need.mean == 10
    assert need.concurrent.is_sharp
    assert need.concurrent.value == 18


def test_a_rate_alone_carries_the_band_of_the_assumed_duration() -> None:
    peak = in_flight_peak(Load(LoadUnit.REQUESTS_PER_S, 2.0), LENGTHS.mean_output)
    assert peak.low < peak.value < peak.high
    assert peak.basis is Basis.ASSUMED


def test_a_trickle_still_is_one_request() -> None:
    assert in_flight_peak(Load(LoadUnit.REQUESTS_PER_S, 1e-6), 100.0).value == 1


@pytest.mark.parametrize(
    "load",
    [Load(LoadUnit.REQUESTS_PER_S, 50.0), Load(LoadUnit.CONCURRENT, 32), Load(LoadUnit.USERS, 900)],
)
def test_queued_work_keeps_up_with_what_is_stated(load: Load) -> None:
    queued, waited_for = need_of(scenario(load, Kind.THROUGHPUT)), need_of(scenario(load))
    assert queued.concurrent == waited_for.concurrent
    assert queued.concurrent.value >= 32


def test_work_of_people_that_is_done_by_a_time_needs_room_for_one() -> None:
    queued = replace(
        scenario(Load(LoadUnit.USERS, 60), Kind.THROUGHPUT), contract=Contract(done_by="06:00")
    )
    assert need_of(queued).concurrent.value == 1
    (note,) = load_notes(queued)[1:]
    assert note == (
        "daily: its 60 users were ignored, because work that is to be done by 06:00 may wait: memory "
        "holds one request at a time, the least; state concurrent or requests_per_s to hold more."
    )


def test_a_rate_that_is_to_be_done_by_a_time_is_kept_up() -> None:
    queued = replace(
        scenario(Load(LoadUnit.REQUESTS_PER_S, 2.0), Kind.THROUGHPUT),
        contract=Contract(done_by="06:00"),
    )
    assert need_of(queued).concurrent.value == 39
    assert load_notes(queued)[1] == (
        "2 requests/s of 13 s each are kept up (assumed: tokens-per-second 25 (40..15), "
        "first-token-seconds 1 (0.5..3))."
    )


def test_a_stated_duration_is_said() -> None:
    load = Load(LoadUnit.REQUESTS_PER_S, 2.0, seconds_per_request=5.0)
    assert load_notes(scenario(load))[1] == "2 requests/s of 5 s each, as stated."


def test_a_recorded_rate_says_where_its_durations_are_from() -> None:
    load = Load(
        LoadUnit.REQUESTS_PER_S,
        2.0,
        5.0,
        basis=Basis.MEASURED,
        source="arrivals of w",
        recorded=True,
    )
    assert load_notes(scenario(load))[1] == (
        "daily: 2 requests/s (arrivals of w, measured) of 5 s each on the server that wrote the log; a "
        "faster one has fewer in flight."
    )
    peak = in_flight_peak(load, LENGTHS.mean_output)
    assert peak.basis is Basis.MEASURED
    assert peak.source == "Poisson quantile of rate x duration on the server that wrote the log"
    unknown = replace(load, seconds_per_request=None)
    assert load_notes(scenario(unknown))[1] == (
        "daily: 2 requests/s (arrivals of w, measured) of 13 s each are kept up (assumed: "
        "tokens-per-second 25 (40..15), first-token-seconds 1 (0.5..3))."
    )
    assert in_flight_peak(unknown, LENGTHS.mean_output).basis is Basis.ASSUMED


def test_recorded_requests_in_flight_keep_their_mean_and_say_whose_they_are() -> None:
    load = Load(
        LoadUnit.CONCURRENT, 36.0, basis=Basis.MEASURED, source="arrivals of w", per_s=2.0, mean=20.0,
        recorded=True,
    )  # fmt: skip
    assert need_of(scenario(load)).mean == 20.0
    assert load_notes(scenario(load))[1] == (
        "daily: 36 is the p99 of the requests in flight, 20 their mean (arrivals of w, measured on the "
        "server that wrote the log: a faster one has fewer in flight)."
    )


def test_notes_say_the_chain_from_people_to_requests() -> None:
    notes = load_notes(scenario(Load(LoadUnit.USERS, 60)))
    assert notes[0].startswith("daily: 8 (3..37) requests in flight at the peak; input 500 tokens")
    assert notes[1] == (
        "60 people make 0.25 requests/s of 13 s in the busiest minutes (assumed: active-share 0.5 "
        "(0.3..0.8), requests-per-hour 20 (10..40), peak-factor 1.5 (1.2..2), tokens-per-second 25 "
        "(40..15), first-token-seconds 1 (0.5..3))."
    )


@pytest.mark.parametrize("unit", [LoadUnit.CONCURRENT, LoadUnit.REQUESTS_PER_S])
def test_queued_work_says_that_its_speed_was_not_checked(unit: LoadUnit) -> None:
    notes = load_notes(scenario(Load(unit, 5), Kind.THROUGHPUT))
    assert notes[-1] == (
        "daily is work that queues until it is done: memory decides how much of it runs at once, "
        "and how long it takes is a question of speed, which was not checked."
    )
