"""Arrivals: the processes asked for, their rates, their ends, and what is refused."""

from collections.abc import Callable
from dataclasses import replace
from math import gamma, inf
from pathlib import Path

import numpy as np
import pytest

from synthesised import plain, profile_of
from vramledger.errors import BadInput, CannotKnow, UnknownName
from vramledger.workload.profile.profile import Arrival, Profile
from vramledger.workload.synth.arrivals import Arrivals, arrival_times, check, gap_cv
from vramledger.workload.synth.curve import rate_curve
from vramledger.workload.synth.renewal import RENEWALS, weibull_shape

CURVED = Profile(
    requests=900,
    arrival=Arrival(
        span_s=590.0,
        mean_per_s=1.5,
        dispersion={"1": 3.0, "10": 9.0, "60": 40.0},
        empty={"1": 400, "10": 20, "60": 0},
        per_step=(10, 20, 40, 80, 160, 240, 160, 100, 60, 30),
    ),
)


def times(profile: Profile, asked: Arrivals, seed: int = 0) -> np.ndarray:
    return np.concatenate(list(arrival_times(profile, asked, np.random.default_rng(seed))))


@pytest.mark.parametrize(("kind", "cv"), [("poisson", None), ("gamma", 2.5), ("weibull", 1.7)])
def test_renewal_arrivals_have_the_rate_and_the_cv_asked_for(kind: str, cv: float | None) -> None:
    found = times(CURVED, Arrivals(requests=200_000, kind=kind, rate=4.0, cv=cv))
    gaps = np.diff(found)
    assert found[0] == 0
    assert len(found) == 200_000
    assert gaps.mean() == pytest.approx(0.25, rel=0.03)
    assert gaps.std() / gaps.mean() == pytest.approx(cv or 1.0, rel=0.03)


@pytest.mark.parametrize("name", sorted(RENEWALS))
def test_gaps_have_a_mean_of_one_within_four_standard_errors(name: str) -> None:
    gaps = RENEWALS[name](1.5)(np.random.default_rng(3), 100_000)
    assert abs(gaps.mean() - 1) < 4 * gaps.std() / 100_000**0.5


@pytest.mark.parametrize("shape", [0.3, 0.8, 1.0, 2.5])
def test_the_weibull_shape_is_the_one_whose_cv_was_asked_for(shape: float) -> None:
    cv = (gamma(1 + 2 / shape) / gamma(1 + 1 / shape) ** 2 - 1) ** 0.5
    assert weibull_shape(cv) == pytest.approx(shape, rel=1e-6)


def test_a_cv_that_no_weibull_has_is_refused() -> None:
    with pytest.raises(BadInput) as refusal:
        weibull_shape(1e9)
    assert str(refusal.value) == (
        "--cv 1e+09 is beyond what Weibull gaps can have (0.025 to 430); take another --cv, or "
        "--arrivals gamma."
    )


