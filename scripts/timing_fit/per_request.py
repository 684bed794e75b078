"""Runs with stamps of every request: calibrated on their first third, replayed whole.

What comes after the third is held out. The third ends when a third of the requests has finished; a
third of the time, in which hardly any may have, is tried beside it. Each is fitted from the shipped
model as it is and from models that are faster and slower throughout, as luck in what was believed
before must not decide.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from timing_fit.measured_run import MeasuredRun, meta_files, read_run
from vramledger.calibrate.accuracy import Difference, differences, kv_usage_at
from vramledger.calibrate.host_fit import HostFit, Price, fit_host
from vramledger.calibrate.observed import Observed, third_of_requests, third_of_time
from vramledger.calibrate.prior import Prior, prior_of
from vramledger.calibrate.replay import replay
from vramledger.calibrate.terms import TERMS, Term
from vramledger.errors import VramError
from vramledger.simulate.priced import typical_of
from vramledger.simulate.timing.coefficients import Coefficients

HELD_OUT, WHOLE = "held out", "whole run"
_THIRDS: Final[dict[str, Callable[[Observed], int]]] = {
    "requests": third_of_requests,
    "time": third_of_time,
}
_HELD_TO: Final = "requests"
_BELIEVED: Final = (1.0, 0.7, 1.4)  # factors on what is believed; the first is reported
_LARGEST_MEAN: Final = 0.04
_LARGEST_KV: Final = 0.03


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run by one third. `kv_error` is the mean absolute difference of the pool's use, or None."""

    run: MeasuredRun
    third: str
    fit: HostFit
    by_part: dict[str, dict[str, Difference | None]]
    kv_error: float | None
    worst_start: float  # largest error of a mean over all that was believed before

    @property
    def worst(self) -> float:
        """The largest error of a mean, all that was believed before included."""
        means = [abs(one.mean) for part in self.by_part.values() for one in part.values() if one]
        return max(*means, self.worst_start)


@dataclass(frozen=True, slots=True)
class Runs:
    """What came of a folder: outcomes, and a sentence for each run that has none."""

    outcomes: tuple[Outcome, ...]
    unread: tuple[str, ...]


def calibrated_runs(folder: Path, coefficients: Coefficients) -> Runs:
    """Every run of a folder by every third."""
    outcomes, unread = [], []
    for meta_file in meta_files(folder):
        try:
            run = read_run(meta_file)
            outcomes += [_outcome(run, third, coefficients) for third in _THIRDS]
        except VramError as error:
            unread.append(f"{meta_file.name}: {error}")
    return Runs(tuple(outcomes), tuple(unread))


def _outcome(run: MeasuredRun, third: str, coefficients: Coefficients) -> Outcome:
    until_ns = _THIRDS[third](run.observed)
    believed = _prior(run, coefficients)
    tried = [_tried(run, _scaled(believed, factor), until_ns) for factor in _BELIEVED]
    fit, by_part, kv_error = tried[0]
    means = [
        abs(one.mean)
        for _, parts, _ in tried
        for part in parts.values()
        for one in part.values()
        if one is not None
    ]
    return Outcome(run, third, fit, by_part, kv_error, max(means))


def _prior(run: MeasuredRun, coefficients: Coefficients) -> Prior:
    seen = run.observed
    typical = typical_of(float(seen.input_tokens.mean()), float(seen.output_tokens.mean()))
    return prior_of(run.deployment, coefficients, typical)


def _scaled(prior: Prior, factor: float) -> Prior:
    return replace(
        prior,
        prices={name: price * factor for name, price in prior.prices.items()},
        spreads={name: spread * factor for name, spread in prior.spreads.items()},
    )


