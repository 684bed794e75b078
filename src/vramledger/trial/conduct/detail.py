"""A distribution in all the figures that other tools print."""

from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

SHARES: Final = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)


@frozen
class Detail:
    """`percentiles` is by share, each the least value that the share does not exceed; `std` is of the sample (n - 1), 0 for one value.

    `mode` is the most frequent value, the smallest of several.
    """

    count: int
    total: float
    mean: float
    std: float
    mode: float
    min: float
    max: float
    percentiles: dict[float, float]


def detail(values: "Floats") -> Detail | None:
    """Of all values but NaN; None where there is none."""
    import numpy as np

    told = values[~np.isnan(values)]
    if not len(told):
        return None
    found, counts = np.unique(told, return_counts=True)
    quantiles = np.quantile(told, SHARES, method="inverted_cdf").tolist()
    return Detail(
        count=len(told),
        total=float(told.sum()),
        mean=float(told.mean()),
        std=float(told.std(ddof=1)) if len(told) > 1 else 0.0,
        mode=float(found[counts.argmax()]),
        min=float(found[0]),
        max=float(found[-1]),
        percentiles=dict(zip(SHARES, quantiles, strict=True)),
    )
