"""How much less correlated requests say than independent ones.

Requests that come together fare alike. The variance of the share that keeps a limit is then larger than that of
independent requests by the design effect

    D = 1 + 2 (r1 + r2 + ...),

r the autocorrelation of the indicators in the order of arrival, and ``n`` requests say as much as ``n / D`` independent ones. The sum
is cut where a pair of successive correlations is no longer positive (C. Geyer, Practical Markov Chain Monte Carlo, Statistical
Science 7, 1992, initial positive sequence). Where each entry stands for several events (output gaps of a step), the
entries are sums of what their events are off the mean, and D holds their clustering too.
"""

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    Floats = np.ndarray[Any, np.dtype[np.float64]]

_FEWEST: Final = 8  # entries; fewer tell no correlation


def design_effect(kept: "Floats", events: "Floats | None" = None) -> float:
    """D of indicators (0 or 1) in order of time, 1 at least; `events` is how many each stands for, 1 by default.

    1 where nothing varies.
    """
    weights = np.ones(len(kept)) if events is None else events
    total = float(weights.sum())
    if len(kept) < _FEWEST or not total:
        return 1.0
    share = float((kept * weights).sum()) / total
    independent = share * (1 - share) * total
    if independent <= 0:
        return 1.0
    off = weights * (kept - share)
    return max(1.0, long_run_variance(off) * len(off) / independent)


def long_run_variance(values: "Floats") -> float:
    """The variance of one value plus twice the sum of its covariances with later ones, cut as in Geyer's sequence."""
    covariance = autocovariance(values - values.mean())
    if covariance[0] <= 0:
        return 0.0
    pairs = covariance[: len(covariance) // 2 * 2].reshape(-1, 2).sum(axis=1)
    ends = np.flatnonzero(pairs <= 0)
    last = int(ends[0]) if len(ends) else len(pairs)
    return max(float(2 * pairs[:last].sum() - covariance[0]), 0.0)


def autocovariance(centred: "Floats") -> "Floats":
    """For each lag up to half the length, by Fourier transform: the sum of products over the length."""
    length = len(centred)
    padded = 1 << (2 * length - 1).bit_length()
    spectrum = np.fft.rfft(centred, padded)
    found: Floats = np.fft.irfft(spectrum * np.conj(spectrum), padded)[: max(length // 2, 1)]
    return found / length
