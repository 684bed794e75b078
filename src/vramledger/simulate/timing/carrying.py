"""How sure a host's calibration is of another deployment, and what of it is evidence there.

A step's time is a sum over the host's terms; its deviation follows from theirs, whose covariance the fit has: two
terms that the run could only tell together are sure together, and unsure where another model, layout or card takes
them in other shares. On another card each term may be off by `HostTerm.apart` for each step of distance, and the
band is never narrower than the shipped model's own there. Formulas: docs/explanation/host-calibration.md.
"""

from collections.abc import Mapping
from math import log, sqrt
from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.frozen import frozen
from vramledger.simulate.timing.arithmetic import plain_peak
from vramledger.simulate.timing.coefficients import Band, Coefficients, Fit
from vramledger.simulate.timing.host import Host, Setting, setting_of
from vramledger.simulate.timing.host_terms import BY_NAME, TERMS, HostTerm, adjusted, spread_of
from vramledger.simulate.timing.step import Batch, Pricer
from vramledger.simulate.timing.work import Work

NINE_OF_TEN: Final = 1.645  # deviations
# A fit's own deviations, times this, held nine of ten of the terms of simulated hosts (docs/explanation/host-calibration.md).
# At home the terms' errors cancel, as it is their sum that was fitted.
APART: Final = 2.85
EVIDENCE: Final = ("measured", "imported")  # origins of runs that say something of a card
HOME: Final = Band(1 / 1.05, 1.05)  # of TPOT, on the deployment that was measured
HOME_FIRST: Final = Band(1 / 1.1, 1.1)  # of TTFT, which queues make more of
_MODEL: Final = 0.1  # deviation: another model of the same kind
_KIND: Final = 0.2  # another kind: dense or a mixture of experts
_NO_EVIDENCE: Final = 0.25  # another engine, release family, precision or backend
_MOVED: Final = 0.05  # of a factor, to see what follows
_CONTEXT: Final = 1000
_DECODES: Final = (1, 32)
_REASONS: Final = {
    "engine": "engine",
    "family": "release family",
    "weights": "weight precision",
    "kv_cache": "KV cache precision",
    "backend": "backend",
}


@frozen
class Carried:
    """`widening` is the power of the home band. `at_home`: this very deployment was measured, and it is evidence."""

    widening: float
    notes: tuple[str, ...]
    at_home: bool


def carried_to(
    deployment: Deployment, work: Work, fit: Fit, shipped: Band, elsewhere: float
) -> Carried:
    """What a calibration is worth for a deployment.

    Args:
        deployment: the target.
        work: what its steps do.
        fit: a calibration; its host is there.
        shipped: the band of the shipped model.
        elsewhere: the power by which that widens there.
    """
    host = fit.host
    if host is None:
        raise ValueError("this fit is no calibration of a host")
    target = setting_of(deployment, peak=work.plain_peak)
    refused = refusals(deployment, fit)
    variance = _variance(host, fit.coefficients, work, target)
    widening = max(
        NINE_OF_TEN * sqrt(variance + bool(refused) * _NO_EVIDENCE**2) / log(HOME.high), 1.0
    )
    if target.gpu != host.setting.gpu:
        least = elsewhere * log(1 / shipped.low) / log(HOME.high)
        widening = max(widening, least)
    home = _is_home(host.setting, target)
    notes = (*_told(host, fit, target, work), *refused, *_narrower(widening, home=home))
    return Carried(widening, notes, at_home=home and not refused)


def not_evidence(measured: Setting, target: Setting) -> tuple[str, ...]:
    """Why a calibration is no evidence there, one sentence each: what differs makes another thing of it."""
    return tuple(
        f"Prediction only, no evidence: the calibration is of {name} {getattr(measured, key)}, "
        f"this is {getattr(target, key)}."
        for key, name in _REASONS.items()
        if getattr(measured, key) != getattr(target, key)
    )


def refusals(deployment: Deployment, fit: Fit | None) -> tuple[str, ...]:
    """The same for a deployment and a fit that may be none of a host."""
    if fit is None or fit.host is None:
        return ()
    target = setting_of(deployment, peak=plain_peak(deployment.accelerator))
    return (*_not_measured(fit.host), *not_evidence(fit.host.setting, target))


def _not_measured(host: Host) -> tuple[str, ...]:
    if host.origin in EVIDENCE:
        return ()
    return (f"Prediction only, no evidence: the calibration is of a {host.origin} run.",)


