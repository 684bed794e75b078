"""Slices, heads and the tail: what stays is what was, renumbered and timed from its first request."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stored_workloads import Row, chats, column, request, rows, stored
from vramledger.errors import BadInput, CannotKnow, UnknownName
from vramledger.workload.operators.head import head
from vramledger.workload.operators.slice_ import Selection, slice_workload
from vramledger.workload.operators.tail import places
from vramledger.workload.profile.compute import profile_workload
from vramledger.workload.store import read_metadata


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    return stored(tmp_path / "chat.parquet", chats(60, span_s=7200), week_offset_s=32_400)


def lengths(found: list[Row]) -> list[tuple[int, int]]:
    return [(row["input_tokens"], row["output_tokens"]) for row in found]


def test_a_stretch_of_time_holds_the_arrivals_from_its_start_to_before_its_end(
    chat: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.parquet"
    change = slice_workload(chat, Selection(from_s=600, to_s=1200), out)
    kept = [row for row in rows(chat) if 600 <= row["arrival_s"] < 1200]
    found = rows(out)
    assert lengths(found) == lengths(kept)
    assert [row["arrival_s"] for row in found] == pytest.approx(
        [row["arrival_s"] - kept[0]["arrival_s"] for row in kept], abs=1e-9
    )
    assert found[0]["arrival_s"] == 0
    assert change.before[0].requests == 240
    assert change.after.requests == len(kept)
    assert change.after.input_tokens == sum(row["input_tokens"] for row in kept)


def test_a_session_cut_in_half_keeps_its_turns_and_the_cut_is_said(
    chat: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.parquet"
    change = slice_workload(chat, Selection(from_s=600, to_s=1200), out)
    kept = [row for row in rows(chat) if 600 <= row["arrival_s"] < 1200]
    assert column(out, "turn") == [row["turn"] for row in kept]
    turns = Counter(row["session"] for row in kept)
    cut = sum(count < 4 for count in turns.values())
    assert cut
    assert change.notes == (f"Sessions cut: {cut}; the turns that stay keep their numbers.",)


def test_a_retry_whose_first_attempt_is_cut_off_repeats_nothing(tmp_path: Path) -> None:
    given = [
        request(row, arrival_s=float(row), retry_of=row - 1 if row % 2 else None)
        for row in range(6)
    ]
    out = tmp_path / "out.parquet"
    change = slice_workload(stored(tmp_path / "w.parquet", given), Selection(from_s=3), out)
    assert column(out, "retry_of") == [None, None, 1]
    assert change.notes == (
        "Retries of a request that is not kept: 1; their retry_of is null now.",
    )


def test_a_slice_of_everything_is_the_same_workload(chat: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    slice_workload(chat, Selection(from_s=0), out)
    assert rows(out) == rows(chat)


@pytest.mark.parametrize("name", ["daily", "peak", "long-burst", "day", "tail"])
def test_a_sliced_scenario_has_the_figures_of_the_profile(
    name: str, chat: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.parquet"
    change = slice_workload(chat, Selection(scenario=name), out)
    said = profile_workload(chat).scenario(name)
    assert said is not None
    assert said.input_tokens is not None
    assert said.output_tokens is not None
    assert change.after.requests == said.requests
    assert change.after.input_tokens == said.input_tokens.total
    assert change.after.output_tokens == said.output_tokens.total


def test_the_clock_of_a_slice_is_that_of_its_first_request(chat: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    slice_workload(chat, Selection(from_s=3600), out)
    first = next(row["arrival_s"] for row in rows(chat) if row["arrival_s"] >= 3600)
    offset = read_metadata(out).metadata.week_offset_s
    assert offset == (32_400 + first) // 60 * 60


def test_a_model_and_a_tenant_are_kept_together(chat: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    before = rows(chat)
    label, tenant = before[0]["model"], before[0]["tenant"]
    slice_workload(chat, Selection(model=label, tenant=tenant), out)
    kept = [row for row in before if row["model"] == label and row["tenant"] == tenant]
    assert lengths(rows(out)) == lengths(kept)
    assert set(column(out, "model")) == {"model-0"}


def test_history_says_what_was_done(chat: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    slice_workload(chat, Selection(scenario="peak"), out)
    head(out, 3, out)
    assert read_metadata(out).metadata.history == (
        "slice: scenario peak",
        "head: the first 3 requests",
    )


def test_a_head_is_the_first_requests(chat: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    head(chat, 7, out)
    assert lengths(rows(out)) == lengths(rows(chat)[:7])
    change = head(chat, 1000, out)
    assert rows(out) == rows(chat)
    assert change.notes == ("The workload has only 240 requests; all of them are kept.",)


def test_a_head_of_a_head_is_the_smaller_head(chat: Path, tmp_path: Path) -> None:
    first, second, direct = (tmp_path / f"{name}.parquet" for name in "abc")
    head(chat, 50, first)
    head(first, 20, second)
    head(chat, 20, direct)
    assert rows(second) == rows(direct)


def test_a_tail_keeps_every_request_and_every_arrival(chat: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    slice_workload(chat, Selection(scenario="tail", seed=3), out)
    assert column(out, "arrival_s") == pytest.approx(column(chat, "arrival_s"), abs=1e-9)
    assert Counter(lengths(rows(out))) == Counter(lengths(rows(chat)))


def test_what_moved_in_a_tail_belongs_to_no_session(chat: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    change = slice_workload(chat, Selection(scenario="tail"), out)
    gone = sum(session is None for session in column(out, "session"))
    assert gone
    assert change.notes[1] == (
        f"Requests that changed places: {gone}; they belong to no session any more."
    )


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=3000).map(np.array), st.integers(0, 99))
def test_a_tail_is_a_permutation_with_the_longest_hundredth_in_runs(
    tokens: np.ndarray[tuple[int], np.dtype[np.int64]], seed: int
) -> None:
    found = places(tokens, seed)
    count = len(tokens)
    assert sorted(found.tolist()) == list(range(count))
    size = -(-count // 100)
    longest = sorted(range(count), key=lambda row: (-tokens[row], row))[:size]
    taken = sorted(int(found[row]) for row in longest)
    runs = 1 + sum(after != before + 1 for before, after in pairwise(taken))
    assert runs <= -(-size // 10)


def test_tails_of_two_seeds_differ(chat: Path, tmp_path: Path) -> None:
    made: list[list[tuple[int, int]]] = []
    for seed in (1, 1, 2):
        out = tmp_path / f"{len(made)}.parquet"
        slice_workload(chat, Selection(scenario="tail", seed=seed), out)
        made.append(lengths(rows(out)))
    assert made[0] == made[1] != made[2]


def test_what_is_not_there_is_refused_in_a_sentence(chat: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    with pytest.raises(BadInput) as nothing:
        slice_workload(chat, Selection(), out)
    assert str(nothing.value) == (
        "Nothing is selected; name a --scenario, --from, --to, --model or --tenant."
    )
    with pytest.raises(UnknownName, match="Unknown scenario 'peek' in --scenario; the nearest"):
        slice_workload(chat, Selection(scenario="peek"), out)
    with pytest.raises(UnknownName, match="Unknown model 'model-9' in "):
        slice_workload(chat, Selection(model="model-9"), out)
    with pytest.raises(BadInput, match=r" has no tenant 9; its tenants have numbers 0 to 2\."):
        slice_workload(chat, Selection(tenant=9), out)
    with pytest.raises(BadInput, match=r"is in that slice\. Nothing was written\.$"):
        slice_workload(chat, Selection(from_s=1e6), out)
    assert not out.exists()


def test_a_workload_without_times_has_no_stretch_but_a_tail(tmp_path: Path) -> None:
    given = [request(row, input_tokens=row, output_tokens=1) for row in range(300)]
    path, out = stored(tmp_path / "w.parquet", given), tmp_path / "out.parquet"
    with pytest.raises(CannotKnow, match=r"has no times to cut by; vram workload head counts rows"):
        slice_workload(path, Selection(to_s=5), out)
    with pytest.raises(CannotKnow, match=r"has no scenario daily\. The log has no times; "):
        slice_workload(path, Selection(scenario="daily"), out)
    slice_workload(path, Selection(scenario="tail"), out)
    assert sorted(column(out, "input_tokens")) == list(range(300))


def test_a_workload_without_lengths_has_no_tail(tmp_path: Path) -> None:
    path = stored(tmp_path / "w.parquet", [request(0, arrival_s=0.0)])
    with pytest.raises(CannotKnow, match=r"has no scenario tail: no request of it has a length"):
        slice_workload(path, Selection(scenario="tail"), tmp_path / "out.parquet")


def test_names_and_dates_that_were_kept_stay_with_the_workload_they_number(tmp_path: Path) -> None:
    kept = {"tenant": ["first", "second", "third"], "dates": "2024-05-10T10:00:00.000000000Z"}
    whole, out = stored(tmp_path / "whole.parquet", chats(6), kept=kept), tmp_path / "out.parquet"
    slice_workload(whole, Selection(tenant=1), out)
    found = read_metadata(out).metadata
    assert found.kept == {}
    assert found.history == ("slice: one tenant (names and dates that were kept are left out)",)
    assert set(column(out, "tenant")) == {0}
