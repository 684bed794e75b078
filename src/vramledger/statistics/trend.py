"""A slope over time with an error that allows for neighbours being alike.

The errors of a least-squares line are alike in neighbours, so their first-order correlation is found, corrected for the bias
that a fitted line gives it (by (2 + 4 r) / n, M. G. Kendall, Note on Bias in the Estimation of Autocorrelation, Biometrika 41,
1954), and taken out (generalised least squares, G. W. Prais and C. B. Winsten's way, by statsmodels). What is left gets the error of
W. K. Newey and K. D. West (Econometrica 55, 1987) with S = 1.3 sqrt(n) neighbours, held against Student's t with 3 n / (2 S) degrees of
freedom (E. Lazarus, D. J. Lewis, J. H. Stock and M. W. Watson, HAR Inference, Journal of Business and Economic Statistics 36, 2018).
The larger of that error and the plain one counts. Of series without a trend, first-order correlation 0 to 0.9, one in a
hundred is to be called rising at a level of 0.01: it is 0 to 5 of a hundred (docs/explanation/ramp.md has the figures).
"""

from math import ceil, sqrt
from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

FEWEST: Final = 12  # values: below, an error of a slope is none
_TRUNCATION: Final = 1.3
_MOST_ALIKE: Final = 0.99
_ROUNDING: Final = 1e-24


@frozen
class Trend:
    """A slope per second with the two-sided interval of `level`; `p_rises` is the one-sided p-value of "it does not rise".

    `mean` is of the values; `span_s` from the first to the last.
    """

    slope: float
    low: float
    high: float
    level: float
    p_rises: float
    mean: float
    span_s: float
    count: int

    @property
    def grown(self) -> float:
        """What the slope comes to over the span."""
        return self.slope * self.span_s


@frozen
class _Slope:
    slope: float
    error: float


def trend(t_s: "Floats", values: "Floats", level: float = 0.95) -> Trend | None:
    """The slope of values over rising times; None where there are fewer than `FEWEST`, or no time passes."""
    import numpy as np
    from scipy import stats

    told = np.isfinite(values) & np.isfinite(t_s)
    t, y = t_s[told], values[told]
    if len(t) < FEWEST or not float(np.ptp(t)) > 0:
        return None
    found = _slope(t, y)
    slope, error = found.slope, found.error
    freedom = 1.5 * len(t) / _lags(len(t))
    reach = float(stats.t.ppf((1 + level) / 2, freedom)) * error
    p_rises = float(stats.t.sf(slope / error, freedom)) if error > 0 else float(slope <= 0)
    return Trend(
        slope=slope,
        low=slope - reach,
        high=slope + reach,
        level=level,
        p_rises=p_rises,
        mean=float(y.mean()),
        span_s=float(np.ptp(t)),
        count=len(t),
    )


def _slope(t: "Floats", y: "Floats") -> "_Slope":
    """Of values that are scaled to 1, so that rounding can be told from scatter."""
    import numpy as np
    from scipy.linalg import toeplitz
    from statsmodels.api import GLS, OLS, add_constant

    span, size, count = float(np.ptp(t)), float(np.ptp(y)), len(t)
    if size == 0:
        return _Slope(0.0, 0.0)
    design = add_constant((t - t.mean()) / span)
    scaled = (y - y.mean()) / size
    left = OLS(scaled, design).fit().resid
    squares = float(left @ left)
    if squares < _ROUNDING * count:  # a line, exactly
        return _Slope(float(OLS(scaled, design).fit().params[1]) * size / span, 0.0)
    alike = float(left[1:] @ left[:-1]) / squares
    alike = min(max((count * alike + 2) / (count - 4), 0.0), _MOST_ALIKE)
    model = GLS(scaled, design, sigma=toeplitz(alike ** np.arange(count)))
    lags = {"maxlags": _lags(count), "use_correction": True}
    plain, robust = model.fit(), model.fit(cov_type="HAC", cov_kwds=lags)
    error = max(float(plain.bse[1]), float(robust.bse[1]))
    return _Slope(float(plain.params[1]) * size / span, error * size / span)


def _lags(count: int) -> int:
    return ceil(_TRUNCATION * sqrt(count))
