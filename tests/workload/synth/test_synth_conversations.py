"""Drawn conversations: turns, think times, carried context; arrivals and lengths are kept."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stored_workloads import request
from synthesised import numbers, profile_of, profile_of_batches, table
from vramledger.workload.synth.closeness import closeness
from vramledger.workload.synth.line import Verdict
from vramledger.workload.synth.nearest import NearestFree
from vramledger.workload.synth.synthesise import synthesise


def talks(sessions: int, seed: int = 0) -> list[dict[str, Any]]:
    """Conversations of 1 to 8 turns whose context grows, and as many requests without one."""
    draw = random.Random(seed)
    found = []
    for session in range(sessions):
        moment, held = draw.random() * 36_000, 0
        found.append(request(0, arrival_s=draw.random() * 36_000, input_tokens=50, output_tokens=9))
        for turn in range(draw.choice((1, 1, 2, 3, 8))):
            think = round(draw.expovariate(1 / 40), 3)
            moment += think if turn else 0
            held += 20 + int(draw.expovariate(1 / 60))
            answer = 1 + int(draw.expovariate(1 / 150))
            found.append(
                request(0, arrival_s=moment, input_tokens=held, output_tokens=answer,
                        session=session, turn=turn, think_s=think if turn else None)
            )  # fmt: skip
            held += answer
    found.sort(key=lambda row: float(row["arrival_s"]))
    start = found[0]["arrival_s"]
    for row, each in enumerate(found):
        each |= {"row": row, "arrival_s": each["arrival_s"] - start}
    return found


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_turns_think_times_and_carried_context_are_like_the_logs(tmp_path: Path, seed: int) -> None:
    profile = profile_of(talks(1500), tmp_path)
    made = profile_of_batches(synthesise(profile, profile.requests, seed), tmp_path)
    lines = [
        line
        for line in closeness(profile, made, seed).lines
        if line.part in ("turns of a session", "think time", "carried context")
    ]
    assert [line.verdict for line in lines[:-1]] == [Verdict.WITHIN] * 3
    assert lines[-1].verdict is Verdict.NOT_JUDGED
    assert lines[-1].distance < 0.05


def test_turns_of_a_conversation_follow_each_other_by_their_think_time(tmp_path: Path) -> None:
    profile = profile_of(talks(300), tmp_path)
    made = table(synthesise(profile, 1500, 5))
    times = numbers(made, "arrival_s")
    assert times[0] == 0
    assert (np.diff(times) >= 0).all()
    last: dict[int, dict[str, Any]] = {}
    for row in made.to_pylist():
        if row["session"] is None:
            assert row["turn"] is None
            continue
        before = last.get(row["session"])
        assert row["turn"] == (0 if before is None else before["turn"] + 1)
        if before is None:
            assert row["think_s"] is None
        else:
            assert row["think_s"] == pytest.approx(row["arrival_s"] - before["arrival_s"])
        last[row["session"]] = row


def day_long_talks(sessions: int) -> list[dict[str, Any]]:
    """Conversations of 12 turns each, at moments drawn evenly from twelve hours."""
    draw = random.Random(3)
    found = []
    for session in range(sessions):
        moments = sorted(draw.random() * 43_200 for _ in range(12))
        for turn, moment in enumerate(moments):
            think = moment - moments[turn - 1] if turn else None
            found.append(
                request(0, arrival_s=moment, input_tokens=50, output_tokens=9,
                        session=session, turn=turn, think_s=think)
            )  # fmt: skip
    found.sort(key=lambda row: float(row["arrival_s"]))
    start = found[0]["arrival_s"]
    return [
        each | {"row": row, "arrival_s": each["arrival_s"] - start}
        for row, each in enumerate(found)
    ]


@pytest.mark.parametrize("requests", [2400, 600])
def test_conversations_as_long_as_the_log_make_no_burst_at_its_end(
    tmp_path: Path, requests: int
) -> None:
    profile = profile_of(day_long_talks(200), tmp_path)
    made = profile_of_batches(synthesise(profile, requests, 0), tmp_path)
    assert made.arrival.peak_per_s is not None
    assert profile.arrival.peak_per_s is not None
    assert made.arrival.peak_per_s <= 2 * profile.arrival.peak_per_s
    line = next(
        each for each in closeness(profile, made).lines if each.part == "dispersion over 1 s"
    )
    assert line.verdict is Verdict.WITHIN


def test_the_share_of_requests_without_a_conversation_is_kept(tmp_path: Path) -> None:
    rows = talks(500)
    profile = profile_of(rows, tmp_path)
    made = table(synthesise(profile, 3000, 1))
    without = sum(row["session"] is None for row in rows) / len(rows)
    assert made["session"].null_count / 3000 == pytest.approx(without, abs=0.001)


def test_dealing_lengths_out_changes_none_of_them(tmp_path: Path) -> None:
    rows = talks(400)
    with_sessions = profile_of(rows, tmp_path)
    without = profile_of(
        [row | {"session": None, "turn": None, "think_s": None} for row in rows], tmp_path
    )
    pairs = [
        Counter(
            zip(
                numbers(made, "input_tokens").tolist(),
                numbers(made, "output_tokens").tolist(),
                strict=True,
            )
        )
        for made in (table(synthesise(each, 2000, 3)) for each in (with_sessions, without))
    ]
    assert pairs[0] == pairs[1]


@given(st.integers(1, 40), st.lists(st.integers(0, 39), max_size=60))
def test_the_nearest_free_place_is_the_one_a_plain_search_finds(
    count: int, asked: list[int]
) -> None:
    free, plain = NearestFree(count), list(range(count))
    for place in (each % count for each in asked):
        if not plain:
            with pytest.raises(IndexError, match="no place is free"):
                free.take(place)
            return
        expected = min(plain, key=lambda each: (abs(each - place), -each))
        assert free.take(place) == expected
        plain.remove(expected)
        assert free.left() == plain
