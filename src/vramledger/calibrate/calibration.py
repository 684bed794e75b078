"""Runs to a host's coefficients: what `vram calibrate RUN...` does."""

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Final

import numpy as np

from vramledger.calibrate.hand_measured import HandMeasured
from vramledger.calibrate.host_fit import HostFit, Load, fit_loads
from vramledger.calibrate.host_prior import FIRST_STEP, HostPrior, host_prior
from vramledger.calibrate.levelled import levelled
from vramledger.calibrate.quick import fit_quick
from vramledger.calibrate.recorded import Recorded
from vramledger.calibrate.reproduced import Reproduced, reproduced
from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.simulate.priced import Typical, typical_of
from vramledger.simulate.timing.carrying import APART, NINE_OF_TEN
from vramledger.simulate.timing.coefficients import Coefficients, shipped
from vramledger.simulate.timing.host import Host, Setting, Term, setting_of
from vramledger.simulate.timing.host_terms import BY_NAME, lead_of, told
from vramledger.simulate.timing.work import Work

_ENOUGH: Final = 3000  # requests
_FORM: Final = 0.03  # of a factor: a host is no multiple of the shipped model
_BY_HAND: Final = (
    "Three measurements by hand, met within {error:.1%} (median): how well a load is reproduced says a run (vram trial "
    "run, then vram calibrate RUN)."
)
_LEAST: Final = 0.1  # of a factor that divides
_FEW_CACHED: Final = 0.01  # prompt tokens out of the prefix cache that matter to nobody
_SPOILT: Final = 0.02  # requests without an answer, likewise
_BY_ORIGIN: Final = ("simulated", "rehearsed", "imported", "measured")  # the least sure first


@frozen
class Told:
    """A term as people read it: the lead coefficient in its unit, with the interval that holds nine of ten."""

    value: float
    low: float
    high: float
    unit: str
    meaning: str
    coefficient: str
    term: Term


@frozen
class Source:
    """A run that was used."""

    name: str
    origin: str
    sha256: str
    driver: str | None
    requests: int
    pool_from: str
    reproduced: Reproduced


@frozen
class Calibration:
    """What runs taught of a host."""

    host: Host
    coefficients: Coefficients
    terms: Mapping[str, Told]
    sources: tuple[Source, ...]
    notes: tuple[str, ...]


def calibrate(runs: Sequence[Recorded]) -> Calibration:
    """Fit a host's terms to runs of one deployment.

    Raises:
        BadInput: the runs are of different deployments.
        CannotKnow: hardly anything is stamped, or the deployment's steps are not calibrated.
    """
    _refuse_mixed(runs)
    prior = _prior(runs)
    loads = [_load(run) for run in runs]
    level = levelled(prior, loads)
    prior, fit = level.prior, fit_loads(loads, level.prior, level.start)
    prices = {price.name: price.value for price in fit.prices}
    host = host_of(fit, setting_of_run(runs[0], prior.work), _origin(runs))
    return Calibration(
        host=host,
        coefficients=prior.host(prices),
        terms=told_terms(host, shipped().coefficients, prior.work),
        sources=tuple(_source(run, reproduced(run, fit, prior)) for run in runs),
        notes=tuple(_notes(runs)),
    )


def calibrate_quick(measured: HandMeasured) -> Calibration:
    """Fit a host's terms to three measurements by hand.

    Raises:
        CannotKnow: a deployment whose steps are not calibrated.
    """
    contexts = [step.context for step in measured.steps]
    typical = Typical(min(contexts) / 2, max(contexts) + 1)
    prior = host_prior(measured.deployment, shipped().coefficients, typical, client=True)
    fit = fit_quick(prior, measured.steps, measured.fronts)
    prices = {price.name: price.value for price in fit.prices}
    setting = setting_of(measured.deployment, peak=prior.work.plain_peak)
    host = host_of(fit, setting, "rehearsed" if measured.rehearsed else "measured")
    return Calibration(
        host=host,
        coefficients=prior.host(prices),
        terms=told_terms(host, shipped().coefficients, prior.work),
        sources=(),
        notes=(_BY_HAND.format(error=fit.error),),
    )


