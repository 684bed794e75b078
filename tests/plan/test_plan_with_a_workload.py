"""A plan whose workload is a file of recorded requests: slices by name, load, growth, refusals."""

from dataclasses import replace
from pathlib import Path

import pytest

from recorded_workloads import CHAT, LONG, profile_of, slice_of, written
from vramledger.errors import BadInput, CannotKnow
from vramledger.evidence import Basis
from vramledger.plan.problems import PlanProblems
from vramledger.plan.read import parse_plan
from vramledger.plan.requirement import LoadUnit, Requirement, Scenario
from vramledger.workload.profile.profile import Concurrency, Profile

TWO = "{daily: {kind: latency}, long-burst: {kind: latency}, other: {kind: throughput}}"
WHOLE = profile_of(
    [*CHAT, *LONG],
    per_s=3.0,
    slices=[slice_of("daily", CHAT, 2.5), slice_of("long-burst", LONG, 0.5, 12.0)],
)


def plan(
    folder: Path, workload: str, profile: Profile = WHOLE, scenarios: str = TWO
) -> Requirement:
    written(profile, folder / "w.json")
    text = f"name: x\nmodel: m\nworkload: {workload}\nscenarios: {scenarios}\n"
    return parse_plan(text, str(folder / "plan.yaml"))


def by_name(requirement: Requirement) -> dict[str, Scenario]:
    return {scenario.name: scenario for scenario in requirement.scenarios}


def test_scenarios_take_the_slice_of_their_name_and_others_the_whole(tmp_path: Path) -> None:
    found = by_name(plan(tmp_path, "w.json"))
    assert found["daily"].lengths.longest == max(map(sum, CHAT))
    assert found["long-burst"].lengths.longest == max(map(sum, LONG))
    assert found["other"].lengths.mean_input > found["daily"].lengths.mean_input
    rates = {name: scenario.load.amount for name, scenario in found.items()}
    assert rates == {"daily": 2.5, "long-burst": 0.5, "other": 3.0}
    assert {scenario.load.unit for scenario in found.values()} == {LoadUnit.REQUESTS_PER_S}


def test_every_view_of_one_file_is_the_same_traffic(tmp_path: Path) -> None:
    loads = [scenario.load for scenario in plan(tmp_path, "w.json").scenarios]
    assert {load.source for load in loads} == {"arrivals of w.json"}
    assert {load.basis for load in loads} == {Basis.MEASURED}


def test_a_slice_of_known_durations_brings_them(tmp_path: Path) -> None:
    found = by_name(plan(tmp_path, "w.json"))
    assert found["long-burst"].load.seconds_per_request == 12.0
    assert found["daily"].load.seconds_per_request is None


def test_the_whole_of_known_durations_is_in_flight_as_the_log_shows(tmp_path: Path) -> None:
    flights = Concurrency(requests=320, mean=20.0, p50=19.0, p95=30.0, p99=36.0, max=41)
    load = by_name(plan(tmp_path, "w.json", profile_of(CHAT, 2.0, concurrency=flights)))[
        "other"
    ].load
    assert (load.unit, load.amount, load.mean, load.per_s) == (LoadUnit.CONCURRENT, 36.0, 20.0, 2.0)


@pytest.mark.parametrize(
    ("flights", "amount", "unit"),
    [
        (None, 2.0, LoadUnit.REQUESTS_PER_S),
        (
            Concurrency(requests=320, mean=20.0, p50=19.0, p95=30.0, p99=36.0, max=41),
            36.0,
            LoadUnit.CONCURRENT,
        ),
    ],
)
def test_the_tail_comes_at_the_logs_own_arrivals(
    tmp_path: Path, flights: Concurrency | None, amount: float, unit: LoadUnit
) -> None:
    tail = replace(slice_of("tail", CHAT, None), start_s=None, seconds=None)
    profile = profile_of(CHAT, 2.0, slices=[tail], concurrency=flights)
    (scenario,) = plan(tmp_path, "w.json", profile, "{tail: {kind: latency}}").scenarios
    assert (scenario.load.amount, scenario.load.unit) == (amount, unit)


def test_a_load_beside_the_file_wins(tmp_path: Path) -> None:
    found = by_name(plan(tmp_path, "{file: w.json, users: 60}"))
    assert found["daily"].load.unit is LoadUnit.USERS
    assert found["daily"].lengths.longest == max(map(sum, CHAT))


def test_lengths_beside_the_file_win_and_its_load_is_kept(tmp_path: Path) -> None:
    means = profile_of(CHAT, 2.0, basis={"input_tokens": "mean", "output_tokens": "mean"})
    stated = "{file: w.json, input_tokens: {p50: 9, max: 99}, output_tokens: {p50: 5, max: 50}}"
    found = by_name(plan(tmp_path, stated, means))["other"]
    assert (found.lengths.longest, found.load.amount) == (149, 2.0)
    with pytest.raises(CannotKnow, match=r"w\.json holds means of lengths only"):
        plan(tmp_path, "w.json", means)


def test_a_scenario_changes_what_it_states(tmp_path: Path) -> None:
    own = "{daily: {kind: latency, workload: {concurrent: 7}}}"
    found = by_name(plan(tmp_path, "w.json", scenarios=own))["daily"]
    assert (found.load.amount, found.lengths.longest) == (7.0, max(map(sum, CHAT)))


def test_growth_multiplies_the_arrivals_and_says_so(tmp_path: Path) -> None:
    load = by_name(plan(tmp_path, "{file: w.json, rate_scale: 2}"))["daily"].load
    assert (load.amount, load.source) == (5.0, "arrivals of w.json times 2")


@pytest.mark.parametrize(
    ("workload", "said"),
    [
        (
            "{profile: chat, rate_scale: 2, users: 5}",
            (
                "workload.rate_scale: it multiplies the arrivals of a file, and none is named; leave "
                "it out."
            ),
        ),
        (
            "{file: w.json, rate_scale: 2, users: 5}",
            (
                "workload.rate_scale: it multiplies the arrivals of the file, but another load is "
                "stated; leave it out."
            ),
        ),
        (
            "spend.csv",
            (
                "spend.csv is a log; read it first with vram workload import spend.csv -o "
                "workload.parquet."
            ),
        ),
        ("./", "is no file but a folder, pipe or device; name a workload or its profile."),
        ('"a\\0/b.json"', r"'a\x00/b.json' is no name of a file; name another."),
        (
            "absent.json",
            "absent.json cannot be read: No such file or directory; name another file.",
        ),
    ],
)
def test_what_cannot_be_used_is_told_with_its_line(
    workload: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(PlanProblems) as caught:
        plan(tmp_path, workload)
    (problem,) = caught.value.problems
    assert problem.startswith(f"{tmp_path}/plan.yaml line 3")
    assert problem.endswith(said)


def test_a_log_without_times_asks_for_a_load(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        plan(tmp_path, "w.json", profile_of(CHAT, None))
    assert str(caught.value) == (
        f"{tmp_path}/plan.yaml line 3: w.json has no times of arrival, so no load; state one of "
        "requests_per_s, concurrent, users beside it."
    )
