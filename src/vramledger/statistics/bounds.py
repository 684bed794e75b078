"""The bounds of a share that was seen in so many cases."""

from vramledger.frozen import frozen


@frozen
class Bounds:
    """One-sided Clopper-Pearson bounds of a share, each at the confidence."""

    low: float
    high: float


def bounds(kept: float, counted: float, confidence: float) -> Bounds:
    """The bounds of a share of which `kept` of `counted` were seen.

    Both may be effective numbers and no whole ones, as for clustered samples (E. Korn and B. Graubard, Survey Methodology 24,
    1998).
    """
    from scipy.stats import beta

    broken = counted - kept
    low = 0.0 if kept <= 0 else float(beta.ppf(1 - confidence, kept, broken + 1))
    high = 1.0 if broken <= 0 else float(beta.ppf(confidence, kept + 1, broken))
    return Bounds(low, high)
