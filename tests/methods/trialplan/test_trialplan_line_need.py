"""What lines need by a simulation: shares as the simulator has them, hours by the scenario's own rate, verdicts that turn within the band."""

from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rehearse_server import GPU, LAUNCH
from stored_workloads import request, stored
from vramledger.cli.simulate_asked import question_of
from vramledger.methods.trialplan.chance import chance_by_ends
from vramledger.methods.trialplan.line_need import line_needs
from vramledger.methods.trialplan.needed import requests_needed
from vramledger.methods.trialplan.offered_time import fewest_seconds, span_seconds
from vramledger.methods.trialplan.played_ends import PlayedEnds
from vramledger.methods.trialplan.scenario_need import scenario_need
from vramledger.plan.requirement import Contract, LatencyLimit
from vramledger.simulate.offered import read_offered
from vramledger.simulate.run import NotServed, Simulation, simulate_case

COUNT, GAP_S = 600, 0.5
SHORT = 300  # tokens; every third request is so short


def silent(_done: int, _of_all: int) -> None:
    """Nothing."""


@pytest.fixture(scope="module")
def simulation(tmp_path_factory: pytest.TempPathFactory) -> Simulation:
    draw = np.random.default_rng(3)
    rows = (
        request(
            row,
            arrival_s=row * GAP_S,
            input_tokens=SHORT if row % 3 == 0 else int(draw.integers(500, 3500)),
            output_tokens=int(draw.integers(20, 120)),
        )
        for row in range(COUNT)
    )
    file = stored(tmp_path_factory.mktemp("needs") / "w.parquet", rows)
    found = simulate_case(question_of(asked(file)), silent)
    assert not isinstance(found, NotServed)
    return found


def asked(file: Path) -> dict[str, Any]:
    none = dict.fromkeys(
        (
            "scenario",
            "rate_scale",
            "headroom",
            "engine_version",
            "model",
            "coefficients",
            "calibration",
            "out",
        )
    )
    given = {"launch": LAUNCH, "gpu": GPU, "workload": file, "replicas": 1, "no_prefix": False}
    return none | given | {"end": "low", "seed": 0, "limits": ()}


@pytest.fixture(scope="module")
def at(simulation: Simulation) -> dict[float, float]:
    """TTFT of the simulation at some shares."""
    values = np.sort(simulation.main.figures.latency["ttft_s"])
    return {share: float(np.quantile(values, share)) for share in (0.5, 0.9, 0.97, 1.0)}


def with_contract(simulation: Simulation, contract: Contract) -> Simulation:
    """The same simulation, judged by a contract."""
    question = replace(simulation.question, contract=contract)
    found = simulate_case(question, silent, simulation.offered)
    assert not isinstance(found, NotServed)
    return found


def needs(simulation: Simulation, contract: Contract, confidence: float = 0.9) -> dict[str, Any]:
    ends = PlayedEnds(with_contract(simulation, contract), silent)
    return {each.asked: each for each in line_needs(contract, ends, confidence)}


def test_a_line_needs_what_its_share_and_its_correlation_call_for(
    simulation: Simulation, at: dict[float, float]
) -> None:
    contract = Contract(latency={"ttft_s": (LatencyLimit(None, {0.9: at[0.97]}),)}, success=0.99)
    found = list(needs(simulation, contract).values())
    ttft, success = found
    assert ttft.expected_share == pytest.approx(0.97, abs=0.01)
    independent = requests_needed(ttft.expected_share, 0.9, 0.9)
    assert independent is not None
    assert ttft.needed == pytest.approx(independent * ttft.effect, rel=0.01)
    assert ttft.per_hour == pytest.approx(3600 / GAP_S, rel=1e-6)
    assert ttft.hours == pytest.approx(ttft.needed / ttft.per_hour)
    assert (success.expected_share, success.needed) == (1.0, 230)


def test_lines_for_short_inputs_count_those_alone(simulation: Simulation) -> None:
    contract = Contract(
        latency={"ttft_s": (LatencyLimit(SHORT, {0.5: 60.0}), LatencyLimit(None, {0.5: 60.0}))}
    )
    short, every = needs(simulation, contract).values()
    assert short.per_hour == pytest.approx(every.per_hour / 3)
    assert short.hours == pytest.approx(3 * every.hours)


def test_within_the_band_the_verdict_turns(simulation: Simulation, at: dict[float, float]) -> None:
    """A limit just above the expected figure: the slow end breaks it, so that no time is sure to decide it."""
    near = Contract(latency={"ttft_s": (LatencyLimit(None, {0.5: at[0.5] * 1.02}),)})
    far = Contract(latency={"ttft_s": (LatencyLimit(None, {0.5: 60.0}),)})
    (close,), (clear,) = (tuple(needs(simulation, each).values()) for each in (near, far))
    assert close.hours_at_ends == inf
    assert clear.hours_at_ends == pytest.approx(clear.hours)
    assert 0.2 < close.chance_of_failing < 0.5
    assert clear.chance_of_failing < 0.001


def test_a_line_that_fails_by_far_is_likely_to_fail_and_needs_few(
    simulation: Simulation, at: dict[float, float]
) -> None:
    contract = Contract(latency={"ttft_s": (LatencyLimit(None, {0.9: at[0.5] / 50}),)})
    (line,) = needs(simulation, contract).values()
    assert line.expected_share == 0
    assert line.expected_holds is False
    assert line.needed <= 30
    assert line.chance_of_failing > 0.9


