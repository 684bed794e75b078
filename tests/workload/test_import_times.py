"""Times: units, zones, one clock for all files, quantised times and what is done with them."""

import json
from datetime import timedelta, timezone
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imported_logs import azure, imported, second
from vramledger.workload.clock import examine, spread
from vramledger.workload.coarsen import MOST_MOVED_NS, moved, significant
from vramledger.workload.formats.format import Context, Framing, Head
from vramledger.workload.raw import RowProblem
from vramledger.workload.timestamps import moment_ns

TEN = 1_715_335_200 * 10**9  # 2024-05-10 10:00:00 UTC


@pytest.mark.parametrize(
    ("value", "ns"),
    [
        ("2024-05-10 10:00:00", TEN),
        ("2024-05-10T10:00:00.1234567Z", TEN + 123_456_700),
        ("2024-05-10 10:00:00,5 UTC", TEN + 500_000_000),
        ("2024-05-10T12:00:00+02:00", TEN),
        ("2024-05-10T04:30:00-0530", TEN),
        ("2024-05-10 10:00:00+00", TEN),
        ("[10/May/2024:03:00:00 -0700]", TEN),
        (1_715_335_200, TEN),
        ("1715335200", TEN),
        (1_715_335_200.123, TEN + 123_000_000),
        ("1715335200.123456789", TEN + 123_456_789),
        (1_715_335_200_123, TEN + 123_000_000),
        ("1715335200123456", TEN + 123_456_000),
        (TEN + 7, TEN + 7),
    ],
)
def test_moments_are_read_to_the_last_digit(value: object, ns: int) -> None:
    assert moment_ns(value, "t", Context(Head(Framing.CSV))) == ns


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("2024-02-30 10:00:00", "t is no date"),
        ("2024-05-10 24:00:00", "t is no date"),
        ("2024-05-10 10:00:61", "t is no date"),
        ("10/Mai/2024:10:00:00 +0000", "t is no date"),
        ("05/10/2024", "t is no date"),
        ("tomorrow", "t is neither a date nor a number"),
        ("", "t is missing"),
        (None, "t is missing"),
        (True, "t is not a number"),
        (float("inf"), "t is not a finite number"),
    ],
)
def test_what_is_no_moment_is_said_without_quoting_it(value: object, reason: str) -> None:
    with pytest.raises(RowProblem) as problem:
        moment_ns(value, "t", Context(Head(Framing.CSV)))
    assert problem.value.reason == reason


def test_a_stated_zone_moves_times_without_one_and_the_hours_of_the_week(tmp_path: Path) -> None:
    log = azure("2024-05-13 01:30:30,1,1", "2024-05-13 02:00:00,1,1")  # a Monday
    found = imported(tmp_path, log).imported.stored
    assert found is not None
    assert (found.metadata.week_offset_s, found.metadata.time_zone) == (5400, "+00:00 (assumed)")
    east = imported(tmp_path, log, time_zone=timezone(timedelta(hours=-3, minutes=-30)))
    assert east.imported.stored is not None
    metadata = east.imported.stored.metadata
    assert (metadata.week_offset_s, metadata.time_zone) == (5400, "-03:30 (stated)")
    assert east.report.assumed == ()
    fixed = azure("2024-05-13 01:30:30Z,1,1")
    moved = imported(tmp_path, fixed, time_zone=timezone(timedelta(hours=2)))
    assert moved.imported.stored is not None
    assert moved.imported.stored.metadata.week_offset_s == 5400 + 7200


def test_files_share_one_zero(tmp_path: Path) -> None:
    found = imported(tmp_path, azure(second(10), second(12)), azure(second(3), second(11)))
    assert found.column("arrival_s") == [0.0, 7.0, 8.0, 9.0]


def test_relative_times_start_at_the_first_arrival_of_the_others_and_that_is_said(
    tmp_path: Path,
) -> None:
    relative = '{"timestamp": 1500, "input_length": 7, "output_length": 1, "hash_ids": [5]}\n'
    found = imported(tmp_path, azure(second(10), second(12)), relative)
    assert found.column("arrival_s") == [0.0, 1.5, 2.0]
    assert (
        "The zero of logs with relative times is taken as the first arrival of the others (assumed)."
    ) in found.report.assumed


