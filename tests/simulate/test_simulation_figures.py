"""Percentiles, levels over time and contracts, against plain versions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from timing_questions import deployed
from vramledger.plan.requirement import Contract, LatencyLimit
from vramledger.simulate.engines import Engine
from vramledger.simulate.fast.records import RECORD, STEP, FastOutcome
from vramledger.simulate.judged import (
    Line,
    Served,
    TooFew,
    fewest_for,
    fewest_requests,
    goodput_per_hour,
    judged,
)
from vramledger.simulate.levels import drains, levels_of
from vramledger.simulate.output_gaps import Gaps, output_gaps
from vramledger.simulate.percentiles import percentile, percentiles, weighted_percentile
from vramledger.simulate.priced import typical_of
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_limits import limits_of
from vramledger.simulate.timing.coefficients import shipped
from vramledger.simulate.timing.work import work_of

PHYSICAL = limits_of(
    work_of(deployed()), shipped().coefficients, typical_of(3000, 200), max_num_seqs=256
)
NUMBERS = st.floats(-1e6, 1e6)
SETTINGS = Settings(
    num_blocks=101, block_size=16, token_budget=100, max_num_seqs=4, max_model_len=1000
)


@given(st.lists(NUMBERS, min_size=1, max_size=50), st.floats(0, 1))
def test_a_percentile_interpolates_as_numpy_does(values: list[float], share: float) -> None:
    array = np.array(values)
    expected = np.percentile(array, share * 100)
    assert percentile(array, share) == pytest.approx(expected, rel=1e-9, abs=1e-6)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30),
    st.sampled_from([0.5, 0.95, 0.99, 1.0]),
)
def test_a_weight_counts_as_so_many_equal_values(
    pairs: list[tuple[int, int]], share: float
) -> None:
    spread = sorted(value for value, weight in pairs for _ in range(weight))
    found = weighted_percentile(
        np.array([float(value) for value, _ in pairs]),
        np.array([float(weight) for _, weight in pairs]),
        share,
    )
    place = max(-(-round(share * 100) * len(spread) // 100), 1) - 1
    assert found == (spread[place] if spread else None)


def test_a_percentile_among_failures_is_infinite() -> None:
    found = percentiles(np.array([1.0, 2.0, np.inf, np.nan]))
    assert (found.p50, found.p95, found.max) == (2.0, np.inf, np.inf)
    assert percentiles(np.array([np.inf, np.inf])).p50 == np.inf
    assert percentiles(np.array([np.nan])).p50 is None


def engine(*rows: dict[str, int], stuck: str = "") -> Engine:
    steps = np.zeros(len(rows), STEP)
    for number, row in enumerate(rows):
        for name, value in row.items():
            steps[number][name] = value
    end = int(steps["end_ns"].max())
    outcome = FastOutcome(np.zeros(0, RECORD), steps, len(steps), end, stuck)
    return Engine(np.zeros(0, np.int64), outcome, compiled=True)


def test_levels_weigh_steps_by_their_length_and_count_idle_time() -> None:
    one = engine(
        {"start_ns": 0, "end_ns": 60, "running": 4, "waiting": 2, "used_blocks": 50},
        {"start_ns": 60, "end_ns": 70, "running": 3, "waiting": 1, "prefill_tokens": 100},
        {"start_ns": 70, "end_ns": 80, "running": 3, "waiting": 1, "used_blocks": 100},
        {"start_ns": 90, "end_ns": 100, "running": 1, "decode_tokens": 1},
    )
    levels = levels_of([one], SETTINGS, PHYSICAL)
    assert sum(levels.binding.values()) == pytest.approx(1)
    assert (levels.binding["sequence_cap"], levels.binding["idle"]) == (0.6, 0.1)
    assert (levels.kv_usage.p50, levels.kv_usage.max) == (0.5, 1.0)
    assert (levels.running.p50, levels.waiting.p50, levels.waiting.max) == (4, 2, 2)
    assert levels.in_system == pytest.approx(6 * 0.6 + 4 * 0.1 + 4 * 0.1 + 1 * 0.1)
    assert levels.span_s == pytest.approx(1e-7)


def test_a_queue_drains_when_it_is_empty_before_arrivals_end() -> None:
    long = {"start_ns": 0, "end_ns": 80, "waiting": 9}
    left = {"start_ns": 80, "end_ns": 120, "waiting": 3}
    empty = {"start_ns": 80, "end_ns": 120, "waiting": 0}
    assert not drains([engine(long, left)], 100)
    assert drains([engine(long, empty)], 100)
    assert not drains([engine(long, empty), engine(long, left)], 100)
    assert not drains([engine(long, empty, stuck="Request 1 never starts.")], 100)
    idle_between = {"start_ns": 95, "end_ns": 120, "waiting": 3}
    assert drains([engine({"start_ns": 0, "end_ns": 92, "waiting": 9}, idle_between)], 100)


def test_output_gaps_count_each_decode_of_a_step() -> None:
    one = engine(
        {"start_ns": 0, "end_ns": 10},
        {"start_ns": 10, "end_ns": 15, "decode_requests": 3},
        {"start_ns": 15, "end_ns": 35, "decode_requests": 1},
    )
    found = output_gaps([one])
    assert found.at(0.5) == pytest.approx(5e-9)
    assert found.at(1.0) == pytest.approx(20e-9)


def served(**changes: object) -> Served:
    plain = {
        "input_tokens": np.array([100, 200, 5000, 6000]),
        "output_tokens": np.array([10, 20, 500, 600]),
        "ok": np.array([True, True, True, False]),
        "cancelled": np.zeros(4, np.bool_),
        "stayed": np.array([2.0, 4.0, 10.0, np.nan]),
        "latency": {"ttft_s": np.array([1.0, 3.0, 9.0, np.inf])},
        "gaps": Gaps(np.array([0.1, 0.2]), np.array([9.0, 1.0])),
        "span_s": 1800.0,
        "queue_drains": True,
    }
    return Served(**{**plain, **changes})  # type: ignore[arg-type]


def test_each_line_of_a_contract_is_judged_on_its_own_requests() -> None:
    short, every = LatencyLimit(4096, {0.5: 2.0}), LatencyLimit(None, {0.5: 2.0, 0.95: 10.0})
    contract = Contract(
        latency={"ttft_s": (short, every), "itl_s": (LatencyLimit(None, {0.5: 0.1}),)},
        success=0.7,
        queue_must_drain=True,
        done_by="06:00",
        requests_per_hour=3,
    )
    assert judged(contract, served()) == (
        Line("ttft_s p50 <= 2 up to 4,096 input tokens", "2", True),
        Line("ttft_s p50 <= 2", "6", False),
        Line("ttft_s p95 <= 10", "inf", None, few=TooFew(4, 20)),
        Line("itl_s p50 <= 0.1", "0.1", True),
        Line("success >= 70.00%", "75.00%", True),
        Line("the queue drains", "it drains", True),
        Line("done by 06:00", "not checked", None),
        Line("3 requests an hour", "4", True),
    )


def test_a_percentile_needs_a_request_beyond_it() -> None:
    needed = {0.5: 2, 0.9: 10, 0.95: 20, 0.99: 100, 0.999: 1000, 1.0: 1}
    assert {share: fewest_for(share) for share in needed} == needed
    limits = (LatencyLimit(None, {0.5: 1.0, 0.99: 2.0}),)
    assert fewest_requests(Contract(latency={"ttft_s": limits})) == 100
    assert fewest_requests(Contract(success=0.9)) == 1


@pytest.mark.parametrize(("count", "holds"), [(19, None), (20, True)])
def test_a_line_is_judged_from_the_fewest_requests_on(count: int, *, holds: bool | None) -> None:
    contract = Contract(latency={"ttft_s": (LatencyLimit(None, {0.95: 2.0}),)})
    one = served(
        input_tokens=np.full(count, 100),
        ok=np.ones(count, np.bool_),
        cancelled=np.zeros(count, np.bool_),
        stayed=np.ones(count),
        latency={"ttft_s": np.ones(count)},
    )
    (line,) = judged(contract, one)
    assert (line.holds, line.few) == (holds, None if holds else TooFew(19, 20))


def test_a_planned_cancellation_is_no_failure_until_a_limit_is_broken() -> None:
    left = served(
        ok=np.array([True, True, False, False]),
        cancelled=np.array([False, False, True, True]),
        latency={"ttft_s": np.array([1.0, 1.0, np.nan, np.nan])},
        stayed=np.array([2.0, 2.0, 0.5, 3.0]),
    )
    contract = Contract(latency={"ttft_s": (LatencyLimit(None, {0.95: 2.0}),)}, success=0.8)
    assert judged(contract, left)[1] == Line("success >= 80.00%", "66.67%", holds=False)
    assert judged(Contract(success=0.8), left)[0].found == "100.00%"


def test_who_left_as_planned_is_neither_served_nor_failed() -> None:
    left = served(
        ok=np.zeros(4, np.bool_),
        cancelled=np.ones(4, np.bool_),
        latency={"ttft_s": np.ones(4)},
        stayed=np.ones(4),
    )
    contract = Contract(latency={"ttft_s": (LatencyLimit(None, {0.95: 2.0}),)}, success=0.8)
    assert judged(contract, left)[1] == Line("success >= 80.00%", "nothing to count", None)
    assert goodput_per_hour(contract, left) == 0


def test_a_client_that_left_without_a_first_token_waited_too_long_once_the_limit_was_over() -> None:
    left = served(
        ok=np.array([True, False, False, False]),
        cancelled=np.array([False, True, True, True]),
        latency={"ttft_s": np.array([1.0, np.nan, np.nan, np.nan])},
        stayed=np.array([2.0, 0.5, 10.0, 10.0]),
    )
    contract = Contract(latency={"ttft_s": (LatencyLimit(None, {0.5: 2.0, 0.95: 20.0}),)})
    assert judged(contract, left) == (
        Line("ttft_s p50 <= 2", "10", holds=False),  # of 1, 10 and 10
        Line("ttft_s p95 <= 20", "1", None, few=TooFew(1, 20)),
    )


def test_a_cancellation_after_the_answer_was_due_counts_against_success() -> None:
    left = served(
        ok=np.array([True, True, False, False]),
        cancelled=np.array([False, False, True, True]),
        latency={"ttft_s": np.ones(4), "e2e_s": np.array([2.0, 2.0, 3.0, 30.0])},
        stayed=np.array([2.0, 2.0, 3.0, 30.0]),
    )
    contract = Contract(latency={"e2e_s": (LatencyLimit(None, {0.95: 20.0}),)}, success=0.8)
    assert judged(contract, left)[1] == Line("success >= 80.00%", "66.67%", holds=False)


def test_goodput_counts_requests_within_every_limit() -> None:
    ttft = (LatencyLimit(4096, {0.5: 1.0, 0.95: 2.0}), LatencyLimit(None, {0.95: 10.0}))
    contract = Contract(latency={"ttft_s": ttft})
    assert goodput_per_hour(contract, served()) == 4  # two in half an hour
    assert goodput_per_hour(Contract(success=0.5), served()) == 6
