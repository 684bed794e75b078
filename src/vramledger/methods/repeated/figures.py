"""The figures of repetitions: pooled over all requests, and run by run with an interval."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen
from vramledger.methods.repeated.between import FEWEST, OfRuns, of_runs
from vramledger.methods.repeated.one_run import LATENCIES, OneRun
from vramledger.statistics.estimate import mean_of, percentile_of

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

STATISTICS: Final = {"mean": None, "p50": 0.5, "p95": 0.95, "p99": 0.99}  # name -> share


@frozen
class FigureOfRuns:
    """`pooled` is over the requests of all runs; `runs` has the value of each, None where some run has none or there is one run."""

    name: str
    statistic: str | None
    pooled: float | None
    count: int
    runs: OfRuns | None


def figures_of(runs: Sequence[OneRun]) -> tuple[FigureOfRuns, ...]:
    """Every latency in its mean and percentiles, the share that ended as asked, and rates."""
    latencies = [_latency(runs, name, statistic) for name in LATENCIES for statistic in STATISTICS]
    rates = [_rate(runs, name) for name in ("requests_per_s", "output_tokens_per_s")]
    return (*latencies, _success(runs), *rates)


def value_of(values: "Floats", share: float | None) -> float | None:
    """The mean (a share of None), or the least value that the share does not exceed; NaN left out."""
    import numpy as np

    told = values[~np.isnan(values)]
    if not len(told):
        return None
    return float(told.mean() if share is None else np.quantile(told, share, method="inverted_cdf"))


def _latency(runs: Sequence[OneRun], name: str, statistic: str) -> FigureOfRuns:
    import numpy as np

    share = STATISTICS[statistic]
    parts = [one.values[name] for one in runs]
    whole = np.concatenate(parts)

    return FigureOfRuns(
        name,
        statistic,
        value_of(whole, share),
        int((~np.isnan(whole)).sum()),
        _of(parts, share),
    )


def _success(runs: Sequence[OneRun]) -> FigureOfRuns:
    import numpy as np

    parts = [one.ok for one in runs]
    whole = np.concatenate(parts)
    found = _of(parts, None)
    return FigureOfRuns("ok_share", None, value_of(whole, None), len(whole), found)


def _rate(runs: Sequence[OneRun], name: str) -> FigureOfRuns:
    told = [getattr(one.summary.rates, name) for one in runs]
    seconds = [one.summary.rates.seconds or 0.0 for one in runs]
    if None in told or not sum(seconds):
        return FigureOfRuns(name, None, None, 0, None)
    whole = sum(rate * length for rate, length in zip(told, seconds, strict=True)) / sum(seconds)
    of = of_runs(told) if len(told) >= FEWEST else None
    return FigureOfRuns(name, None, whole, len(told), of)


def _of(
    parts: "Sequence[Floats]",
    share: float | None,
) -> OfRuns | None:
    """The value of each run with its own error."""
    found = [value_of(each, share) for each in parts]
    told = [each for each in found if each is not None]
    if len(told) < max(FEWEST, len(parts)):
        return None
    errors = [_error(each, share) for each in parts]
    known = [each for each in errors if each is not None]
    return of_runs(told, known if len(known) == len(errors) else None)


def _error(values: "Floats", share: float | None) -> float | None:
    """The standard error of one run by itself; None where there is none."""
    found = mean_of(values) if share is None else percentile_of(values, share)
    return None if found is None else found.error
