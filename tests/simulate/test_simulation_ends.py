"""The ends of the band of the step times: slower steps, and a verdict that must hold at the slow end."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steady_requests import poisson
from stored_workloads import stored
from vramledger.engine.read import read_launch
from vramledger.evidence import Basis
from vramledger.hardware.catalogue import find
from vramledger.ledger.case import Case
from vramledger.model.load import load_model
from vramledger.plan.requirement import Contract, LatencyLimit
from vramledger.simulate.answers import Answers
from vramledger.simulate.ends import Ends, with_ends
from vramledger.simulate.figures import Figures
from vramledger.simulate.judged import Line
from vramledger.simulate.pace import Pace, at_pace, paces_of
from vramledger.simulate.percentiles import Percentiles
from vramledger.simulate.remarks import hit_remarks
from vramledger.simulate.run import Question, Simulation, simulate_case
from vramledger.simulate.step import Features
from vramledger.simulate.step_cost import StepCost, fixed
from vramledger.simulate.timing.bands import Region
from vramledger.simulate.timing.coefficients import shipped
from vramledger.simulate.ttft_band import with_ttft_band
from vramledger.simulate.verdict import LineVerdict, Verdict, line_verdicts, verdict_of
from vramledger.workload.operators.prepared import Part

MODEL = "meta-llama/Llama-3.1-8B"
LAUNCH = f"vllm serve {MODEL} --max-model-len 8192"


def quiet(_done: int, _of_all: int) -> None:
    return


def simulated(folder: Path, **asked: Any) -> Simulation:
    rows = [row | {"row": number} for number, row in enumerate(poisson(60, 6, 400, 80))]
    path = stored(folder / "w.parquet", rows)
    case = Case(read_launch(LAUNCH), load_model(MODEL), find("H100-80GB-SXM", "test"), "0.18.0")
    found = simulate_case(Question(case, Part(path), **asked), quiet)
    assert isinstance(found, Simulation)
    return found


def tpot_under(seconds: float) -> Contract:
    return Contract(latency={"tpot_s": (LatencyLimit(None, {0.95: seconds}),)})


@given(
    st.floats(0.5, 2),
    st.integers(0, 8192),
    st.integers(0, 256),
    st.integers(0, 1 << 20),
)
def test_every_step_takes_the_factor_as_long(
    factor: float, prompts: int, decodes: int, context: int
) -> None:
    cost = StepCost(
        constant=fixed(5e6),
        prefill_tokens=fixed(2e4),
        decode_context=fixed(50),
        by_tokens=tuple(fixed(1e3 * size) for size in range(9000)),
    )
    features = Features(
        prefill_tokens=prompts,
        prefill_requests=1,
        decode_tokens=decodes,
        decode_requests=decodes,
        decode_context=context,
    )
    assert at_pace(cost, factor)(features) == pytest.approx(factor * cost(features), rel=1e-6)


def test_the_ends_hold_the_bands_with_and_without_waiting_and_widen_outside() -> None:
    fit = shipped()
    inside, outside = (paces_of(fit, Region(power, ())) for power in (1.0, 2.0))
    assert inside.slow == pytest.approx(1 / min(fit.tpot.low, fit.tpot_waiting.low))
    assert inside.fast == pytest.approx(1 / max(fit.tpot.high, fit.tpot_waiting.high))
    assert outside.slow == pytest.approx(inside.slow**2)
    assert (inside.of(Pace.SLOW), inside.of(Pace.EXPECTED)) == (inside.slow, 1.0)


def test_the_slow_end_is_what_the_question_gives_at_that_pace(tmp_path: Path) -> None:
    expected = with_ends(simulated(tmp_path), quiet)
    slow = simulated(tmp_path, pace=Pace.SLOW)
    assert expected.ends is not None
    for name in ("tpot_s", "itl_s", "queue_s"):
        assert expected.ends.slow.latency[name] == slow.main.answers.latency[name]
    assert expected.ends.fast is None  # no line fails
    paces = expected.bench.paces
    beside, here = (
        one.latency["tpot_s"].p50 for one in (expected.ends.slow, expected.main.answers)
    )
    assert here is not None
    assert beside is not None
    assert beside > 1.1 * here
    assert slow.bench.cost == at_pace(expected.bench.cost, paces.slow)
    assert slow.basis is Basis.CALIBRATED


def test_a_contract_between_the_ends_is_not_decided(tmp_path: Path) -> None:
    plain = with_ends(simulated(tmp_path), quiet)
    assert plain.ends is not None
    expected, slow = (
        one.latency["tpot_s"].p95 or 0.0 for one in (plain.main.answers, plain.ends.slow)
    )
    cases = {
        slow * 1.01: Verdict.HOLDS,
        (expected + slow) / 2: Verdict.NOT_AT_SLOW_END,
        expected * 0.99: Verdict.ONLY_AT_FAST_END,
        expected * 0.1: Verdict.FAILS,
    }
    for limit, verdict in cases.items():
        asked = with_ends(simulated(tmp_path, contract=tpot_under(limit)), quiet)
        (line,) = line_verdicts(asked.main.answers, asked.ends)
        assert (line.verdict, verdict_of(asked)) == (verdict, verdict)
        assert (line.fast is None) == (verdict in {Verdict.HOLDS, Verdict.NOT_AT_SLOW_END})


def test_a_line_that_was_not_checked_has_no_verdict_at_any_end() -> None:
    line = Line("done by 06:00", "not checked", None)
    assert LineVerdict(line, line, line).verdict is Verdict.NOT_CHECKED


def test_hits_that_lengthen_ttft_get_a_remark(tmp_path: Path) -> None:
    answers = simulated(tmp_path).main.answers

    def with_p95(seconds: float) -> Answers:
        return replace(answers, latency={"ttft_s": Percentiles(1.0, seconds, seconds, seconds)})

    assert list(hit_remarks(with_p95(2.0), with_p95(2.0))) == []
    (said,) = hit_remarks(with_p95(2.3), with_p95(2.0))
    assert said.startswith(
        "TTFT p95 is longer with the workload's prefix hits than without (2.3 s, not 2 s): "
    )


def test_lines_are_put_beside_each_other_by_what_was_asked(tmp_path: Path) -> None:
    found = with_ends(simulated(tmp_path, contract=tpot_under(9)), quiet)
    assert found.ends is not None
    answers = found.main.answers
    other = replace(found.ends.slow, lines=(Line("other", "1", False), *answers.lines))
    ends = Ends(found.ends.paces, other, None)
    (line,) = line_verdicts(answers, ends)
    assert line.slow == answers.lines[0]


def under(name: str, seconds: float) -> Contract:
    return Contract(latency={name: (LatencyLimit(None, {0.95: seconds}),)})


def test_a_limit_of_ttft_is_judged_by_its_own_band_too(tmp_path: Path) -> None:
    plain = simulated(tmp_path)
    paces, expected = plain.bench.paces, plain.main.answers.latency["ttft_s"].p95 or 0.0
    by_steps = simulated(tmp_path, pace=Pace.SLOW).main.answers.latency["ttft_s"].p95 or 0.0
    assert by_steps < expected * paces.ttft_slow  # nobody waits, so that steps make less of it
    cases = {
        expected * paces.ttft_slow * 1.01: Verdict.HOLDS,
        (by_steps + expected * paces.ttft_slow) / 2: Verdict.NOT_AT_SLOW_END,
        expected * 0.99: Verdict.ONLY_AT_FAST_END,
        expected * paces.ttft_fast * 0.1: Verdict.FAILS,
    }
    for limit, verdict in cases.items():
        asked = with_ends(simulated(tmp_path, contract=under("ttft_s", limit)), quiet)
        assert verdict_of(asked) is verdict


def test_a_later_first_token_makes_a_later_end(tmp_path: Path) -> None:
    found = with_ends(simulated(tmp_path), quiet)
    assert found.ends is not None
    steps = simulated(tmp_path, pace=Pace.SLOW).main.answers
    later = (found.ends.slow.latency["ttft_s"].p50 or 0) - (steps.latency["ttft_s"].p50 or 0)
    assert later > 0
    assert found.ends.slow.latency["e2e_s"].max == pytest.approx(
        (steps.latency["e2e_s"].max or 0) + later, rel=0.05
    )


def test_a_queue_that_slower_steps_make_is_longer_than_the_band_of_ttft(tmp_path: Path) -> None:
    rows = [row | {"row": n} for n, row in enumerate(poisson(800, 20, 1500, 150))]
    path = stored(tmp_path / "busy.parquet", rows)
    case = Case(read_launch(LAUNCH), load_model(MODEL), find("H100-80GB-SXM", "test"), "0.18.0")
    found = simulate_case(Question(case, Part(path)), quiet)
    slow = simulate_case(Question(case, Part(path), pace=Pace.SLOW), quiet)
    assert isinstance(found, Simulation)
    assert isinstance(slow, Simulation)
    ends = with_ends(found, quiet).ends
    assert ends is not None
    expected = found.main.answers.latency["ttft_s"].p99 or 0.0
    by_steps = slow.main.answers.latency["ttft_s"].p99 or 0.0
    assert by_steps > expected * found.bench.paces.ttft_slow
    assert ends.slow.latency["ttft_s"].p99 == by_steps


@given(
    st.lists(
        st.tuples(*[st.sampled_from([0.1, 1.0, 5.0, float("inf"), float("nan")])] * 2), min_size=1
    ),
    st.floats(1, 3),
)
def test_what_failed_or_has_no_first_token_stays_as_it_is(
    times: list[tuple[float, float]], factor: float
) -> None:
    here, there = (np.array(one) for one in zip(*times, strict=True))
    none = np.zeros(len(here))

    def figures(ttft: Any) -> Figures:
        return Figures(none, none, {}, {"ttft_s": ttft, "e2e_s": ttft + 1}, none)

    found = with_ttft_band(figures(here), figures(there), Pace.SLOW, factor).latency
    for now, before, expected, end in zip(
        found["ttft_s"], here, there, found["e2e_s"], strict=True
    ):
        if np.isfinite(before) and np.isfinite(expected):
            assert now == max(before, expected * factor)
            assert end == pytest.approx(now + 1)
        else:
            assert (now, end) == (before, before + 1) or np.isnan(before)


def test_the_run_without_hits_is_played_at_the_slow_end_where_it_is_asked(tmp_path: Path) -> None:
    shared = [
        row | {"row": n, "prefix_blocks": [7, 8, 100 + n]}
        for n, row in enumerate(poisson(60, 6, 48, 80))
    ]
    path = stored(tmp_path / "p.parquet", shared)
    case = Case(read_launch(LAUNCH), load_model(MODEL), find("H100-80GB-SXM", "test"), "0.18.0")
    found = simulate_case(Question(case, Part(path)), quiet)
    assert isinstance(found, Simulation)
    assert found.own is not None
    plain, both = (with_ends(found, quiet, without_hits=asked).ends for asked in (False, True))
    assert plain is not None
    assert both is not None
    assert plain.of_no_hits is None
    assert both.of_no_hits is not None
    here, beside = (
        one.latency["tpot_s"].p50 or 0 for one in (found.no_hits.answers, both.of_no_hits.slow)
    )
    assert beside > 1.1 * here
    assert both.of_no_hits.slow.hit_share == 0