def host_of(fit: HostFit, setting: Setting, origin: str) -> Host:
    """The fit without what is no part of a host: when its engine woke up."""
    kept = [i for i, price in enumerate(fit.prices) if price.name != FIRST_STEP]
    covariance = [list(row) for row in fit.covariance]
    for place in kept:
        covariance[place][place] += (_FORM * fit.prices[place].value) ** 2
    terms = {}
    for place in kept:
        price, deviation = fit.prices[place], sqrt(covariance[place][place])
        reach = NINE_OF_TEN * APART * deviation
        low = max(price.value - reach, 0.0)
        if BY_NAME[price.name].shares:
            low = max(low, min(_LEAST, price.value))
        terms[price.name] = Term(price.value, low, price.value + reach, price.identified)
    rows = tuple(tuple(covariance[i][j] for j in kept) for i in kept)
    return Host(setting, terms, rows, origin)


def told_terms(host: Host, base: Coefficients, work: Work) -> dict[str, Told]:
    """The terms of a host in the units of people."""
    found = {}
    for name, term in host.terms.items():
        known = BY_NAME[name]
        value, *ends = (told(known, base, work, f) for f in (term.factor, term.low, term.high))
        found[name] = Told(
            value, min(ends), max(ends), known.unit, known.meaning, lead_of(known, work), term
        )
    return found


def setting_of_run(run: Recorded, work: Work) -> Setting:
    """What was measured."""
    return setting_of(run.deployment, peak=work.plain_peak)


def _prior(runs: Sequence[Recorded]) -> HostPrior:
    return host_prior(
        runs[0].deployment, shipped().coefficients, typical_of_runs(runs), client=True
    )


def typical_of_runs(runs: Sequence[Recorded]) -> Typical:
    """The contexts of the requests of all runs."""
    inputs = np.concatenate([run.stamps.observed.input_tokens for run in runs])
    outputs = np.concatenate([run.stamps.observed.output_tokens for run in runs])
    return typical_of(float(inputs.mean()), float(outputs.mean()))


def _load(run: Recorded) -> Load:
    """Its first requests, until the next one would have come: more tell the terms no better."""
    observed, until = run.stamps.observed, run.stamps.observed.end_ns
    if len(observed) > _ENOUGH:
        until = int(observed.arrival_ns[_ENOUGH])
        observed = observed.first(_ENOUGH)
    return Load(run.settings, observed, until, run.deployment.layout.dp)


def _source(run: Recorded, found: Reproduced) -> Source:
    return Source(
        name=run.path.name,
        origin=run.origin,
        sha256=run.sha256,
        driver=run.driver,
        requests=len(run.stamps.observed),
        pool_from=run.pool_from,
        reproduced=found,
    )


def _origin(runs: Sequence[Recorded]) -> str:
    """The least sure of them."""
    return next(origin for origin in _BY_ORIGIN if any(run.origin == origin for run in runs))


def _refuse_mixed(runs: Sequence[Recorded]) -> None:
    first = runs[0]
    for other in runs[1:]:
        alike = (
            other.deployment.accelerator.name == first.deployment.accelerator.name
            and other.deployment.model.id == first.deployment.model.id
            and other.deployment.version == first.deployment.version
            and other.deployment.layout == first.deployment.layout
            and other.settings.token_budget == first.settings.token_budget
            and other.settings.max_num_seqs == first.settings.max_num_seqs
        )
        if not alike:
            raise BadInput(
                f"{first.path} and {other.path} are runs of different deployments, and a calibration is fitted to one; "
                "calibrate on them one by one."
            )


def _notes(runs: Sequence[Recorded]) -> list[str]:
    found = []
    for run in runs:
        stamps, name = run.stamps, run.path.name
        if stamps.left_out > _SPOILT * len(stamps.observed):
            found.append(
                f"{name}: {stamps.left_out} requests were not answered in full and are left out of the replay, though the "
                "server worked on them."
            )
        if stamps.cached > _FEW_CACHED:
            found.append(
                f"{name}: the prefix cache had {stamps.cached:.0%} of the prompt tokens; the replay computes them, so "
                "the terms of prompts are told too cheap."
            )
        if run.origin in ("simulated", "rehearsed"):
            found.append(
                f"{name} is a {run.origin} run: this calibrates the simulator on itself and is no evidence of any card."
            )
    return found
