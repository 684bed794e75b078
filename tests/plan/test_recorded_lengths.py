"""Lengths of recorded requests: nothing of the tail is lost, means stay what they are."""

from math import isclose
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorded_workloads import CHAT, LONG, Requests, order_statistic, profile_of, slice_of
from vramledger.errors import CannotKnow
from vramledger.evidence import Basis
from vramledger.plan.lengths import LengthDistribution
from vramledger.plan.problems import NotStated
from vramledger.plan.recorded import Recorded, part_for, read_recorded
from vramledger.plan.recorded_lengths import RecordedLengths, recorded_lengths
from vramledger.workload.profile.profile import Profile

SHARES = (0.99, 0.995, 0.999, 1.0)
requests = st.lists(
    st.tuples(st.integers(0, 200_000), st.integers(1, 40_000)), min_size=1, max_size=300
)


def read(profile: Profile, scenario: str = "") -> RecordedLengths:
    return recorded_lengths(part_for(Recorded("w.json", profile), scenario))


def lengths(made: Requests) -> LengthDistribution:
    return read(profile_of(made)).distribution


@given(requests)
def test_no_high_percentile_of_the_full_length_reads_shorter_than_the_log(made: Requests) -> None:
    found, totals = lengths(made), [sum(each) for each in made]
    for share in SHARES:
        assert found.total_at(share) >= order_statistic(totals, share)


@given(requests)
def test_high_percentiles_of_one_length_are_within_a_bin(made: Requests) -> None:
    found = lengths(made)
    for share in SHARES:
        assert found.input_at(share) * 1.25 + 2 >= order_statistic([i for i, _ in made], share)
        assert found.output_at(share) * 1.25 + 2 >= order_statistic([o for _, o in made], share)


@given(requests)
def test_the_longest_request_is_exact_and_nothing_exceeds_it(made: Requests) -> None:
    found = lengths(made)
    assert found.longest == max(map(sum, made))
    assert isclose(sum(cell.weight for cell in found.cells), 1.0)


@given(requests)
def test_means_are_never_shorter_by_more_than_rounding(made: Requests) -> None:
    found = lengths(made)
    total = sum(map(sum, made)) / len(made)
    assert found.mean_total >= total - 1.0


@given(requests)
def test_means_are_longer_by_no_more_than_the_topmost_requests_to_their_bins_ends(
    made: Requests,
) -> None:
    found = lengths(made)
    total = sum(map(sum, made)) / len(made)
    moved = min(1.0, 3 * (0.01 + 1 / len(made)))  # by three orders, and one for the longest
    assert found.mean_total <= total + moved * (0.25 * found.longest + 2) + 1


def test_means_of_many_requests_are_all_but_exact() -> None:
    found = lengths(list(CHAT) * 10)
    assert found.mean_input == pytest.approx(sum(i for i, _ in CHAT) / len(CHAT), rel=0.01)
    assert found.mean_output == pytest.approx(sum(o for _, o in CHAT) / len(CHAT), rel=0.01)


def test_a_slice_has_the_lengths_of_its_requests() -> None:
    profile = profile_of([*CHAT, *LONG], slices=[slice_of("long-burst", LONG)])
    found = read(profile, "long-burst").distribution
    assert found.longest == max(map(sum, LONG))
    assert min(cell.input_tokens for cell in found.cells) >= 9000
    assert found.source == "requests of long-burst of w.json"
    assert read(profile, "weekdays").distribution.source == "requests of w.json"


def test_a_slice_that_is_missing_is_replaced_by_the_whole_and_told() -> None:
    found = read(profile_of(CHAT, unknown={"night": "The log has no clock."}), "night")
    assert found.notes == (
        "night: w.json has no such slice (The log has no clock), so all of it is taken.",
    )
    assert found.distribution.longest == max(map(sum, CHAT))


def test_the_basis_is_the_least_sure_of_both_lengths_and_assumed_of_what_is_made_up() -> None:
    half = {"input_tokens": "measured", "output_tokens": "assumed"}
    assert read(profile_of(CHAT)).distribution.basis is Basis.MEASURED
    assert read(profile_of(CHAT, basis=half)).distribution.basis is Basis.ASSUMED
    made_up = read(profile_of(CHAT, synthetic=True)).distribution
    assert made_up.basis is Basis.ASSUMED
    assert made_up.source == "synthetic requests of w.json"


def test_failed_requests_are_offered_with_usual_answers() -> None:
    made = [(1000, 100)] * 90 + [(1000, 0)] * 10
    found = read(profile_of(made, outcomes={"ok": 90, "failed": 6, "cancelled": 4}))
    assert found.notes == (
        (
            "w.json: 10.0% of the requests were failed, rejected, cancelled or cut short where the log "
            "was written; they are offered load all the same."
        ),
        (
            "w.json: 10 requests without an answer are given the mean answer of prompts of their length "
            "(assumed)."
        ),
    )
    assert {cell.output_tokens for cell in found.distribution.cells} == {100}


def test_requests_without_answers_stay_as_they_are_where_nothing_failed() -> None:
    assert read(profile_of([(1000, 0)] * 10)).distribution.mean_output == 0


def test_means_are_no_lengths() -> None:
    with pytest.raises(CannotKnow) as caught:
        read(profile_of(CHAT, basis={"input_tokens": "mean", "output_tokens": "mean"}))
    assert str(caught.value) == (
        "w.json holds means of lengths only, from which no tail can be read; state input_tokens and "
        "output_tokens as percentiles beside it, and its load is kept."
    )


def test_a_log_without_lengths_says_what_to_state() -> None:
    with pytest.raises(NotStated) as caught:
        read(profile_of(CHAT, joint=None))
    assert str(caught.value) == (
        "w.json has no requests with both lengths; in a plan, state input_tokens and output_tokens as "
        "percentiles beside it, or size lengths from elsewhere at its rate (--profile chat --rate, "
        "with the rate that vram workload show prints)."
    )


@pytest.mark.parametrize("trace", ["azure_llm_2023_code", "azure_llm_2023_conv"])
def test_a_real_trace_keeps_its_tail_and_its_means(trace: str, shared_data: Path) -> None:
    lines = (shared_data / "traces" / f"{trace}.csv").read_text().splitlines()
    rows = [line.split(",")[-2:] for line in lines[1:]]
    made = [(int(inputs), int(outputs)) for inputs, outputs in rows]
    found, totals = lengths(made), [sum(each) for each in made]
    for share in SHARES:
        assert order_statistic(totals, share) <= found.total_at(share)
        assert found.total_at(share) <= 1.2 * order_statistic(totals, share)
    mean = sum(totals) / len(totals)
    assert mean <= found.mean_total <= 1.03 * mean


def test_a_log_is_imported_first() -> None:
    with pytest.raises(Exception, match=r"spend\.csv is a log; read it first with vram workload"):
        read_recorded("spend.csv")