def test_what_no_time_decides_says_why(simulation: Simulation) -> None:
    contract = Contract(
        latency={
            "ttft_s": (LatencyLimit(None, {1.0: 60.0}),),
            "queue_s": (LatencyLimit(None, {0.95: 1.0}),),
        },
        done_by="06:00",
    )
    found = needs(simulation, contract)
    assert [(each.asked, each.hours, each.why) for each in found.values()] == [
        (
            "ttft_s p100 <= 60",
            None,
            "no sample proves a maximum; every request would have to be seen",
        ),
        (
            "queue_s p95 <= 1",
            None,
            "a trial is told how long each request was queued by stage times alone; give their log with --stages",
        ),
        (
            "done by 06:00",
            None,
            (
                "it turns on the hour at which the log's load begins, which the record of a trial does not hold; the same work as "
                "requests an hour can be decided"
            ),
        ),
    ]


def test_with_stage_times_the_queue_needs_what_any_latency_needs(simulation: Simulation) -> None:
    contract = Contract(latency={"queue_s": (LatencyLimit(None, {0.95: 60.0}),)})
    ends = PlayedEnds(with_contract(simulation, contract), silent)
    (line,) = line_needs(contract, ends, 0.9, stages=True)
    assert (line.asked, line.expected_share, line.expected_holds) == (
        "queue_s p95 <= 60",
        1.0,
        True,
    )
    assert line.needed == pytest.approx(45 * (line.effect or 0), abs=1)


def test_gaps_of_short_inputs_are_counted_alone(simulation: Simulation) -> None:
    """Every gap belongs to one request: those up to a length and those above are all of them."""
    side = PlayedEnds(simulation, silent).expected
    gaps, inputs = side.gaps_up_to((SHORT, 10**6)), simulation.offered.input_tokens
    outputs = simulation.offered.output_tokens
    assert gaps[SHORT].events.sum() == (outputs[inputs <= SHORT] - 1).sum()
    assert gaps[10**6].events.sum() == (outputs - 1).sum() == side.served.gaps.events.sum()
    most = side.served.gaps.at(0.5)
    assert most is not None
    contract = Contract(
        latency={"itl_s": (LatencyLimit(SHORT, {0.5: 60.0}), LatencyLimit(None, {0.5: 60.0}))}
    )
    short, every = needs(simulation, contract).values()
    assert short.asked == "itl_s p50 <= 60 up to 300 input tokens"
    assert short.per_hour / every.per_hour == pytest.approx(
        gaps[SHORT].events.sum() / gaps[10**6].events.sum()
    )
    assert (short.expected_share, short.expected_holds) == (1.0, True)
    assert short.chance_of_failing == 0.05


def test_what_the_simulator_does_not_know_needs_so_many_at_least(simulation: Simulation) -> None:
    contract = Contract(latency={"first_answer_s": (LatencyLimit(None, {0.95: 9.0}),)})
    (line,) = needs(simulation, contract).values()
    assert (line.needed, line.expected_share, line.hours_at_ends) == (45, None, inf)
    assert line.why == (
        "the simulator does not know this figure; so many are needed where every request keeps it"
    )


def test_lines_of_time_take_the_load_once_and_more_margin_takes_less(
    simulation: Simulation,
) -> None:
    rate = 3600 / GAP_S
    wide, narrow = (
        tuple(
            needs(
                simulation, Contract(queue_must_drain=True, requests_per_hour=share * rate)
            ).values()
        )
        for share in (0.5, 0.95)
    )
    span = span_seconds(simulation.offered)
    assert wide[0].hours * 3600 == pytest.approx(span)  # no queue to speak of
    assert wide[1].hours < narrow[1].hours
    z = 2 * 1.2816
    assert wide[1].hours == pytest.approx(z * z * rate / (0.5 * rate) ** 2, rel=0.05)


def test_a_scenario_takes_its_slowest_line_and_its_busiest_part(simulation: Simulation) -> None:
    contract = Contract(latency={"ttft_s": (LatencyLimit(None, {0.5: 60.0, 0.999: 60.0}),)})
    found = scenario_need("all", with_contract(simulation, contract), 0.9, silent)
    slowest = max(line.hours or 0 for line in found.lines) * 3600
    assert found.fewest_s == pytest.approx(COUNT * GAP_S)
    assert found.send_s >= slowest
    assert found.send_s - slowest < 10.0001
    assert found.decided_in(found.fewest_s) == ("ttft_s p50 <= 60",)
    assert found.decided_in(found.fewest_s - 1) == ()


def test_of_a_long_load_the_busiest_part_is_enough(tmp_path: Path) -> None:
    """Two hours, with a burst in the second one."""
    times = [
        *(float(second) for second in range(0, 7200, 10)),
        *(4000 + one / 10 for one in range(600)),
    ]
    rows = (
        request(row, arrival_s=time, input_tokens=9, output_tokens=9)
        for row, time in enumerate(sorted(times))
    )
    offered = read_offered(stored(tmp_path / "w.parquet", rows))
    assert span_seconds(offered) == pytest.approx(7190, rel=0.01)
    assert 4060 <= fewest_seconds(offered) <= 4310


@pytest.mark.parametrize(
    ("holds", "chance"),
    [
        ([True, True, True], 0.05),
        ([True, False, True], 0.3),
        ([False, False, True], 0.7),
        ([False, False, False], 0.95),
    ],
)
def test_where_figures_are_no_factor_the_ends_tell(holds: list[bool], chance: float) -> None:
    assert chance_by_ends(holds) == chance