def quantised() -> str:
    lines = [
        {
            "timestamp": 3000 * (number // 4),
            "input_length": number,
            "output_length": 1,
            "hash_ids": [],
        }
        for number in range(400)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_quantised_times_are_found_and_spread_on_demand(tmp_path: Path) -> None:
    found = imported(tmp_path, quantised(), name="log.jsonl")
    assert (found.report.clock.quantum_s, found.report.clock.instants) == (3.0, 100)
    assert found.column("arrival_s")[:5] == [0.0, 0.0, 0.0, 0.0, 3.0]
    after = imported(tmp_path, quantised(), name="log.jsonl", spread=True, seed=5)
    times = np.array(after.column("arrival_s"))
    assert after.report.clock.spread
    assert after.column("input_tokens") == list(range(400))
    assert len(set(times)) == 400
    slots = np.floor((times + 3 * 0.25 - 1e-9) / 0.75)  # the first arrival is the zero
    assert np.all(np.diff(slots) >= 0)
    content = after.path.read_bytes()
    again = imported(tmp_path, quantised(), name="log.jsonl", spread=True, seed=5)
    assert again.path.read_bytes() == content
    other = imported(tmp_path, quantised(), name="log.jsonl", spread=True, seed=6)
    assert other.column("arrival_s") != times.tolist()
    assert after.imported.stored is not None
    assert after.imported.stored.metadata.history[1:] == (
        "Requests of one instant were spread over 3 s (--spread, seed 5).",
    )


@given(st.lists(st.integers(0, 50), min_size=1, max_size=80), st.integers(0, 9))
def test_spreading_keeps_every_request_within_its_step_and_the_order(
    steps: list[int], seed: int
) -> None:
    before = np.array(steps, np.int64) * 10**9
    after = spread(before, 10**9, seed)
    assert np.all(after >= before)
    assert np.all(after < before + 10**9)
    for instant in set(steps):
        assert np.all(np.diff(after[before == instant * 10**9]) >= 0)


def test_fine_or_distinct_times_are_not_called_quantised() -> None:
    distinct = np.arange(1000, dtype=np.int64) * 10**9
    assert examine(distinct).quantum_ns is None
    milliseconds = np.repeat(np.arange(500, dtype=np.int64) * 10**6, 2)
    assert examine(milliseconds).quantum_ns is None
    some_shared = np.append(distinct, distinct[:5])
    assert examine(some_shared).quantum_ns == 10**9
    assert examine(some_shared[:10]).quantum_ns is None


def test_coarse_lengths_have_two_figures_and_times_move_by_a_second_at_most(
    tmp_path: Path,
) -> None:
    log = azure(*(second(4 * number, f"{1000 + 7 * number},{95 + number}") for number in range(20)))
    found = imported(tmp_path, log, coarsen=True, seed=1)
    assert found.column("input_tokens") == [1000] * 8 + [1100] * 12
    assert found.column("output_tokens")[:6] == [95, 96, 97, 98, 99, 100]
    gaps = np.diff(found.column("arrival_s")) - 4
    assert 0 < np.abs(gaps).max() <= 2
    content = found.path.read_bytes()
    assert imported(tmp_path, log, coarsen=True, seed=1).path.read_bytes() == content
    assert found.imported.stored is not None
    assert found.imported.stored.metadata.history[1] == (
        "Lengths and durations were rounded to 2 significant figures and arrivals moved by up to 1 s "
        "(--coarsen, seed 1)."
    )


def test_moved_arrivals_leave_turns_and_retries_in_order(tmp_path: Path) -> None:
    rows = [
        {"t": at / 20, "i": 100 + at, "o": 1, "s": f"talk {at % 7}" if at % 2 else None, "id": at,
         "before": at - 4 if at % 8 == 4 else None}
        for at in range(400)
    ]  # fmt: skip
    log = "".join(json.dumps(row) + "\n" for row in rows)
    mapping = {"arrival_s": "t", "input": "i", "session": "s", "request_id": "id",
               "retry_of": "before", "output": "o"}  # fmt: skip
    plain = imported(tmp_path, log, name="log.jsonl", mapping=mapping).rows
    found = imported(tmp_path, log, name="log.jsonl", mapping=mapping, coarsen=True)
    by_session: dict[int, list[int]] = {}
    for row in found.rows:
        assert row["retry_of"] is None or row["retry_of"] < row["row"]
        if row["session"] is not None:
            by_session.setdefault(row["session"], []).append(row["input_tokens"])
    assert all(grown == sorted(grown) for grown in by_session.values())  # as they did in the log
    assert len({row["input_tokens"] for row in plain}) == 400
    assert found.column("arrival_s") != [row["arrival_s"] for row in plain]


@given(
    st.lists(st.tuples(st.integers(0, 5 * 10**9), st.integers(0, 4)), min_size=1, max_size=60),
    st.integers(0, 9),
)
def test_times_are_moved_by_no_more_than_the_bound_and_keep_their_order_in_a_group(
    rows: list[tuple[int, int]], seed: int
) -> None:
    arrivals, groups = (np.array(each, np.int64) for each in zip(*rows, strict=True))
    found = moved(arrivals, groups, seed)
    assert np.abs(found - arrivals).max() <= MOST_MOVED_NS
    for group in set(groups.tolist()):
        inside = groups == group
        order = np.argsort(arrivals[inside], kind="stable")
        assert (np.diff(found[inside][order]) >= 0).all()


def test_prefix_blocks_beyond_a_rounded_input_are_cut_off(tmp_path: Path) -> None:
    log = "".join(
        json.dumps({"i": tokens, "o": 1, "p": list(range(-(-tokens // 16)))}) + "\n"
        for tokens in (1040, 1050, 40)
    )
    mapping = {"input": "i", "output": "o", "prefix": "p"}
    found = imported(tmp_path, log, name="log.jsonl", mapping=mapping, coarsen=True)
    assert found.column("input_tokens") == [1000, 1100, 40]
    assert [len(blocks) for blocks in found.column("prefix_blocks")] == [63, 66, 3]


@given(st.lists(st.integers(0, 10**18), min_size=2, max_size=20))
def test_rounding_to_two_figures_is_monotonic_and_within_five_percent(values: list[int]) -> None:
    before = np.array(sorted(values), np.int64)
    after = significant(before)
    assert np.all(np.diff(after) >= 0)
    assert np.all(np.abs(after - before) <= np.maximum(before // 20, 0) + (before >= 100))
    assert all(len(str(value).rstrip("0")) <= 2 for value in after.tolist())
