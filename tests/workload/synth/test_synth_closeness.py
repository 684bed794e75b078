"""The closeness report: false alarms as often as stated, real differences found."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from stored_workloads import chats
from synthesised import plain, profile_of
from vramledger.workload.profile.profile import Arrival, Profile
from vramledger.workload.synth.arrivals import Arrivals
from vramledger.workload.synth.closeness import closeness
from vramledger.workload.synth.compare_arrivals import arrival_lines, expected_steps
from vramledger.workload.synth.curve import RateCurve
from vramledger.workload.synth.line import Verdict
from vramledger.workload.synth.permutation import (
    kolmogorov_smirnov,
    sampling_error,
    total_variation,
    wasserstein,
)
from vramledger.workload.synth.quantiles import steps_at

LENGTHS = ("input tokens", "output tokens", "total tokens", "input x output")


def test_two_samples_of_one_source_are_beyond_as_often_as_the_level_says() -> None:
    rng, level, pairs = np.random.default_rng(1), 0.9, 300
    shares = rng.dirichlet(np.ones(40))
    points = np.arange(40.0)
    statistics = (kolmogorov_smirnov, total_variation, wasserstein(points, 20.0))
    beyond = np.zeros(3)
    for _ in range(pairs):
        one, other = (rng.multinomial(n, shares).astype(float) for n in (700, 1500))
        errors = sampling_error(one, other, statistics, level, rng)
        for place, (statistic, error) in enumerate(zip(statistics, errors, strict=True)):
            beyond[place] += statistic(one / 700, other / 1500) > error.limit
    tolerance = 3.5 * (0.1 * 0.9 / pairs) ** 0.5
    assert np.abs(beyond / pairs - 0.1).max() < tolerance


def test_the_verdict_on_two_logs_is_that_of_the_exact_test_on_their_rows(tmp_path: Path) -> None:
    from scipy.stats import ks_2samp

    seen = set()
    for seed in range(8):
        logs = [plain(1500, 2 * seed), plain(1500, 2 * seed + 1)]
        one, other = (profile_of(rows, tmp_path) for rows in logs)
        report = closeness(one, other, seed)
        line = report.lines[0]
        exact = ks_2samp(*([row["input_tokens"] for row in rows] for rows in logs))
        assert (line.part, line.statistic) == ("input tokens", "Kolmogorov-Smirnov")
        assert abs(line.distance - exact.statistic) < 0.002
        if not 0.006 < exact.pvalue < 0.015:  # so near to 1 % either may come
            verdict = Verdict.BEYOND if exact.pvalue < 0.01 else Verdict.WITHIN
            assert line.verdict is verdict
            seen.add(verdict)
    assert len(seen) == 2


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    return profile_of(plain(3000, 1), tmp_path_factory.mktemp("source"))


@pytest.mark.parametrize(
    ("name", "part"), [("input_tokens", "input tokens"), ("output_tokens", "output tokens")]
)
def test_a_tenth_more_tokens_is_beyond(
    source: Profile, tmp_path: Path, name: str, part: str
) -> None:
    rows = [row | {name: round(row[name] * 1.15)} for row in plain(3000, 2)]
    report = closeness(source, profile_of(rows, tmp_path))
    assert part in report.beyond
    assert not report.holds


def test_lengths_alike_one_by_one_but_not_together_are_beyond_in_the_joint(
    source: Profile, tmp_path: Path
) -> None:
    rows = plain(3000, 1)
    outputs = np.random.default_rng(0).permutation([row["output_tokens"] for row in rows])
    shuffled = [row | {"output_tokens": int(o)} for row, o in zip(rows, outputs, strict=True)]
    report = closeness(source, profile_of(shuffled, tmp_path))
    assert "input x output" in report.beyond
    assert not {"input tokens", "output tokens"} & set(report.beyond)


def test_bursts_of_the_same_rate_are_beyond_in_dispersion(source: Profile, tmp_path: Path) -> None:
    rows = plain(3000, 1)
    for row in rows:
        row["arrival_s"] = float(row["arrival_s"] // 3 * 3)
    report = closeness(source, profile_of(rows, tmp_path))
    assert {"dispersion over 1 s", "empty 1 s"} <= set(report.beyond)
    assert "requests by minute" not in report.beyond


def test_another_rate_curve_is_beyond(source: Profile, tmp_path: Path) -> None:
    rows = plain(3000, 1)
    for row in rows:
        row["arrival_s"] = row["arrival_s"] ** 2 / 1800
    assert "requests by minute" in closeness(source, profile_of(rows, tmp_path)).beyond


def test_arrivals_that_were_asked_to_differ_are_not_judged(source: Profile, tmp_path: Path) -> None:
    rows = plain(3000, 1, span_s=600)
    asked = Arrivals(requests=3000, kind="poisson", rate=5.0)
    report = closeness(source, profile_of(rows, tmp_path), asked=asked)
    lines = [line for line in report.lines if line.part not in LENGTHS]
    assert {line.verdict for line in lines} == {Verdict.AS_ASKED}
    assert lines[0].reason == "--arrivals poisson and --rate asked for something else"
    assert report.holds


def test_parts_that_the_synthetic_workload_lacks_are_named(tmp_path: Path) -> None:
    whole = profile_of(chats(60), tmp_path)
    bare = replace(whole, prefix=replace(whole.prefix, shared_blocks=()), sessions=None)
    assert closeness(whole, bare).not_compared == ("prefix sharing", "sessions")


def test_less_sharing_is_beyond(tmp_path: Path) -> None:
    whole = profile_of(chats(200), tmp_path)
    rows = [row | {"prefix_blocks": row["prefix_blocks"][:2]} for row in chats(200)]
    report = closeness(whole, profile_of(rows, tmp_path))
    assert {"blocks seen before", "reusable at 16 tokens"} <= set(report.beyond)


def test_models_are_compared_by_rank_because_their_numbers_say_nothing(tmp_path: Path) -> None:
    rows = plain(900, 1)
    one = [row | {"model": f"model-{row['row'] % 3 // 2}"} for row in rows]
    other = [row | {"model": f"model-{1 - row['row'] % 3 // 2}"} for row in rows]
    report = closeness(profile_of(one, tmp_path), profile_of(other, tmp_path))
    (line,) = (each for each in report.lines if each.part == "models")
    assert line.distance == 0


def test_the_expected_steps_of_a_curve_follow_each_other_pass_after_pass() -> None:
    curve = RateCurve(np.array([60.0, 120.0, 30.0]), 30.0, ())
    assert curve.period_s == 150
    found = expected_steps(curve, 6, 330.0)
    assert found.tolist() == [60, 120, 30 + 30, 30 + 60, 60 + 30, 30]
    assert found.sum() == 2 * 210 + 30


@pytest.mark.parametrize(("source_s", "made_s"), [(300, 60), (60, 300), (300, 300)])
def test_curves_of_different_steps_are_compared_in_the_wider(source_s: int, made_s: int) -> None:
    def arrival(step_s: int, seed: int) -> Arrival:
        counts = np.random.default_rng(seed).poisson(step_s / 5, 36_000 // step_s)
        return Arrival(
            span_s=35_999.0, mean_per_s=0.2, per_step=tuple(counts.tolist()), step_s=step_s
        )

    rng = np.random.default_rng(0)
    (line,) = arrival_lines(arrival(source_s, 1), arrival(made_s, 2), 0.999, rng)
    assert line.part == "requests by 5 minutes"
    assert line.verdict is Verdict.WITHIN


def test_steps_of_whole_numbers_put_each_atom_at_its_value() -> None:
    values = np.sort(np.random.default_rng(0).choice([3, 4, 9], 9000, p=[0.2, 0.5, 0.3]))
    quantiles = np.quantile(values, np.linspace(0, 1, 1001))
    found = steps_at(np.array([3.0, 4.0, 9.0]), quantiles.tolist(), whole=True).shares
    real = [(values == each).mean() for each in (3, 4, 9)]
    assert np.abs(found - real).max() < 0.001


def test_samples_of_less_than_half_a_request_a_cell_still_have_a_sampling_error() -> None:
    few = np.full(400, 0.02)  # 8 requests over 400 cells
    (error,) = sampling_error(few, few, (kolmogorov_smirnov,), 0.99, np.random.default_rng(0))
    assert 0 < error.typical <= error.limit <= 1