def _is_home(measured: Setting, target: Setting) -> bool:
    same = ("gpu", "model", "tp", "dp")
    return all(getattr(measured, key) == getattr(target, key) for key in same)


def _distance(measured: Setting, target: Setting) -> float:
    """0 on the same card; else 1, and more by the ratios of bandwidth and peak."""
    if measured.gpu == target.gpu:
        return 0.0
    pairs = (
        (measured.bandwidth_gb_s, target.bandwidth_gb_s),
        (measured.peak_tflops, target.peak_tflops),
    )
    apart = sum(abs(log(a / b)) for a, b in pairs if a > 0 and b > 0)
    return 1.0 + apart + (measured.architecture != target.architecture)


def _variance(host: Host, coefficients: Coefficients, work: Work, target: Setting) -> float:
    """Of the logarithm of a step's time, the most of some steps."""
    distance = _distance(host.setting, target)
    other = host.setting.model != target.model
    kind = host.setting.mixture != target.mixture
    plain = other * _MODEL**2 + kind * _KIND**2
    names, home = tuple(host.terms), _is_home(host.setting, target)
    most = 0.0
    for slope in _slopes(coefficients, host, work):
        known = [slope.get(name, 0.0) for name in names]
        variance = (1.0 if home else APART**2) * sum(
            known[i] * host.covariance[i][j] * known[j]
            for i in range(len(names))
            for j in range(len(names))
        )
        for name, share in slope.items():
            variance += (share * _unknown(BY_NAME[name], host, work, distance)) ** 2
        most = max(most, variance)
    return most + plain


def _unknown(term: HostTerm, host: Host, work: Work, distance: float) -> float:
    """The deviation of a term's factor that the fit does not know of."""
    factor = host.terms[term.name].factor if term.name in host.terms else 1.0
    left_out = 0.0 if term.name in host.terms else spread_of(term, work)
    return sqrt(left_out**2 + (distance * term.apart * factor) ** 2)


def _slopes(coefficients: Coefficients, host: Host, work: Work) -> list[dict[str, float]]:
    """By step: how the logarithm of its time follows each term's factor.

    One decode alone, a batch of them, and a step full of prompts.
    """
    batches = [Batch(count, _CONTEXT) for count in _DECODES]
    batches.append(
        Batch(0, prompt_tokens=work.budget, prompt_context=_CONTEXT, prompts=1),
    )
    base = [Pricer(work, coefficients).seconds(batch) for batch in batches]
    found: list[dict[str, float]] = [{} for _ in batches]
    for term in TERMS:
        factor = host.terms[term.name].factor if term.name in host.terms else 1.0
        moved = Pricer(work, adjusted(coefficients, {term.name: 1 + _MOVED}))
        for slopes, batch, seconds in zip(found, batches, base, strict=True):
            change = (moved.seconds(batch) / seconds - 1) / _MOVED
            slopes[term.name] = change / max(factor, _MOVED)
    return found


def _told(host: Host, fit: Fit, target: Setting, work: Work) -> tuple[str, ...]:
    """Which terms were measured there, and which are carried."""
    setting = host.setting
    used = {name: slope for name, slope in _used(host, fit, work).items() if slope}
    measured = [name for name in used if name in host.terms and host.terms[name].determined]
    rest = [name for name in used if name not in measured]
    where = f"{setting.model} on {setting.tp * setting.dp} x {setting.gpu}"
    here = target.gpu == setting.gpu
    verb = "measured here" if here else "measured there and carried over"
    first = f"Calibrated on {where}, vLLM {setting.version}"
    parts = [f"{verb}: {', '.join(measured) or 'none'}"]
    if rest:
        parts.append(f"not told apart from the shipped model: {', '.join(rest)}")
    return (f"{first}; {'; '.join(parts)}.",)


def _used(host: Host, fit: Fit, work: Work) -> Mapping[str, bool]:
    """Whether a term has a part in the steps of that work."""
    slopes = _slopes(fit.coefficients, host, work)
    return {term.name: any(abs(each[term.name]) > 1e-6 for each in slopes) for term in TERMS}


def _narrower(widening: float, *, home: bool) -> tuple[str, ...]:
    """What an hour on the target would do to the band."""
    if home:
        return ()
    low, high = HOME.low**widening, HOME.high**widening
    hour = (
        f"One hour on this very deployment (vram calibrate) would narrow the step times from {low:.2f} to "
        f"{high:.2f} times these figures to about {HOME.low:.2f} to {HOME.high:.2f}."
    )
    return (hour,)
