"""How long a block of neighbours must be so that blocks may be taken as independent.

The length at which the error of a bootstrapped variance is least follows from the autocorrelation (D. N. Politis and H. White,
"Automatic block-length selection for the dependent bootstrap", Econometric Reviews 23, 2004, 53-70, as corrected by A. Patton,
D. N. Politis and H. White, Econometric Reviews 28, 2009, 372-375; the circular bootstrap's). An interval asks for longer blocks than that:
what a block cuts off makes it too narrow without a sign, while the scatter of a few blocks is allowed for by Student's t (Y. Sun,
P. C. B. Phillips and S. Jin, "Optimal bandwidth selection in heteroskedasticity-autocorrelation robust testing", Econometrica 76,
2008, 175-194; E. Lazarus, D. J. Lewis, J. H. Stock and M. W. Watson, Journal of Business and Economic Statistics 36, 2018). So the
length is `_LONGER` times the former, and there are `FEWEST` blocks at least. The package `arch` has the first step too; it
is thirty lines, and its import costs 0.3 s and a table of pandas for two numbers. The tests hold its figures beside ours.
"""

from math import ceil, log10, sqrt
from typing import TYPE_CHECKING, Any, Final

from vramledger.statistics.correlation import autocovariance

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

FEWEST: Final = 8  # blocks, and values without which there are none
_LONGER: Final = 4.0
_QUIET: Final = 5  # correlations in turn that are none


def block_length(values: "Floats") -> int:
    """Values in a block; 1 of few values, or where nothing varies."""
    count = len(values)
    return max(1, min(ceil(_LONGER * least_error_length(values)), count // FEWEST))


def least_error_length(values: "Floats") -> float:
    """The length of Politis and White, 1 at least."""
    import numpy as np

    count = len(values)
    if count < FEWEST:
        return 1.0
    centred = values - values.mean()
    quiet = max(_QUIET, int(log10(count)))
    most = min(ceil(sqrt(count)) + quiet, count // 2 - 1)
    covariance = autocovariance(centred)[: most + 1]
    if covariance[0] <= 0:
        return 1.0
    last = _last_correlated(covariance / covariance[0], count, quiet)
    reach = most if last is None else min(2 * max(last, 1), most)
    lags = np.arange(1, reach + 1)
    taper = np.minimum(1.0, 2 * (1 - lags / reach))
    tapered = taper * covariance[1 : reach + 1]
    spectrum = covariance[0] + 2 * tapered.sum()
    bend = 2 * (lags * tapered).sum()
    if spectrum <= 0:
        return 1.0
    length = (1.5 * (bend / spectrum) ** 2 * count) ** (1 / 3)
    return float(min(max(length, 1.0), ceil(min(3 * sqrt(count), count / 3))))


def _last_correlated(correlation: "Floats", count: int, quiet: int) -> int | None:
    """The lag after which so many in turn are within twice their error; None where none is such."""
    import numpy as np

    small = np.abs(correlation[1:]) < 2 * sqrt(log10(count) / count)
    run = np.convolve(small, np.ones(quiet), "valid")
    found = np.flatnonzero(run == quiet)
    return int(found[0]) if len(found) else None
