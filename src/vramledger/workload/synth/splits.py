"""How the requests of a window fall into its parts: a lot with two parameters, fitted to a profile.

Requests come in bursts of b: each of the r parts of a window with N requests is active with probability
1 - exp(-N / (r b)), at least one of them is. The active parts share the N requests as
Dirichlet-multinomial counts with parameter c each. With k active parts the expected sum of squared
shares is (1 + c) / (1 + k c), and an active part stays empty with the probability of a beta-binomial 0:

    Gamma((k - 1) c + N) Gamma(k c) / (Gamma((k - 1) c) Gamma(k c + N))

(Johnson, Kotz, Balakrishnan, Discrete Multivariate Distributions, 1997, chapter 35). The variance of
the parts' counts fixes c for a given b; the share of empty parts fixes b. Counts more even than a lot's
are made by handing out a share of the requests in equal parts before the lot: the same share in every
window, or all in some windows and none in others.
"""

from collections.abc import Callable
from math import comb, inf
from typing import TYPE_CHECKING, Final

from vramledger.frozen import frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LEAST: Final = 1e-6  # of c
_MOST: Final = 1e6
_EVEN_FITTED: Final = 4_000  # windows drawn where no formula has their parts
_BURSTS: Final = (-3.0, 5.0)  # of log10 b: from all parts active to one alone


@frozen
class Split:
    """A window's cut into equal parts."""

    parts: int
    burst: float = 0.0  # b; 0: all parts are active
    concentration: float = inf  # c; inf: active parts are alike
    even_share: float = 0.0  # of the requests, handed out in equal parts
    mixed: float = 0.0  # share of windows that are handed out in equal parts whole or not at all


@frozen
class _Windows:
    """The counts of windows to be cut, each once, with how often it comes."""

    requests: "NDArray[np.int64]"
    times: "NDArray[np.int64]"
    parts: int

    def active(self, burst: float) -> "NDArray[np.float64]":
        """Probability of 1, 2, ... active parts; shape (counts, parts)."""
        import numpy as np

        each = active_share(self.requests, self.parts, burst)[:, None]
        k = np.arange(1, self.parts + 1)
        ways = np.array([comb(self.parts, int(n)) for n in k], float)
        found = ways * each**k * (1 - each) ** (self.parts - k)
        found[:, 0] += (1 - each[:, 0]) ** self.parts
        return found

    def together(self, active: "NDArray[np.float64]", concentration: float) -> float:
        """The share of pairs of a window's requests that fall into one part."""
        import numpy as np

        k = np.arange(1, self.parts + 1)
        squares = active @ ((1 + concentration) / (1 + k * concentration))
        pairs = self.requests * (self.requests - 1.0) * self.times
        return float(squares @ pairs / pairs.sum())

    def empty(self, split: Split) -> float:
        """The expected share of empty parts."""
        import numpy as np

        active = self.active(split.burst)
        share = np.zeros(len(self.requests))
        for k in range(1, self.parts + 1):
            zero = _zero(self.requests, k, split.concentration)
            share += active[:, k - 1] * (1 - k / self.parts * (1 - zero))
        share[self.requests == 0] = 1.0
        return float(share @ self.times / self.times.sum())


def active_share(requests: "NDArray[np.int64]", parts: int, burst: float) -> "NDArray[np.float64]":
    """The probability that a part of a window with so many requests is active."""
    import numpy as np

    if burst == 0:
        return np.ones(len(requests))
    found: NDArray[np.float64] = -np.expm1(-requests / (parts * burst))
    return found


def fitted(counts: "NDArray[np.int64]", parts: int, variance: float, empty: float | None) -> Split:
    """The split of windows with these counts whose parts have this variance and share of empty ones.

    Where no split has both, the variance is kept.
    """
    import numpy as np

    mean, square = float(counts.mean()), float((counts.astype(float) ** 2).mean())
    pairs = square - mean
    if mean <= 0 or pairs <= 0:
        return Split(parts)
    together = ((variance + (mean / parts) ** 2) * parts - mean) / pairs
    if together <= 1 / parts:
        return _more_even(counts, parts, variance, empty)
    if together >= 1:
        return Split(parts, concentration=_LEAST)
    windows = _Windows(*np.unique(counts, return_counts=True), parts)
    return _of_empty(windows, together, empty)


def _more_even(
    counts: "NDArray[np.int64]", parts: int, variance: float, empty: float | None
) -> Split:
    """Of the windows more even than a lot's, as many all or nothing as bring the empty parts.

    Whole parts leave a remainder to the lot, for which there is no formula: draws of a seed of their own
    are measured.
    """
    import numpy as np

    windows = np.resize(counts, max(_EVEN_FITTED, min(len(counts), 4 * _EVEN_FITTED)))

    def drawn(split: Split) -> "NDArray[np.int64]":
        return cut(windows, split, np.random.Generator(np.random.PCG64(0)))

    def of_mixed(mixed: float) -> Split:
        def split(share: float) -> Split:
            return Split(parts, even_share=share, mixed=mixed)

        return split(_halved(lambda share: drawn(split(share)).var() > variance, 12))

    def too_few_empty(mixed: float) -> bool:
        return float((drawn(of_mixed(mixed)) == 0).mean()) < (empty or 0.0)

    if not too_few_empty(0.0):
        return of_mixed(0.0)
    return of_mixed(_halved(too_few_empty, 7))


