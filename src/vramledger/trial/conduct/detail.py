"""A distribution in all the figures that other tools print."""

from typing import TYPE_CHECKING, Any, Final, Literal

from vramledger.frozen import frozen

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

SHARES: Final = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)


@frozen
class Detail:
    """`std` is of these values themselves (n, not n - 1), `mode` the most frequent value, the smallest of several.

    `total` is of what `count` counts, each at the mean.
    """

    count: int
    total: float
    mean: float
    std: float
    mode: float
    min: float
    max: float
    percentiles: dict[float, float]


def detail(
    values: "Floats", method: Literal["inverted_cdf", "linear"] = "inverted_cdf"
) -> Detail | None:
    """Of all values but NaN; None where there is none.

    A percentile is the least value that the share does not exceed, or by `linear` one between two values.
    """
    import numpy as np

    told = values[~np.isnan(values)]
    if not len(told):
        return None
    found, counts = np.unique(told, return_counts=True)
    quantiles = np.quantile(told, SHARES, method=method).tolist()
    return Detail(
        count=len(told),
        total=float(told.sum()),
        mean=float(told.mean()),
        std=float(told.std()),
        mode=float(found[counts.argmax()]),
        min=float(found[0]),
        max=float(found[-1]),
        percentiles=dict(zip(SHARES, quantiles, strict=True)),
    )


def weighted_detail(values: "Floats", weights: "Floats", count: int | None = None) -> Detail | None:
    """Of values that count as much as their weights; NaN and weights of 0 count nothing. None where nothing is left.

    `count` is the sum of the weights, rounded, unless it is given.
    """
    import numpy as np

    told = ~np.isnan(values) & (weights > 0)
    if not told.any():
        return None
    found, places = np.unique(values[told], return_inverse=True)
    shares = np.bincount(places, weights[told]) / weights[told].sum()
    mean = float((found * shares).sum())
    at = np.searchsorted(np.cumsum(shares), SHARES).clip(max=len(found) - 1)
    number = round(float(weights[told].sum())) if count is None else count
    return Detail(
        count=number,
        total=mean * number,
        mean=mean,
        std=float(np.sqrt(((found - mean) ** 2 * shares).sum())),
        mode=float(found[shares.argmax()]),
        min=float(found[0]),
        max=float(found[-1]),
        percentiles=dict(zip(SHARES, found[at].tolist(), strict=True)),
    )
