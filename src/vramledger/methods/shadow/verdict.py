"""What the figures come to: against a threshold, or against what one server differs from itself."""

from math import ceil
from typing import Final

from vramledger.frozen import frozen
from vramledger.methods.shadow.figures import Figures

PASS: Final = "PASS"  # noqa: S105 - a verdict
FAIL: Final = "FAIL"
INCONCLUSIVE: Final = "INCONCLUSIVE"
FEWEST: Final = 20  # answered pairs
FEWEST_REPEATED: Final = 10
_LEVEL: Final = 0.025  # of a one-sided test
_UNDECIDED: Final = 0.2  # chances between the two tell neither
_MOST: Final = 10_000_000


@frozen
class Verdict:
    """`judged_by` is "min_agreement" or "noise"; `requests_needed` would decide at the figures seen, where more would."""

    verdict: str
    judged_by: str
    reason: str
    threshold: float | None = None
    requests_needed: int | None = None


def verdict_on(found: Figures, noise: Figures, threshold: float | None) -> Verdict:
    """Against the threshold where there is one, else whether A and B differ more than A from itself."""
    if found.token_agreement.value is None:
        by = "noise" if threshold is None else "min_agreement"
        return Verdict(INCONCLUSIVE, by, f"{found.token_agreement.reason}.".capitalize(), threshold)
    return _by_noise(found, noise) if threshold is None else _by_threshold(found, threshold)


def noise_p(found: Figures, noise: Figures) -> float | None:
    """Chance that so many answers part, or more, if B were another run of A (Fisher's exact test); None without repeats."""
    if not found.pairs or not noise.pairs:
        return None
    from scipy.stats import fisher_exact

    rows = [[each.parted, each.pairs - each.parted] for each in (found, noise)]
    return float(fisher_exact(rows, alternative="greater").pvalue)


def _by_threshold(found: Figures, threshold: float) -> Verdict:
    seen = found.token_agreement
    value, low, high = seen.value or 0.0, seen.low or 0.0, seen.high or 0.0
    band = f"{value:.2%} ({low:.2%} to {high:.2%})"
    by, least = "min_agreement", f"the {threshold:.2%} asked for"
    if found.pairs < FEWEST:
        few = f"Only {found.pairs} prompts were answered by both; {FEWEST} are the fewest to judge by."
        return Verdict(INCONCLUSIVE, by, few, threshold, FEWEST)
    if high < threshold:
        return Verdict(FAIL, by, f"Token agreement is {band}, below {least}.", threshold)
    if low < threshold:
        return Verdict(
            INCONCLUSIVE,
            by,
            f"Token agreement is {band}, and {least} lies within.",
            threshold,
            _needed(found.pairs, value, low, high, threshold),
        )
    if (found.pessimistic or 0.0) < threshold:
        failed = (
            f"Token agreement is {band}, at least {least}, but with the failed prompts counted as parted it is "
            f"{found.pessimistic or 0.0:.2%}; mend the failures and compare again."
        )
        return Verdict(INCONCLUSIVE, by, failed, threshold)
    return Verdict(PASS, by, f"Token agreement is {band}, at least {least}.", threshold)


def _needed(pairs: int, value: float, low: float, high: float, threshold: float) -> int | None:
    """Prompts at which the interval would end at the threshold, as its width shrinks with their square root."""
    away = abs(value - threshold)
    half = value - low if value >= threshold else high - value
    needed = pairs * (half / away) ** 2 if away else _MOST
    return ceil(needed) if needed < _MOST else None


def _enough(pairs: int, repeated: int) -> int | None:
    """Prompts that give enough of both at the share that A repeats; None where it repeats none."""
    return max(FEWEST, ceil(pairs * FEWEST_REPEATED / repeated)) if repeated else None


def _by_noise(found: Figures, noise: Figures) -> Verdict:
    by = "noise"
    if found.pairs < FEWEST or noise.pairs < FEWEST_REPEATED:
        few = (
            f"{found.pairs} prompts were answered by both and {noise.pairs} twice by A; {FEWEST} and {FEWEST_REPEATED} are the "
            "fewest to tell a difference by."
        )
        return Verdict(INCONCLUSIVE, by, few, None, _enough(found.pairs, noise.pairs))
    p = noise_p(found, noise)
    counts = (
        f"{found.parted} of {found.pairs} answers of B part from A's, and {noise.parted} of {noise.pairs} of A's "
        f"from its own (p = {p:.2g})"
    )
    if p is not None and p < _LEVEL:
        return Verdict(FAIL, by, f"B differs from A more than A from itself: {counts}.")
    if p is not None and p < _UNDECIDED:
        unsure = f"B may differ from A more than A from itself: {counts}; more prompts or a larger --repeat-a would tell."
        return Verdict(INCONCLUSIVE, by, unsure)
    return Verdict(PASS, by, f"B differs from A no more than A from itself: {counts}.")
