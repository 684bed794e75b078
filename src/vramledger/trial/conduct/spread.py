"""A distribution in five figures."""

from typing import TYPE_CHECKING, Any

from vramledger.frozen import frozen

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]


@frozen
class Spread:
    """Percentiles are the least value that the share does not exceed; infinite where that falls among failures.

    None throughout where there is no value.
    """

    mean: float | None = None
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None
    max: float | None = None
    count: int = 0


def spread(values: "Floats") -> Spread:
    """Of all values but NaN."""
    import numpy as np

    told = values[~np.isnan(values)]
    if not len(told):
        return Spread()
    p50, p95, p99 = np.quantile(told, (0.5, 0.95, 0.99), method="inverted_cdf").tolist()
    return Spread(float(told.mean()), p50, p95, p99, float(told.max()), len(told))