def _halved(too_low: Callable[[float], bool], times: int) -> float:
    """The place between 0 and 1 up to which it is too low, after so many halvings."""
    low, high = 0.0, 1.0
    for _ in range(times):
        middle = (low + high) / 2
        low, high = (middle, high) if too_low(middle) else (low, middle)
    return (low + high) / 2


def _of_empty(windows: _Windows, together: float, empty: float | None) -> Split:
    from scipy.optimize import brentq

    def split(burst: float) -> Split:
        return Split(windows.parts, burst, _concentration(windows, burst, together))

    def excess(log_burst: float) -> float:
        return windows.empty(split(10**log_burst)) - (empty or 0.0)

    if empty is None or windows.empty(split(0.0)) >= empty:
        return split(0.0)
    low, high = _BURSTS[0], _longest_burst(windows, together)
    if excess(high) <= 0:
        return split(10**high)
    return split(10 ** float(brentq(excess, low, high, xtol=1e-3)))


def _concentration(windows: _Windows, burst: float, together: float) -> float:
    from scipy.optimize import brentq

    active = windows.active(burst)
    if windows.together(active, _MOST) >= together:
        return inf
    if windows.together(active, _LEAST) <= together:
        return _LEAST
    found = brentq(lambda at: windows.together(active, 10**at) - together, -6.0, 6.0, xtol=1e-6)
    return float(10**found)


def _longest_burst(windows: _Windows, together: float) -> float:
    """log10 of the b under which alike active parts alone bring the pairs together."""
    from scipy.optimize import brentq

    def excess(log_burst: float) -> float:
        return windows.together(windows.active(10**log_burst), _MOST) - together

    return float(brentq(excess, *_BURSTS, xtol=1e-3)) if excess(_BURSTS[1]) > 0 else _BURSTS[1]


def _zero(values: "NDArray[np.int64]", active: int, concentration: float) -> "NDArray[np.float64]":
    """The probability that one of so many active parts gets none of a window's requests."""
    import numpy as np
    from scipy.special import gammaln

    if active == 1:
        return np.where(values == 0, 1.0, 0.0)
    if concentration == inf:
        found: NDArray[np.float64] = (1 - 1 / active) ** values.astype(float)
        return found
    others, every = (active - 1) * concentration, active * concentration
    log = gammaln(others + values) + gammaln(every) - gammaln(others) - gammaln(every + values)
    exact: NDArray[np.float64] = np.exp(log)
    return exact


def cut(
    counts: "NDArray[np.int64]", split: Split, rng: "np.random.Generator"
) -> "NDArray[np.int64]":
    """The counts of all parts of all windows, in order."""
    import numpy as np

    handed = _handed(counts, split, rng) if split.even_share else np.zeros_like(counts)
    left = counts - handed * split.parts
    drawn = rng.multinomial(left, _weights(counts, split, rng))
    return (drawn + handed[:, None]).reshape(-1)


def _handed(
    counts: "NDArray[np.int64]", split: Split, rng: "np.random.Generator"
) -> "NDArray[np.int64]":
    """What each part of a window gets before the lot."""
    import numpy as np

    share = np.full(len(counts), split.even_share)
    if split.mixed:
        whole = rng.random(len(counts)) < split.mixed
        share[whole] = rng.random(int(whole.sum())) < split.even_share
    found = np.floor(counts * share / split.parts + rng.random(len(counts)))
    handed: NDArray[np.int64] = np.minimum(found.astype(np.int64), counts // split.parts)
    return handed


def _weights(
    counts: "NDArray[np.int64]", split: Split, rng: "np.random.Generator"
) -> "NDArray[np.float64]":
    """Shares of the parts of each window; shape (windows, parts)."""
    import numpy as np

    shape = (len(counts), split.parts)
    chosen = rng.integers(0, split.parts, len(counts))
    weights = np.ones(shape)
    if split.concentration != inf:
        weights = rng.standard_gamma(split.concentration, shape)
    if split.burst:
        active = active_share(counts, split.parts, split.burst)
        weights = weights * (rng.random(shape) < active[:, None])
    total = weights.sum(axis=1)
    vanished = total < 1e-200  # no part active, or weights too small for a double: one takes all
    weights[vanished] = 0.0
    weights[vanished, chosen[vanished]] = 1.0
    return weights / np.where(vanished, 1.0, total)[:, None]
