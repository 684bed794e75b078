from dataclasses import asdict
from math import floor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plain_profile as plain
from invented_workload import BLOCK_TOKENS, rows_of, rows_of_all_kinds, stored
from vramledger.errors import BadInput
from vramledger.workload.metadata import Metadata
from vramledger.workload.profile.arrivals import MOST_STEPS
from vramledger.workload.profile.compute import profile_workload
from vramledger.workload.profile.json_form import text
from vramledger.workload.profile.profile import Lengths, Profile
from vramledger.workload.scenarios import NO_TIMES


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return stored(rows_of_all_kinds(1500, 7), tmp_path_factory.mktemp("w") / "w.parquet")


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    path = tmp_path_factory.mktemp("w") / "w.parquet"
    stored(rows_of_all_kinds(1500, 7), path)
    return profile_workload(path)


def said(lengths: Lengths | None) -> dict[str, Any]:
    assert lengths is not None
    return {key: value for key, value in asdict(lengths).items() if key != "quantiles"}


@pytest.mark.parametrize(
    "name", ["input_tokens", "output_tokens", "thinking_tokens", "max_output_tokens"]
)
def test_lengths_are_those_of_numpy(
    profile: Profile, rows: list[dict[str, Any]], name: str
) -> None:
    assert said(getattr(profile, name)) == plain.figures(plain.values(rows, name))


def test_total_lengths_are_those_of_numpy(profile: Profile, rows: list[dict[str, Any]]) -> None:
    totals = [row["input_tokens"] + row["output_tokens"] for row in plain.both(rows)]
    assert said(profile.total_tokens) == plain.figures(totals)


def test_quantiles_are_those_of_numpy(profile: Profile, rows: list[dict[str, Any]]) -> None:
    assert profile.input_tokens is not None
    expected = np.quantile(plain.values(rows, "input_tokens"), np.arange(1001) / 1000)
    assert profile.input_tokens.quantiles == tuple(expected)


def test_durations_are_whole_milliseconds(profile: Profile, rows: list[dict[str, Any]]) -> None:
    times = [floor(each * 1000 + 0.5) for each in plain.values(rows, "duration_s")]
    expected = plain.figures(times)
    assert profile.duration_s == {
        name: expected[name] / 1000 for name in ("mean", "p50", "p95", "p99", "max")
    }


def test_the_joint_histogram_has_exact_totals(profile: Profile, rows: list[dict[str, Any]]) -> None:
    assert profile.joint is not None
    found = {
        (cell.input_bin, cell.output_bin): (cell.requests, cell.input_total, cell.output_total)
        for cell in profile.joint.cells
    }
    assert found == plain.cells(rows)
    assert list(found) == sorted(found)


def test_the_longest_request_has_the_most_tokens_together(
    profile: Profile, rows: list[dict[str, Any]]
) -> None:
    assert profile.joint is not None
    longest = max(
        (row["input_tokens"] + row["output_tokens"], row["input_tokens"])
        for row in plain.both(rows)
    )
    assert (profile.joint.longest_input + profile.joint.longest_output) == longest[0]
    assert profile.joint.longest_input == longest[1]


def test_token_steps_are_the_tokens_held_at_each_step(
    profile: Profile, rows: list[dict[str, Any]]
) -> None:
    assert profile.holding is not None
    assert profile.holding.token_steps == sum(plain.token_steps(row) for row in plain.both(rows))


def test_the_longest_requests_hold_their_share(tmp_path: Path) -> None:
    stored(rows_of([(100, 1)] * 99 + [(100, 200)]), tmp_path / "w.parquet")
    found = profile_workload(tmp_path / "w.parquet").holding
    assert found is not None
    short, long = 101, 200 * 100 + 200 * 201 // 2
    assert found.token_steps == 99 * short + long
    assert found.longest_1_percent == pytest.approx(long / (99 * short + long), rel=1e-15)
    assert found.curve[0] == (0.0, 0.0)
    assert found.curve[-1] == (1.0, 1.0)


