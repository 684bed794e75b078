"""A profile drawn in the terminal says what the profile says."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn_profile import INPUTS, bare, lengths, whole
from vramledger.report.number import duration, share, tokens
from vramledger.report.workload_bars import bar, bin_position, histogram, rows_of, sparkline
from vramledger.report.workload_show import to_text
from vramledger.report.workload_tables import (
    context_limits,
    headline,
    opening,
    origin,
    scenarios,
    tables,
)
from vramledger.workload.profile.arrivals import STEPS_S
from vramledger.workload.profile.profile import Arrival


def test_the_first_two_lines_are_the_load_and_who_holds_the_cache() -> None:
    assert to_text(whole(), 80).splitlines()[:2] == [
        "10 requests over 2 h: 0.00139/s at the mean, 2 in the busiest second.",
        (
            "The longest 1 % of requests hold 87.3% of the KV cache "
            "(decoding steps taken as equally long: assumed)."
        ),
    ]


def test_a_log_without_tokens_or_times_says_so() -> None:
    assert to_text(bare(), 80).splitlines() == [
        "3 requests; when they came is not known: the log has no times.",
        "Who holds the KV cache is not known: the log counts no tokens.",
        "",
        "Not known",
        "  arrival: the log has no times.",
        "  holding: the log counts no tokens.",
    ]


def test_rows_of_a_histogram_count_every_request_once() -> None:
    rows = rows_of(lengths(INPUTS))
    assert sum(row.requests for row in rows) == len(INPUTS)
    for row in rows:
        assert row.requests == sum(row.low <= value < row.high for value in INPUTS)


@given(st.lists(st.integers(0, 1 << 20), min_size=1, max_size=50))
def test_rows_follow_each_other_without_gaps(values: list[int]) -> None:
    rows = rows_of(lengths(tuple(values)))
    assert all(a.high == b.low for a, b in itertools.pairwise(rows))
    assert rows[0].low <= min(values)
    assert max(values) < rows[-1].high
    for row in rows:
        assert row.requests == sum(row.low <= value < row.high for value in values)


def test_few_bins_are_drawn_one_by_one_with_their_percentiles() -> None:
    assert histogram(lengths((10, 10, 10, 12, 16)), 60) == [
        "  10 .. 11  ████████████████  3  60.0%  p50 10.5",
        "  12 .. 13  █████▍            1  20.0%",
        "  14 .. 15                    0   0.0%",
        "  16 .. 19  █████▍            1  20.0%  p95 p99 p99.9 max 16",
    ]


@given(st.integers(0, 10**9), st.integers(1, 10**9), st.integers(1, 200))
def test_a_bar_is_as_wide_as_its_share_and_never_nothing(
    amount: int, most: int, width: int
) -> None:
    amount = min(amount, most)
    drawn = bar(amount, most, width)
    assert len(drawn) == width
    assert abs(drawn.count("█") - amount * width / most) <= 1
    assert bool(drawn.strip()) == bool(amount)


@given(
    st.lists(st.integers(0, 1000), min_size=1, max_size=5000),
    st.sampled_from(STEPS_S),
    st.integers(10, 200),
)
def test_a_sparkline_fits_its_width_and_loses_no_request(
    per_step: list[int], step_s: int, width: int
) -> None:
    spark = sparkline(Arrival(per_step=tuple(per_step), step_s=step_s), width)
    assert spark.minutes % (step_s // 60) == 0
    assert len(spark.line) == len(spark.counts) <= width
    assert sum(spark.counts) == sum(per_step)
    assert spark.fullest == max(spark.counts)
    shown = [bool(mark.strip()) for mark in spark.line]
    assert shown == [bool(count) for count in spark.counts]


def test_lengths_lie_between_the_edges_of_their_bin() -> None:
    assert bin_position(0) == 0
    assert bin_position(1024.0) == bin_position(1024)
    assert bin_position(1024) == int(bin_position(1024))
    assert bin_position(1024) < bin_position(1100.5) < bin_position(1218)


@pytest.mark.parametrize("width", [72, 80, 132])
def test_drawings_keep_to_the_width(width: int) -> None:
    drawn = to_text(whole(), width).split("\n\n")[1:4]  # the histograms
    assert max(len(line) for part in drawn for line in part.splitlines()) <= width


def test_everything_synthetic_says_so_in_its_title() -> None:
    text = to_text(replace(whole(), synthetic=True), 100)
    titles = [part.splitlines()[0] for part in text.split("\n\n")[1:]]
    assert [title for title in titles if "(synthetic)" not in title] == ["Where it comes from"]
    assert text.startswith("Synthetic: these requests were generated and never sent by anyone.\n")


def test_tenants_are_counted_and_not_named() -> None:
    said = "Requests came from 3 tenants, kept apart by number alone."
    assert said in origin(replace(whole(), tenants=3))
    assert not any("tenants" in each for each in origin(replace(whole(), tenants=1)))


def test_the_origin_reconciles_rows_and_names_every_inference() -> None:
    assert origin(whole()) == [
        "Read as azure-llm (1 file).",
        "12 rows were read and 10 kept.",
        "2 dropped: output tokens are not a number.",
        "Times carry no time zone and are taken as UTC (assumed).",
        "imported",
    ]


def test_a_loss_report_of_another_shape_is_left_out_where_it_is_odd() -> None:
    odd = {"rows_read": "many", "rows_kept": None, "dropped": 3, "assumed": 4}
    said = origin(replace(whole(), loss=odd | {"lacks": ["It names no sessions."]}))
    assert said[:2] == ["Read as azure-llm (1 file).", "It names no sessions."]


def test_tables_leave_out_what_is_not_known() -> None:
    assert [table.title for table in tables(whole())] == [
        "Lengths",
        "Outcomes",
        "Models",
        "Requests in flight",
        "Conversations",
        "Prefix sharing",
        "Context limits",
        "Scenarios",
    ]
    assert tables(bare()) == []
    assert opening(bare()) == "3 requests; when they came is not known: the log has no times."
    assert headline(replace(bare(), unknown={})) == "Who holds the KV cache is not known."


def test_requests_over_budget_are_shown_where_any_asked_for_a_limit() -> None:
    found = context_limits(whole())
    assert found is not None
    assert found.head[-1] == "over budget"
    assert found.rows == (
        ("32,768", "1", "10.0%", "0", "0.0%", "2"),
        ("131,072", "0", "0.0%", "0", "0.0%", ""),
    )
    plain = context_limits(replace(whole(), context=whole().context[1:]))
    assert plain is not None
    assert plain.head == ("limit, tokens", "refused", "share", "cut", "share")
    assert plain.rows == (("131,072", "0", "0.0%", "0", "0.0%"),)


def test_a_scenario_is_shown_with_its_definition() -> None:
    found = scenarios(whole())
    assert found is not None
    assert found.rows[0][:5] == ("peak", "1 h 45 min", "15 min", "5", "0.00556/s")
    assert found.notes == ("peak: The 15 minutes with most tokens.",)


def test_amounts_read_as_people_write_them() -> None:
    assert [duration(s) for s in (0.5, 59.94, 60, 3_502, 3_600, 94_200, 529_200)] == [
        "0.5 s", "59.9 s", "1 min", "58 min 22 s", "1 h", "26 h 10 min", "6 d 3 h",
    ]  # fmt: skip
    assert [tokens(x) for x in (1469, 1469.5, 7436.82)] == ["1,469", "1,469.5", "7,436.8"]
    assert [share(x) for x in (0, 0.0001, 0.052, 1)] == ["0.0%", "<0.1%", "5.2%", "100.0%"]


def test_conversations_say_how_much_of_their_later_turns_was_said_before() -> None:
    assert "61.0% of all input tokens of later turns was said in the turn before." in to_text(
        whole(), 100
    )