def test_the_own_curve_brings_each_minute_its_count_pass_after_pass() -> None:
    found = times(CURVED, Arrivals(requests=1800))
    period = rate_curve(CURVED.arrival).period_s
    assert period == pytest.approx(590 * 900 / 899)
    first, second = found[:900], found[900:] - period
    for each in (first, second):
        counts = np.bincount((each // 60).astype(int), minlength=10)
        assert counts.tolist() == list(CURVED.arrival.per_step)
    assert (np.diff(found) >= 0).all()


@pytest.mark.parametrize(("step_s", "steps"), [(300, 400), (10_800, 20)])
def test_a_curve_of_wider_steps_brings_each_its_count_and_is_as_uneven_within(
    step_s: int, steps: int
) -> None:
    source = Arrival(
        span_s=steps * step_s - 1.0,
        mean_per_s=0.5,
        dispersion={"60": 9.0},
        per_step=(step_s // 2,) * steps,
        step_s=step_s,
    )
    requests = step_s // 2 * steps
    found = times(Profile(requests=requests, arrival=source), Arrivals(requests=requests))
    counts = np.bincount((found // step_s).astype(int), minlength=steps)
    assert counts.tolist() == list(source.per_step)
    minutes = np.bincount((found // 60).astype(int))
    assert minutes.var() / minutes.mean() == pytest.approx(9, rel=0.2)


def test_a_rate_scales_the_curve_and_keeps_its_form() -> None:
    found = times(CURVED, Arrivals(seconds=590.0, rate=30.0))
    counts = np.bincount((found // 60).astype(int), minlength=10)[:9]
    assert len(found) == pytest.approx(590 * 30, rel=0.01)
    expected = np.array(CURVED.arrival.per_step[:9]) * 30 / (900 / 590)
    assert np.abs(counts / expected - 1).max() < 0.05


def test_hours_end_the_workload_and_so_do_requests() -> None:
    assert times(CURVED, Arrivals(seconds=100.0)).max() < 100
    assert len(times(CURVED, Arrivals(requests=7))) == 7
    assert times(CURVED, Arrivals(seconds=5.0, kind="poisson")).max() < 5


def test_dispersion_and_empty_seconds_are_those_of_the_profile(tmp_path: Path) -> None:
    rows = plain(6000, 1)
    rng = np.random.default_rng(0)
    starts = np.sort(rng.random(400)) * 1800
    moments = np.sort(rng.choice(starts, 6000) + rng.exponential(2, 6000))
    for row, moment in zip(rows, moments - moments[0], strict=True):
        row["arrival_s"] = float(moment)
    profile = profile_of(rows, tmp_path)
    for window in (1, 10):
        dispersion, empty = [], []
        for seed in range(12):
            found = times(profile, Arrivals(requests=6000), seed)
            counts = np.bincount((found // window).astype(int))
            dispersion.append(counts.var() / counts.mean())
            empty.append((counts == 0).mean())
        stated = profile.arrival.dispersion[str(window)]
        assert np.mean(dispersion) == pytest.approx(stated, rel=0.1)
        assert profile.arrival.span_s
        share = profile.arrival.empty[str(window)] / (profile.arrival.span_s // window)
        assert np.mean(empty) == pytest.approx(share, abs=0.03)


def test_the_cv_of_a_profile_is_the_root_of_its_finest_dispersion() -> None:
    assert gap_cv(CURVED, Arrivals(requests=1, kind="gamma")) == 3.0**0.5
    assert gap_cv(CURVED, Arrivals(requests=1, kind="gamma", cv=2.0)) == 2.0


Asked = Callable[[], Arrivals]


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (Arrivals(), "Say either --requests N or --hours H: one of them ends the workload."),
        (
            Arrivals(requests=1, seconds=1.0),
            "Say either --requests N or --hours H: one of them ends the workload.",
        ),
        (
            Arrivals(seconds=-1.0),
            "--hours is -1 and must be more than 0; give a positive number.",
        ),
        (
            Arrivals(requests=1, rate=inf),
            "--rate is inf and must be more than 0; give a positive number.",
        ),
        (
            Arrivals(requests=1, rate=1e9),
            (
                "--rate is 1e+09, and the profile's own rate curve is drawn up to 100,000 requests a "
                "second; lower it, or say --arrivals poisson."
            ),
        ),
        (
            Arrivals(requests=1, cv=2.0),
            (
                "--cv says how uneven gamma and Weibull gaps are, and --arrivals is profile; leave --cv "
                "out, or say --arrivals gamma."
            ),
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(asked: Arrivals, sentence: str) -> None:
    with pytest.raises(BadInput) as refusal:
        check(asked)
    assert str(refusal.value) == sentence


def test_an_unknown_process_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownName) as refusal:
        check(Arrivals(requests=1, kind="poison"))
    assert refusal.value.nearest[0] == "poisson"


def test_a_profile_without_times_asks_for_a_rate() -> None:
    timeless = replace(CURVED, arrival=Arrival())
    with pytest.raises(CannotKnow) as refusal:
        times(timeless, Arrivals(requests=5))
    assert str(refusal.value) == (
        "The profile has no arrival times, so it has no rate curve to follow; say --arrivals poisson "
        "--rate REQUESTS_PER_SECOND."
    )
    with pytest.raises(CannotKnow, match="so it has no rate; say --rate"):
        times(timeless, Arrivals(requests=5, kind="poisson"))
    with pytest.raises(CannotKnow, match="which --arrivals gamma needs; say --cv"):
        times(timeless, Arrivals(requests=5, kind="gamma", rate=1.0))
    assert len(times(timeless, Arrivals(requests=5, kind="poisson", rate=1.0))) == 5
