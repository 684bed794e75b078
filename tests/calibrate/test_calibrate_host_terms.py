"""A calibration in terms of the host: what it says, where it holds, and that it comes back."""

from pathlib import Path

import numpy as np
import pytest

from hosts import asked, engine
from timing_fit.measured_run import MeasuredRun, meta_files, read_run
from timing_questions import deployed
from vramledger.calibrate.accuracy import Difference, differences, replayed_stamps
from vramledger.calibrate.calibration import host_of
from vramledger.calibrate.host_fit import HostFit, Load, fit_loads
from vramledger.calibrate.host_prior import HostPrior, host_prior
from vramledger.calibrate.levelled import levelled
from vramledger.calibrate.quick import Timed, fit_quick
from vramledger.calibrate.replay import replay
from vramledger.errors import BadInput
from vramledger.simulate.engines import Engine
from vramledger.simulate.pace import at_pace, paces_of
from vramledger.simulate.priced import step_cost, typical_of
from vramledger.simulate.step_cost import StepCost
from vramledger.simulate.timing.bands import region
from vramledger.simulate.timing.calibration import fit_of_host
from vramledger.simulate.timing.coefficients import Fit, shipped
from vramledger.simulate.timing.host import setting_of
from vramledger.simulate.timing.work import work_of

_FLAGS = "--max-num-seqs 64 --max-num-batched-tokens 2048"
# on the 4090 one stream, a step of 2,048 prompt tokens, 32 streams; on the PRO 6000 the same with 128
_BY_HAND = {
    "RTX4090 Llama-3.1-8B": (
        Timed(0.0154, 1, 600),
        Timed(0.200, prompt_tokens=2048),
        Timed(0.02543, 32, 1280),
    ),
    "RTXPRO6000 Qwen3-32B": (
        Timed(0.0252, 1, 1102),
        Timed(0.354, 1, 1000, prompt_tokens=2047),
        Timed(0.05937, 128, 1102),
    ),
}


def _prior(run: MeasuredRun) -> HostPrior:
    seen = run.observed
    typical = typical_of(float(seen.input_tokens.mean()), float(seen.output_tokens.mean()))
    return host_prior(run.deployment, shipped().coefficients, typical, client=False)


def _as_fit(run: MeasuredRun, prior: HostPrior, fit: HostFit) -> Fit:
    setting = setting_of(run.deployment, peak=prior.work.plain_peak)
    prices = {price.name: price.value for price in fit.prices}
    return fit_of_host(host_of(fit, setting, "measured"), prior.host(prices), "", "a calibration")


def _means(found: dict[str, Difference | None]) -> dict[str, float]:
    return {name: one.mean for name, one in found.items() if one is not None}


def _every(run: MeasuredRun) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    return np.ones(len(run.observed), bool)


def test_three_hand_measurements_reproduce_measured_runs_within_four_percent(
    shared_data: Path,
) -> None:
    for file in meta_files(shared_data / "perf"):
        run = read_run(file)
        fit = fit_quick(_prior(run), _BY_HAND[run.name])
        again = replay(run.settings, run.observed, fit.cost, engines=run.engines)
        found = _means(dict(differences(run.observed, again, _every(run))))
        assert max(map(abs, found.values())) < 0.04, (run.name, found)


def test_a_calibration_carried_to_another_host_holds_its_truth_within_the_band(
    shared_data: Path,
) -> None:
    runs = [read_run(file) for file in meta_files(shared_data / "perf")]
    for there in runs:
        prior = _prior(there)
        load = Load(there.settings, there.observed, there.observed.end_ns, there.engines)
        fit = _as_fit(there, prior, fit_loads((load,), prior))
        for here in runs:
            home = here is there
            work, prior_here = work_of(here.deployment), _prior(here)
            around = region(here.deployment, work, fit)
            assert (str(around.basis) == "calibrated") is home
            assert (
                any("One hour on this very deployment" in note for note in around.notes) is not home
            )
            paces = paces_of(fit, around)
            cost = step_cost(
                work, fit.coefficients, prior_here.typical, here.deployment.max_num_seqs.value
            )
            fast, slow = (
                _means(dict(differences(here.observed, _played(here, cost, pace), _every(here))))
                for pace in (paces.fast, paces.slow)
            )
            assert max(fast.values()) < 0 < min(slow.values()), (there.name, here.name)
            assert (paces.slow < 1.25) is home


