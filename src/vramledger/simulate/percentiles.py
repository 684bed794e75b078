"""Percentiles of figures, with infinity for what failed, and of levels over time."""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.frozen import frozen

if TYPE_CHECKING:
    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_SHARES: Final = (0.50, 0.95, 0.99, 1.0)


@frozen
class Percentiles:
    """Infinity where a percentile falls among failures; all None where there is nothing to count."""

    p50: float | None = None
    p95: float | None = None
    p99: float | None = None
    max: float | None = None


def percentiles(values: "Floats") -> Percentiles:
    """Of all values that are numbers; they interpolate linearly."""
    return Percentiles(*(percentile(values, share) for share in _SHARES))


def percentile(values: "Floats", share: float) -> float | None:
    """One percentile; infinite as soon as an infinite value has a part in it."""
    ordered = np.sort(values[~np.isnan(values)])
    if not len(ordered):
        return None
    place = share * (len(ordered) - 1)
    low = int(place)
    part = place - low
    if not part or np.isinf(ordered[low]):
        return float(ordered[low])
    return float(ordered[low] + part * (ordered[low + 1] - ordered[low]))


def weighted(values: "Floats", weights: "Floats") -> Percentiles:
    """The least values that are not exceeded for that share of the weights."""
    return Percentiles(*_at_shares(values, weights, _SHARES))


def weighted_percentile(values: "Floats", weights: "Floats", share: float) -> float | None:
    """One of them; None where nothing has a weight."""
    return _at_shares(values, weights, (share,))[0]


def _at_shares(
    values: "Floats", weights: "Floats", shares: tuple[float, ...]
) -> tuple[float | None, ...]:
    counted = weights > 0
    if not counted.any():
        return (None,) * len(shares)
    known = values[counted]
    order = np.argsort(known)
    upto = np.cumsum(weights[counted][order])
    places = (int(np.searchsorted(upto, share * upto[-1] * (1 - 1e-12))) for share in shares)
    return tuple(float(known[order[place]]) for place in places)
