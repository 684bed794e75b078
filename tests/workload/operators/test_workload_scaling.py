"""Scaling: counts within their sampling error, sessions whole, prefixes consistent, seeds decisive."""

from collections import Counter, defaultdict
from fractions import Fraction
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stored_workloads import BLOCK, Row, chats, column, request, reused_share, rows, stored
from vramledger.errors import BadInput, CannotKnow
from vramledger.workload.importer import import_logs
from vramledger.workload.operators.columns import Column
from vramledger.workload.operators.lengths import factor
from vramledger.workload.operators.scale import Scale, scale
from vramledger.workload.operators.sharing import Lists, stretched
from vramledger.workload.store import read_metadata


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    return stored(tmp_path / "chat.parquet", chats(400), week_offset_s=32_400)


def by_session(found: list[Row]) -> dict[int, list[int]]:
    turns = defaultdict(list)
    for row in found:
        turns[row["session"]].append(row["turn"])
    return turns


def test_a_rate_of_one_changes_no_row(chat: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    scale(chat, Scale(), out)
    assert rows(out) == rows(chat)
    assert read_metadata(out).metadata.history == ("scale: x1, seed 0",)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(
    chat: Path, tmp_path: Path
) -> None:
    for rate in (0.5, 2.5):
        made = []
        for seed in (1, 1, 2):
            scale(chat, Scale(rate=rate, seed=seed), tmp_path / "out.parquet")
            made.append((tmp_path / "out.parquet").read_bytes())
        assert made[0] == made[1] != made[2]


def test_a_thinned_workload_keeps_whole_sessions_at_the_rate_asked_for(
    chat: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.parquet"
    counts = []
    for seed in range(20):
        scale(chat, Scale(rate=0.3, seed=seed), out)
        turns = by_session(rows(out))
        assert all(found == [0, 1, 2, 3] for found in turns.values())
        counts.append(len(turns))
    error = sqrt(400 * 0.3 * 0.7 / 20)
    assert abs(sum(counts) / 20 - 120) < 4 * error


def test_requests_without_a_session_are_thinned_with_their_retries(tmp_path: Path) -> None:
    given = [
        request(row, arrival_s=float(row), retry_of=row - 1 if row % 3 else None)
        for row in range(300)
    ]
    out = tmp_path / "out.parquet"
    path = stored(tmp_path / "w.parquet", given, block_tokens=None)
    change = scale(path, Scale(rate=0.5), out)
    kept = column(out, "retry_of")
    assert 0 < len(kept) < 300
    assert kept == [None if row % 3 == 0 else row - 1 for row in range(len(kept))]
    assert change.notes == ()


def test_without_sessions_what_shares_a_rare_prefix_is_kept_together(tmp_path: Path) -> None:
    given = [row | {"session": None, "turn": None, "tenant": None} for row in chats(400)]
    path, out = stored(tmp_path / "w.parquet", given), tmp_path / "out.parquet"
    before, counts = reused_share(rows(path)), []
    for seed in range(10):
        change = scale(path, Scale(rate=0.3, seed=seed), out)
        found = rows(out)
        turns = Counter(row["prefix_blocks"][3] for row in found)
        assert set(turns.values()) == {4}
        assert reused_share(found) == pytest.approx(before, abs=0.01)
        counts.append(len(turns))
    assert abs(sum(counts) / 10 - 120) < 4 * sqrt(400 * 0.3 * 0.7 / 10)
    assert change.notes == (
        (
            "The workload names no sessions: requests that share a prefix block which fewer than 1 % of "
            "the requests hold are kept or dropped together (assumed: one conversation)."
        ),
    )


def test_a_real_trace_keeps_its_reuse_at_every_rate(shared_data: Path, tmp_path: Path) -> None:
    path, out = tmp_path / "w.parquet", tmp_path / "out.parquet"
    import_logs([str(shared_data / "traces" / "mooncake_conversation_trace.jsonl")], path)
    before = reused_share(rows(path), 512)
    shares = []
    for seed in range(4):
        scale(path, Scale(rate=0.5, seed=seed), out)
        shares.append(reused_share(rows(out), 512))
    assert sum(shares) / 4 == pytest.approx(before, abs=4 * 0.015 / 2)  # deviation of one: 0.015
    scale(path, Scale(rate=2.0), out)
    assert reused_share(rows(out), 512) == pytest.approx(before, abs=0.005)


def test_a_doubled_workload_has_every_request_twice_over_the_same_time(
    chat: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.parquet"
    change = scale(chat, Scale(rate=2.0), out)
    before, after = change.before[0], change.after
    assert after.requests == 2 * before.requests
    assert after.input_tokens == 2 * before.input_tokens
    assert after.output_tokens == 2 * before.output_tokens
    assert before.span_s is not None
    assert after.span_s is not None
    assert after.span_s <= before.span_s * (1 + 1 / before.requests)
    assert change.notes == (
        "One shifted copy with sessions, tenants and private prefixes of its own.",
    )


def test_a_copy_is_other_people(chat: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    scale(chat, Scale(rate=3.0), out)
    found = rows(out)
    assert {row["tenant"] for row in found} == set(range(9))
    sessions = by_session(found)
    assert all(turns == sorted(turns) for turns in sessions.values())
    assert all(turns == list(range(turns[0], turns[-1] + 1)) for turns in sessions.values())
    whole = sum(len(turns) == 4 for turns in sessions.values())
    assert 1200 - 2 * 10 <= whole <= 1200  # a shift cuts the few that are under way at the end


def test_copies_share_what_tenants_share_and_nothing_else(chat: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    scale(chat, Scale(rate=2.0), out)
    holders = defaultdict(set)
    for row in rows(out):
        for block in row["prefix_blocks"]:
            holders[block].add(row["tenant"])
    assert sum(len(found) == 6 for found in holders.values()) == 2  # the system prompt
    assert sum(len(found) == 1 for found in holders.values()) == len(holders) - 2
    assert len(holders) == 2 + 2 * (3 + 400 * 8)


def test_the_reused_share_stays_when_the_rate_rises(chat: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    scale(chat, Scale(rate=4.0), out)
    assert reused_share(rows(out)) == pytest.approx(reused_share(rows(chat)), abs=0.01)


def test_without_sessions_blocks_of_one_request_in_a_hundred_are_common(tmp_path: Path) -> None:
    given = [
        request(row, arrival_s=float(row), input_tokens=3 * BLOCK, prefix_blocks=[0, 1 + row // 2])
        for row in range(400)
    ]
    out = tmp_path / "out.parquet"
    change = scale(stored(tmp_path / "w.parquet", given), Scale(rate=2.0), out)
    firsts = {row["prefix_blocks"][0] for row in rows(out)}
    seconds = {row["prefix_blocks"][1] for row in rows(out)}
    assert len(firsts) == 1
    assert len(seconds) == 2 * 200
    assert change.notes[1] == (
        "The workload names no sessions: prefix blocks that 1 % of the requests hold are taken as "
        "everybody's (assumed), all others as private."
    )


def test_lengths_are_stretched_and_rounded_half_up(tmp_path: Path) -> None:
    given = [
        request(0, arrival_s=0.0, input_tokens=101, output_tokens=1, thinking_tokens=0),
        request(1, arrival_s=1.0, input_tokens=0, output_tokens=7, max_output_tokens=50),
    ]
    out = tmp_path / "out.parquet"
    scale(stored(tmp_path / "w.parquet", given), Scale(input=1.5, output=0.1), out)
    assert column(out, "input_tokens") == [152, 0]
    assert column(out, "output_tokens") == [1, 1]
    assert column(out, "thinking_tokens") == [0, None]
    assert column(out, "max_output_tokens") == [None, 5]


@settings(max_examples=50)
@given(
    prompts=st.lists(
        st.tuples(st.lists(st.integers(0, 1), min_size=1, max_size=8), st.integers(0, BLOCK - 1)),
        min_size=1,
        max_size=12,
    ),
    by=st.sampled_from([0.25, 0.4, 0.7, 1.0, 1.5, 2.0, 2.7, 3.0]),
    partial=st.booleans(),
)
def test_stretched_prompts_agree_exactly_as_far_as_they_did(
    tmp_path_factory: pytest.TempPathFactory,
    prompts: list[tuple[list[int], int]],
    by: float,
    partial: bool,  # noqa: FBT001 - hypothesis draws it
) -> None:
    """Prompts are paths in a binary tree; a block's number stands for the whole path to it."""
    folder = tmp_path_factory.mktemp("stretch")
    given: list[Row] = []
    numbers: dict[tuple[int, ...], int] = {}
    for row, (path, rest) in enumerate(prompts):
        tokens = len(path) * BLOCK - (BLOCK - rest if partial and rest else 0)
        steps = [tuple(path[: place + 1]) for place in range(len(path))]
        if partial and rest:
            steps[-1] = (*steps[-1], 2 + rest)  # a last block that is not full is its own
        blocks = [numbers.setdefault(step, len(numbers)) for step in steps]
        given.append(request(row, arrival_s=float(row), input_tokens=tokens, prefix_blocks=blocks))
    before = rows(stored(folder / "w.parquet", given))
    scale(folder / "w.parquet", Scale(input=by), folder / "out.parquet")
    after = rows(folder / "out.parquet")
    exact = factor(by)
    for made in after:
        count = len(made["prefix_blocks"])
        assert count * BLOCK >= made["input_tokens"] > (count - 1) * BLOCK
    for one in range(len(before)):
        for other in range(one):
            _check_agreement(before[one], before[other], after[one], after[other], exact)


def test_prompts_known_by_their_full_blocks_stay_known_by_them(chat: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    for by in (0.6, 1.7):
        scale(chat, Scale(input=by), out)
        for before, after in zip(rows(chat), rows(out), strict=True):
            if before["input_tokens"] % BLOCK:
                assert len(after["prefix_blocks"]) == after["input_tokens"] // BLOCK
        blocks = sum(len(row["prefix_blocks"]) for row in rows(out))
        rounding = len(rows(out)) / blocks  # less than a block a request
        assert reused_share(rows(out)) == pytest.approx(reused_share(rows(chat)), abs=rounding)


def _check_agreement(one: Row, other: Row, new: Row, newer: Row, by: Fraction) -> None:
    """Full blocks agree up to the old agreement times the factor, whole blocks of it."""
    old = _agreed(one["prefix_blocks"], other["prefix_blocks"])
    now = _agreed(new["prefix_blocks"], newer["prefix_blocks"])
    full = min(new["input_tokens"], newer["input_tokens"]) // BLOCK
    if one["prefix_blocks"] == other["prefix_blocks"]:
        assert new["prefix_blocks"] == newer["prefix_blocks"]
    else:
        assert min(now, full) == min(int(old * by), full)


def _agreed(one: list[int], other: list[int]) -> int:
    shared = [a == b for a, b in zip(one, other, strict=False)]
    return shared.index(False) if False in shared else len(shared)


def test_a_compressed_clock_is_that_much_faster_and_knows_no_hour(
    chat: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.parquet"
    scale(chat, Scale(time=0.5), out)
    assert column(out, "arrival_s") == pytest.approx(
        [arrival / 2 for arrival in column(chat, "arrival_s")], abs=1e-9
    )
    assert {10.0, None} == set(column(out, "think_s"))
    assert read_metadata(out).metadata.week_offset_s is None


def test_factors_that_are_none_are_refused(chat: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    for name, by in (
        ("rate", Scale(rate=0)),
        ("time", Scale(time=-1.0)),
        ("input", Scale(input=2000.0)),
        ("output", Scale(output=float("nan"))),
    ):
        with pytest.raises(BadInput, match=rf"^--{name} \S+ is no factor; take one above 0, up to"):
            scale(chat, by, out)
    with pytest.raises(BadInput, match=r"^--rate 1e-09 leaves none of 1,600 requests; take a "):
        scale(chat, Scale(rate=1e-9), out)
    assert not out.exists()


def test_a_workload_without_times_has_no_rate_to_raise(tmp_path: Path) -> None:
    path = stored(tmp_path / "w.parquet", [request(row) for row in range(5)])
    with pytest.raises(CannotKnow, match="has no times, so it has no rate to raise; vram workload"):
        scale(path, Scale(rate=2), tmp_path / "out.parquet")


def test_a_length_beyond_any_context_is_refused(tmp_path: Path) -> None:
    path = stored(tmp_path / "w.parquet", [request(0, arrival_s=0.0, input_tokens=1 << 29)])
    with pytest.raises(BadInput, match=r"^Stretched by 3, a request is longer than 1,073,741,824 "):
        scale(path, Scale(input=3.0), tmp_path / "out.parquet")
    assert [found.name for found in tmp_path.iterdir()] == ["w.parquet"]


def test_a_stretch_that_makes_too_many_blocks_is_refused() -> None:
    many = Lists(np.array([0, 5_000_000]), np.array([2]), np.array([False]))
    before, after = (Column(np.array([tokens]), np.array([False])) for tokens in (32, 16_000))
    with pytest.raises(BadInput) as refused:
        stretched(many, before, after, 16, Fraction(500))
    assert str(refused.value) == (
        "Stretched by 500, the prompts have more prefix blocks than 2,147,483,647, which is how many a "
        "workload can number; take a smaller factor, or a slice of the workload first."
    )
