"""The latencies: what each means on an example, and that numpy and SQL agree on any."""

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recorded_runs import described, measured_request, measured_run
from vramledger.record.computed_run import ComputedRun
from vramledger.record.latency import (
    BY_NAME,
    LATENCIES,
    from_dispatch,
    gaps_s,
    longest_gap_s,
    with_failures,
)
from vramledger.record.outcome import Outcome
from vramledger.record.query import connect
from vramledger.record.requests import RequestRecord
from vramledger.record.run import Run, read_run

MOMENT = st.one_of(st.none(), st.integers(0, 10**9).map(lambda us: us / 1e6))
OFFSETS = st.lists(st.one_of(st.none(), st.lists(st.integers(0, 10**9), max_size=6).map(sorted)))


def columns_of(run: Run) -> dict[str, np.ndarray]:
    return run.requests.numbers(*{name for each in LATENCIES for name in each.needs})


def test_each_latency_of_one_request_is_as_defined(tmp_path: Path) -> None:
    record = RequestRecord(
        0,
        due_s=10.0,
        dispatched_s=10.25,
        first_content_s=11.0,
        first_answer_s=12.0,
        last_content_s=13.0,
        done_s=13.5,
        output_tokens_got=5,
        queue_s=0.125,
    )
    with ComputedRun(tmp_path / "run", described()) as writing:
        writing.append(record)
    columns = columns_of(read_run(tmp_path / "run"))
    assert {each.name: each.of(columns).tolist() for each in LATENCIES} == {
        "ttft_s": [1.0],
        "first_answer_s": [2.0],
        "tpot_s": [0.5],
        "queue_s": [0.125],
        "e2e_s": [3.5],
        "late_s": [0.25],
    }
    since_sent = from_dispatch(columns)
    assert BY_NAME["ttft_s"].of(since_sent).tolist() == [0.75]
    assert BY_NAME["tpot_s"].of(since_sent).tolist() == [0.5]
    assert columns["due_s"].tolist() == [10.0]


@st.composite
def records(draw: st.DrawFn) -> list[RequestRecord]:
    return [
        RequestRecord(
            number,
            due_s=draw(MOMENT) or 0.0,
            dispatched_s=draw(MOMENT),
            first_content_s=draw(MOMENT),
            first_answer_s=draw(MOMENT),
            last_content_s=draw(MOMENT),
            done_s=draw(MOMENT),
            output_tokens_got=draw(st.one_of(st.none(), st.integers(0, 5))),
            queue_s=draw(MOMENT),
        )
        for number in range(draw(st.integers(1, 8)))
    ]


@settings(max_examples=40)
@given(records())
def test_numpy_and_sql_agree(
    tmp_path_factory: pytest.TempPathFactory, given_records: list[RequestRecord]
) -> None:
    folder = tmp_path_factory.mktemp("runs") / "run"
    with ComputedRun(folder, described()) as writing:
        for record in given_records:
            writing.append(record)
    run = read_run(folder)
    columns = columns_of(run)
    names = ", ".join(each.name for each in LATENCIES)
    with connect([run]) as connection:
        rows = connection.view("latencies").order("request_id").project(names).fetchall()
    for latency, by_sql in zip(LATENCIES, zip(*rows, strict=True), strict=True):
        np.testing.assert_array_equal(
            latency.of(columns), np.array(by_sql, dtype=np.float64), latency.name
        )


@given(OFFSETS)
def test_gaps_are_those_between_chunks_of_one_request(lists: list[list[int] | None]) -> None:
    plain = [(b - a) / 1e6 for each in lists for a, b in pairwise(each or [])]
    assert gaps_s(pa.array(lists, pa.list_(pa.int64()))).tolist() == plain


@given(OFFSETS, st.integers(0, 3))
def test_the_longest_gap_is_that_of_each_request(
    lists: list[list[int] | None], skipped: int
) -> None:
    plain = [
        max((b - a) / 1e6 for a, b in pairwise(each))
        if each is not None and len(each) > 1
        else math.nan
        for each in lists
    ]
    column = pa.array(lists, pa.list_(pa.int64())).slice(skipped)
    np.testing.assert_array_equal(longest_gap_s(column), plain[skipped:])


def test_a_stall_shows_in_the_longest_gap_and_hardly_in_the_mean(tmp_path: Path) -> None:
    offsets = tuple(place * 20_000 + (2_000_000 if place > 250 else 0) for place in range(500))
    with ComputedRun(tmp_path / "run", described()) as writing:
        writing.append(measured_request(0, 0.0, offsets))
    run = read_run(tmp_path / "run")
    (batch,) = run.requests.batches(["chunk_offset_us"])
    assert longest_gap_s(batch["chunk_offset_us"])[0] == pytest.approx(2.02)
    assert BY_NAME["tpot_s"].of(columns_of(run))[0] == pytest.approx(0.024, abs=1e-4)


def test_failures_are_infinite_and_planned_cancellations_are_not() -> None:
    outcomes = np.array([each.value for each in Outcome])
    values = with_failures(np.full(len(outcomes), 2.0), outcomes)
    assert dict(zip(outcomes.tolist(), values.tolist(), strict=True)) == {
        "ok": 2.0,
        "failed": math.inf,
        "rejected": math.inf,
        "cancelled": 2.0,
        "timed_out": math.inf,
        "incomplete": math.inf,
        "unknown": math.inf,
    }


def test_a_measured_run_has_every_latency_but_the_queue(tmp_path: Path) -> None:
    columns = columns_of(measured_run(tmp_path / "run"))
    known = {each.name for each in LATENCIES if np.isfinite(each.of(columns)).any()}
    assert known == {each.name for each in LATENCIES} - {"queue_s"}