def _played(run: MeasuredRun, cost: StepCost, pace: float) -> tuple[Engine, ...]:
    return replay(run.settings, run.observed, at_pace(cost, pace), engines=run.engines)


def test_terms_of_simulated_hosts_come_back_inside_their_intervals() -> None:
    deployment = deployed(_FLAGS, version="0.19.0")
    prior = host_prior(deployment, shipped().coefficients, typical_of(775, 200), client=False)
    truth = prior.prices | {"bandwidth": 1.25, "compute": 1.4, "overhead": 1.3, "cache_read": 1.2}
    inside = []
    for rate_per_s in (3.0, 40.0):
        load = asked(rate_per_s)
        run = replayed_stamps(load, replay(engine(), load, prior.cost(truth)))
        loads = (Load(engine(), run, run.end_ns),)
        level = levelled(prior, loads)
        fit = fit_loads(loads, level.prior, level.start)
        host = host_of(fit, setting_of(deployment, peak=prior.work.plain_peak), "simulated")
        inside += [term.low <= truth[name] <= term.high for name, term in host.terms.items()]
        again = replay(engine(), run, fit.cost)
        found = _means(dict(differences(run, again, np.ones(len(run), bool))))
        assert max(map(abs, found.values())) < 0.04
    assert np.mean(inside) >= 0.8  # 85 % to 88 % of many hosts, and these are 14 terms


def test_a_host_ten_times_slower_than_the_shipped_model_is_found() -> None:
    deployment = deployed(_FLAGS, version="0.19.0")
    prior = host_prior(deployment, shipped().coefficients, typical_of(775, 200), client=False)
    truth = {name: 10 * price for name, price in prior.prices.items()}
    load = asked(3.0)
    run = replayed_stamps(load, replay(engine(), load, prior.cost(truth)))
    level = levelled(prior, (Load(engine(), run, run.end_ns),))
    assert level.start["bandwidth"] == pytest.approx(10, rel=0.05)
    assert level.prior.prices["compute"] == pytest.approx(10, rel=0.05)


def test_three_measurements_tell_their_own_terms_and_leave_others_open() -> None:
    deployment = deployed(_FLAGS, version="0.19.0")
    prior = host_prior(deployment, shipped().coefficients, typical_of(600, 200), client=False)
    truth = prior.prices | {"compute": 1.5}
    cost = prior.cost(truth)
    steps = (Timed(1.0, 1, 600), Timed(1.0, prompt_tokens=2048), Timed(1.0, 64, 700))
    timed = tuple(
        Timed(cost(step.features()) / 1e9, step.decodes, step.context, step.prompt_tokens)
        for step in steps
    )
    fit = fit_quick(prior, timed)
    by_name = {price.name: price for price in fit.prices}
    assert by_name["compute"].value == pytest.approx(1.5, rel=0.03)
    assert by_name["compute"].identified
    assert not by_name["prompt_attention"].identified
    assert fit.error < 0.01


def test_a_time_that_is_none_is_refused() -> None:
    deployment = deployed(_FLAGS, version="0.19.0")
    prior = host_prior(deployment, shipped().coefficients, typical_of(600, 200), client=False)
    with pytest.raises(BadInput) as refused:
        fit_quick(prior, (Timed(float("nan"), 1, 600),))
    assert str(refused.value) == (
        "A measured time is no number of seconds above 0; measure it again."
    )