def test_arrivals_are_counted_by_second_minute_and_hour(
    profile: Profile, rows: list[dict[str, Any]]
) -> None:
    arrival, seconds = profile.arrival, plain.counts(rows, 1)
    assert arrival.span_s == rows[-1]["arrival_s"]
    assert arrival.mean_per_s == len(rows) / len(seconds)
    assert arrival.peak_per_s == max(seconds)
    assert list(arrival.per_step) == plain.counts(rows, 60)
    assert sum(arrival.hour_of_week) == len(rows)
    assert arrival.hour_of_week[3] == sum(row["arrival_s"] < 3600 for row in rows)
    for window in (1, 10, 60):
        full = plain.counts(rows, window)[: len(seconds) // window]
        assert arrival.dispersion[str(window)] == pytest.approx(np.var(full) / np.mean(full))


def test_concurrency_is_counted_at_whole_seconds(
    profile: Profile, rows: list[dict[str, Any]]
) -> None:
    levels = plain.in_flight(rows)
    found = profile.concurrency
    assert found is not None
    assert found.requests == len(plain.values(rows, "duration_s"))
    assert (found.mean, found.max) == (sum(levels) / len(levels), max(levels))
    expected = [float(np.percentile(levels, at)) for at in (50, 95, 99)]
    assert [found.p50, found.p95, found.p99] == expected


def test_reuse_is_that_of_an_endless_cache(profile: Profile, rows: list[dict[str, Any]]) -> None:
    assert profile.prefix.block_tokens == BLOCK_TOKENS
    assert [each.block_tokens for each in profile.prefix.reuse] == [16 << k for k in range(10)]
    for each in profile.prefix.reuse:
        expected = plain.reusable(rows, BLOCK_TOKENS, each.block_tokens // BLOCK_TOKENS)
        assert each.reusable_tokens == expected
        assert each.share == expected / sum(plain.values(rows, "input_tokens"))
    assert profile.prefix.blocks == sum(len(plain.full_blocks(row, 16)) for row in rows)
    assert profile.prefix.distinct == len({b for row in rows for b in plain.full_blocks(row, 16)})


def test_blocks_seen_before_are_counted_by_input_bin(
    profile: Profile, rows: list[dict[str, Any]]
) -> None:
    assert list(profile.prefix.shared_blocks) == plain.shared_blocks(rows, BLOCK_TOKENS)


def test_labels_and_sums_are_counted(profile: Profile, rows: list[dict[str, Any]]) -> None:
    outcomes = plain.values(rows, "outcome")
    assert profile.outcomes == {each: outcomes.count(each) for each in set(outcomes)}
    assert list(profile.outcomes.values()) == sorted(profile.outcomes.values(), reverse=True)
    models = plain.values(rows, "model")
    assert profile.models == {each: models.count(each) for each in set(models)}
    assert profile.retries == len(plain.values(rows, "retry_of"))
    assert profile.cancellations == len(plain.values(rows, "cancel_after_s"))
    assert profile.tenants == 5
    assert profile.images == sum(plain.values(rows, "images"))
    milliseconds = [floor(each * 1000 + 0.5) for each in plain.values(rows, "audio_s")]
    assert profile.audio_s == sum(milliseconds) / 1000
    cached = [row for row in rows if row["cached_tokens"] is not None]
    assert profile.prefix.cached_share == sum(plain.values(cached, "cached_tokens")) / sum(
        plain.values(cached, "input_tokens")
    )


def test_sessions_are_counted_by_their_turns(profile: Profile, rows: list[dict[str, Any]]) -> None:
    firsts = [row for row in rows if row["retry_of"] is None]  # an attempt again is no turn
    numbers = plain.values(firsts, "session")
    turns = [numbers.count(each) for each in set(numbers)]
    assert profile.sessions is not None
    assert profile.sessions.count == len(turns)
    assert list(profile.sessions.turns) == sorted((each, turns.count(each)) for each in set(turns))
    think = [floor(each * 1000 + 0.5) for each in plain.values(rows, "think_s")]
    expected = [each / 1000 for each in np.quantile(think, np.arange(101) / 100)]
    assert list(profile.sessions.think_s) == expected


def test_carried_tokens_are_those_of_the_turn_before(
    profile: Profile, rows: list[dict[str, Any]]
) -> None:
    before: dict[int, int] = {}
    given = carried = 0
    for row in plain.both(rows):
        if row["session"] is None or row["retry_of"] is not None:
            continue
        if row["session"] in before:
            given += row["input_tokens"]
            carried += min(row["input_tokens"], before[row["session"]])
        before[row["session"]] = row["input_tokens"] + row["output_tokens"]
    assert profile.sessions is not None
    assert profile.sessions.carried == carried / given


def test_context_limits_say_whom_they_turn_away(
    profile: Profile, rows: list[dict[str, Any]]
) -> None:
    assert [each.limit for each in profile.context] == [2048, 4096, 8192, 16384]
    for each in profile.context:
        refused = [row for row in rows if row["input_tokens"] >= each.limit]
        left = [row for row in plain.both(rows) if row["input_tokens"] < each.limit]
        cut = [row for row in left if row["input_tokens"] + row["output_tokens"] > each.limit]
        over = [
            row
            for row in rows
            if row["max_output_tokens"] is not None
            and row["input_tokens"] + row["max_output_tokens"] > each.limit
        ]
        assert (each.refused, each.cut, each.over_budget) == (len(refused), len(cut), len(over))


def test_a_request_that_leaves_no_room_for_an_answer_is_refused(tmp_path: Path) -> None:
    lengths = [(2047, 1), (2047, 2), (2048, 0), (2048, 5), (2049, 0), (5000, None), (10, 0)]
    stored(rows_of(lengths), tmp_path / "w.parquet")
    first = profile_workload(tmp_path / "w.parquet").context[0]
    assert (first.limit, first.refused, first.cut, first.over_budget) == (2048, 4, 1, None)


def test_scenarios_have_the_figures_of_their_window(
    profile: Profile, rows: list[dict[str, Any]]
) -> None:
    assert [each.name for each in profile.scenarios] == [
        "daily",
        "peak",
        "long-burst",
        "tail",
        "night",
    ]
    for name in ("peak", "long-burst"):
        found = profile.scenario(name)
        assert found is not None
        assert found.start_s is not None
        assert found.seconds is not None
        inside = [row for row in rows if 0 <= row["arrival_s"] - found.start_s < found.seconds]
        assert found.requests == len(inside)
        assert said(found.input_tokens) == plain.figures(plain.values(inside, "input_tokens"))
        assert said(found.output_tokens) == plain.figures(plain.values(inside, "output_tokens"))
        assert found.joint is not None
        assert {(c.input_bin, c.output_bin): c.requests for c in found.joint.cells} == {
            key: each[0] for key, each in plain.cells(inside).items()
        }


def test_a_log_without_times_says_which_scenarios_it_lacks(tmp_path: Path) -> None:
    rows = [row | {"arrival_s": None} for row in rows_of([(10, 20), (30, 40)])]
    stored(rows, tmp_path / "w.parquet", Metadata())
    found = profile_workload(tmp_path / "w.parquet")
    assert found.arrival.mean_per_s is None
    assert [each.name for each in found.scenarios] == ["tail"]
    assert found.unknown["peak"] == NO_TIMES


def test_a_log_of_inputs_alone_has_a_profile(tmp_path: Path) -> None:
    stored(rows_of([(10, None), (30, None)]), tmp_path / "w.parquet")
    found = profile_workload(tmp_path / "w.parquet")
    assert found.input_tokens is not None
    assert (found.input_tokens.total, found.output_tokens, found.joint) == (40, None, None)


def test_an_empty_workload_has_a_profile(tmp_path: Path) -> None:
    stored([], tmp_path / "w.parquet")
    assert profile_workload(tmp_path / "w.parquet").requests == 0


def test_progress_ends_at_the_whole(tmp_path: Path) -> None:
    stored(rows_of([(10, 20)] * 9), tmp_path / "w.parquet")
    seen: list[tuple[int, int]] = []
    profile_workload(tmp_path / "w.parquet", progress=lambda *at: seen.append(at))
    assert seen[0][0] == 0
    assert seen[-1][0] == seen[-1][1]
    assert all(done <= planned for done, planned in seen)


@pytest.mark.parametrize(
    ("days", "step_s"),
    [(13.9, 60), (14.1, 300), (69, 300), (71, 900), (365, 3600), (4.9 * 365.25, 10_800)],
)
def test_a_long_log_has_wider_steps_and_a_profile_that_stays_small(
    tmp_path: Path, days: float, step_s: int
) -> None:
    rows = rows_of([(length, length + 1) for length in range(3000)])
    rows[-1]["arrival_s"] = days * 86_400
    stored(rows, tmp_path / "w.parquet")
    profile = profile_workload(tmp_path / "w.parquet")
    assert profile.arrival.step_s == step_s
    assert list(profile.arrival.per_step) == plain.counts(rows, step_s)
    assert len(profile.arrival.per_step) <= MOST_STEPS
    assert len(text(profile)) < 300_000


def test_a_log_of_decades_is_refused_before_it_takes_all_memory(tmp_path: Path) -> None:
    rows = rows_of([(10, 20)] * 3)
    for row, arrival_s in zip(rows, (0.0, 1_700_000_000.0, 1_700_000_001.0), strict=True):
        row["arrival_s"] = arrival_s
    stored(rows, tmp_path / "w.parquet")
    with pytest.raises(BadInput) as refused:
        profile_workload(tmp_path / "w.parquet")
    assert str(refused.value) == (
        "The first and the last arrival are 54 years apart, and a log of more than 5 is not profiled; "
        "leave out the requests whose time is wrong (vram workload slice --from or --to, or a view of "
        "the table)."
    )


@pytest.mark.parametrize("more", [0, 1])
def test_impossible_lengths_are_refused_where_their_sums_do_not_fit(
    tmp_path: Path, more: int
) -> None:
    longest = 1 << 30
    stored(rows_of([(longest - more * row, longest) for row in range(4)]), tmp_path / "w.parquet")
    with pytest.raises(BadInput) as refused:
        profile_workload(tmp_path / "w.parquet")
    assert str(refused.value) == (
        "The lengths add up to more than whole numbers of 64 bits hold, which no real requests do; "
        "import the logs without the requests of impossible lengths, or give a view that leaves them "
        "out."
    )