def _tried(
    run: MeasuredRun, prior: Prior, until_ns: int
) -> tuple[HostFit, dict[str, dict[str, Difference | None]], float | None]:
    seen = run.observed
    fit = fit_host(run.settings, seen, prior, until_ns, engines=run.engines)
    played = replay(
        run.settings, seen, fit.cost, engines=run.engines, first_step_ns=fit.first_step_ns
    )
    parts = {HELD_OUT: ~seen.finished_by(until_ns), WHOLE: np.ones(len(seen), np.bool_)}
    by_part = {name: dict(differences(seen, played, chosen)) for name, chosen in parts.items()}
    if run.series is None:
        return fit, by_part, None
    used = kv_usage_at(played, run.settings, run.series.moments_ns)
    return fit, by_part, float(np.abs(used - run.series.kv_usage).mean())


def missed_by_runs(runs: Runs) -> Iterator[str]:
    """One sentence for every target that does not hold."""
    yield from runs.unread
    for outcome in (one for one in runs.outcomes if one.third == _HELD_TO):
        name = f"{outcome.run.name}, calibrated on the first third of its {outcome.third}"
        if outcome.worst > _LARGEST_MEAN:
            yield f"{name}: a mean is off by {outcome.worst:.1%}, over {_LARGEST_MEAN:.0%}."
        if outcome.kv_error is not None and outcome.kv_error > _LARGEST_KV:
            yield f"{name}: KV use is off by {outcome.kv_error:.1%}, over {_LARGEST_KV:.0%}."


def section(runs: Runs) -> str:
    """The page's part on these runs, as Markdown."""
    return "\n".join(
        [_HEAD, *_errors(runs.outcomes), "", *_terms(runs.outcomes), *_unread(runs), ""]
    )


_HEAD: Final = """
## After a calibration: runs with stamps of every request

Runs of the validation set of [LLMServingSim](https://github.com/casys-kaist/LLMServingSim) (MIT). The step
cost is fitted to the tokens stamped until a third of the requests had finished, and the whole run is
replayed; beside it, the same for a third of the time. Errors are replayed / measured - 1 in percent,
of the mean and in brackets of p50, p90 and p99; TTFT and E2E count from when the engine took a request in.
*Worst* is the largest error of any mean, also when all that is believed before is 0.7 or 1.4 times
the shipped model; KV is the mean absolute difference over the seconds, in points.
"""


def _errors(outcomes: Sequence[Outcome]) -> list[str]:
    lines = [
        "| run | pool | fitted to | requests | TTFT | TPOT | E2E | worst | KV |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for one in outcomes:
        kv = "" if one.kv_error is None else f"{one.kv_error * 100:.1f}"
        for part, found in one.by_part.items():
            cells = [_cell(difference) for difference in found.values()]
            count = max(each.requests for each in found.values() if each is not None)
            lines.append(
                f"| {one.run.name} | {one.run.pool_from} | first third of {one.third} | {count} {part} | "
                f"{' | '.join(cells)} | {one.worst:.1%} | {kv} |"
            )
    return lines


def _cell(one: Difference | None) -> str:
    if one is None:
        return "none"
    ends = " ".join(f"{100 * end:+.1f}" for end in (one.p50, one.p90, one.p99))
    return f"{100 * one.mean:+.1f} ({ends})"


def _terms(outcomes: Sequence[Outcome]) -> list[str]:
    lines = [
        "Prices, in brackets what was believed before; *b* marks those that the run left at that. Reading",
        "and computing are factors on what the shipped model says of a step's tokens.",
        "",
        f"| run | fitted to | {' | '.join(_titled(term) for term in TERMS)} |",
        f"|---|---|{'---|' * len(TERMS)}",
    ]
    for one in outcomes:
        cells = [_price(price, term) for price, term in zip(one.fit.prices, TERMS, strict=True)]
        lines.append(f"| {one.run.name} | first third of {one.third} | {' | '.join(cells)} |")
    return lines


def _titled(term: Term) -> str:
    return f"`{term.name}`, {term.unit}" if term.unit else f"`{term.name}`"


def _price(price: Price, term: Term) -> str:
    open_mark = "" if price.identified else " *b*"
    return f"{price.value * term.scale:.3g} ({price.believed * term.scale:.3g}){open_mark}"


def _unread(runs: Runs) -> list[str]:
    return (
        ["", "Runs that were not replayed:", "", *(f"- {one}" for one in runs.unread)]
        if runs.unread
        else []
    )
