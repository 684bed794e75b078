"""Which part of a trial is steady, and what is said of it."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import vram_here
from recorded_runs import measured_request
from recorded_trials import described, health, page
from vramledger.record.recorded_run import RecordedRun
from vramledger.record.run import read_run
from vramledger.trial.conduct.steady import drifts, mser, steady_part, under_way
from vramledger.trial.conduct.summary import summarise

MOMENTS = st.lists(
    st.tuples(st.floats(0, 100), st.floats(0, 50) | st.just(float("inf"))), min_size=1, max_size=20
)


@given(MOMENTS)
def test_the_mean_under_way_is_what_counting_second_by_second_comes_to(
    requests: list[tuple[float, float]],
) -> None:
    begun = np.array([start for start, _ in requests])
    ended = begun + np.array([length for _, length in requests])
    edges = np.linspace(0.0, 80.0, 9)
    plain = [
        sum(max(min(end, right) - max(start, left), 0.0) for start, end in zip(begun, ended, strict=True))
        / (right - left)
        for left, right in pairwise(edges)
    ]  # fmt: skip
    assert under_way(begun, ended, edges) == pytest.approx(plain, abs=1e-6)


def test_a_level_that_climbs_first_is_cut_where_it_stops_climbing() -> None:
    draw = np.random.default_rng(1)
    climb = np.concatenate((np.linspace(0, 50, 20), np.full(80, 50.0))) + draw.normal(0, 0.5, 100)
    cut = mser(climb)
    assert 17 <= cut <= 50  # of a level that only wavers, where to cut is chance
    assert not drifts(climb[cut:])


def test_a_level_that_does_not_move_is_kept_whole() -> None:
    level = np.full(100, 7.0)
    assert mser(level) == 0
    assert not drifts(level)


def test_a_level_that_wavers_is_steady() -> None:
    draw = np.random.default_rng(2)
    found = [10 + draw.normal(0, 3, 100) for _ in range(200)]
    assert not any(drifts(level[mser(level) :]) for level in found)
    waves = 2 + np.sin(np.arange(100) / 2)
    assert not drifts(waves[mser(waves) :])


@pytest.mark.parametrize(
    "level",
    [
        np.arange(100.0),
        np.arange(100.0)[::-1],
        np.concatenate((np.full(60, 5.0), np.linspace(5, 40, 40))),
    ],
    ids=["rises", "falls", "rises late"],
)
def test_a_level_that_goes_on_to_move_is_not_steady(level: Any) -> None:
    assert drifts(level[mser(level) :])


@pytest.mark.parametrize("seconds", [3.0, 10.0, 30.0])
def test_a_load_of_even_distances_is_steady(seconds: float) -> None:
    due = np.arange(0.0, seconds, 0.05)
    lengths = 0.08 + 0.002 * (np.arange(len(due)) % 20)
    assert steady_part(due, due + 0.001, due + lengths).found


def _poisson(seconds: float, served_s: float) -> tuple[Any, Any, Any]:
    due = np.cumsum(np.random.default_rng(3).exponential(0.02, round(seconds / 0.02)))
    return due, due + 0.001, due + served_s


def test_the_start_is_found_while_the_first_requests_are_answered() -> None:
    due, sent, done = _poisson(100, served_s=5.0)
    found = steady_part(due, sent, done)
    assert found.from_s is not None
    assert found.to_s is not None
    assert 3.0 < found.from_s < 30.0
    assert found.to_s == pytest.approx(due[-1] - 5.0)


def test_a_server_that_falls_behind_has_no_steady_part() -> None:
    due, sent, _ = _poisson(100, served_s=0.0)
    found = steady_part(due, sent, np.cumsum(np.full(len(due), 0.03)) + 1.0)
    assert found.why == "the number of requests under way went on to rise or to fall"


def _run(folder: Path, count: int = 200) -> Path:
    """Slow first answers, then steady ones, the last ones in the drain."""
    with RecordedRun.start(folder, described()) as run:
        run.note(10.0, "phase", name="measured", load_zero_s=10.0, position_s=0.0)
        for number in range(count):
            run.append(measured_request(number, 10 + number * 0.1, (0, 20_000 if number > 40 else 900_000)))  # fmt: skip
        for second, counted in ((10.0, 1.0), (20.0, 3.0), (35.0, 9.0)):
            page(run, second, counted, (0.25,))
        run.note(40.0, "worker_ended", writer="worker-0", how="complete", health=health())
        run.note(40.0, "phase", name="drained", how="complete")
    return folder


def test_figures_of_the_steady_part_stand_beside_those_of_the_whole(tmp_path: Path) -> None:
    found = summarise(read_run(_run(tmp_path / "run")))
    steady = found.steady
    assert steady.part.from_s is not None
    assert 14.0 <= steady.part.from_s <= 18.0
    assert steady.latencies is not None
    assert found.latencies.itl_s.max == pytest.approx(0.9)
    assert steady.latencies.itl_s.max == pytest.approx(0.02)
    assert found.offered == 200
    assert steady.offered == steady.ok == steady.latencies.itl_s.count
    assert steady.requests_per_s == pytest.approx(10, rel=0.02)
    assert steady.output_tokens_per_s == pytest.approx(20, rel=0.05)
    assert steady.server is not None
    assert steady.server.preemptions == 2  # the pages at 10 and 20 s
    assert found.server.preemptions == 8


def test_the_terminal_and_the_object_say_which_part_is_steady(tmp_path: Path) -> None:
    _run(tmp_path / "run")
    said = vram_here(["trial", "show", "run"], tmp_path).stdout
    assert "MSER-5 on the requests under way" in said
    assert "TTFT, steady" in said
    told = json.loads(vram_here(["trial", "show", "run", "--json"], tmp_path).stdout)["steady"]
    assert told["found"] is True
    assert told["itl_s"]["max"] == 0.02
    _run(tmp_path / "short", 10)
    said = vram_here(["trial", "show", "short"], tmp_path).stdout
    assert "steady part none found: fewer than 20 requests were sent" in said
    told = json.loads(vram_here(["trial", "show", "short", "--json"], tmp_path).stdout)["steady"]
    assert (told["found"], told["reason"]) == (False, "fewer than 20 requests were sent")
