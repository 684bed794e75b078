"""A sign: one fact that was looked for, how strongly it speaks for a cause, and what to say of it."""

from math import isfinite, isnan

from vramledger.frozen import frozen

CLEAR: float = 0.5  # from here on a sign speaks for its cause


@frozen
class Sign:
    """One fact. `strength` is 0..1, None where it could not be seen; then `text` says what was missing.

    A `needed` sign bounds the score: without it the cause cannot be. Others move the score by their `weight`.
    """

    text: str
    strength: float | None
    weight: float = 1.0
    needed: bool = False

    @property
    def supports(self) -> bool:
        """Whether it speaks for the cause."""
        return self.strength is not None and self.strength >= CLEAR


def ramp(value: float, low: float, high: float) -> float | None:
    """0 at `low` and below, 1 at `high` and above, straight between; falling where `high` is the lower. None for NaN."""
    if not isfinite(value):
        return None if isnan(value) else (1.0 if (value > 0) == (high > low) else 0.0)
    return min(max((value - low) / (high - low), 0.0), 1.0)


def strongest(*strengths: float | None) -> float | None:
    """The largest of those that are known."""
    known = [each for each in strengths if each is not None]
    return max(known) if known else None


def both(*strengths: float | None) -> float | None:
    """The product; None where one is not known."""
    found = 1.0
    for each in strengths:
        if each is None:
            return None
        found *= each
    return found
