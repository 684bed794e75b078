"""When repeated plays of a level are enough for a verdict, and how often such a verdict is wrong.

A level is played until one side leads by `LEAD`: so many more plays that held than failed, or the
reverse. That is Wald's sequential test of a share of `q` against one of `1 - q` (A. Wald, Sequential
Tests of Statistical Hypotheses, Annals of Mathematical Statistics 16, 1945), and for a lead of whole plays its error is
exact: the gambler's ruin. Where a share q < 1/2 of the draws hold, those that hold lead first with
probability

    1 / (1 + ((1 - q) / q) ** LEAD).

After `MOST` plays without such a lead the level is uncertain, which makes wrong verdicts only rarer. It is
called so as soon as the plays that are left cannot give the lead any more.
"""

from collections.abc import Sequence
from typing import Final

from vramledger.methods.subject import Verdict

LEAD: Final = 3
MOST: Final = 7
SELDOM: Final = 0.2  # share of a level's draws that hold, at which reports state the error


def wrong_at_most(share: float) -> float:
    """The probability that a level holds clearly at which that share of the draws, below 1/2, hold.

    It is that of failing clearly, too, where so many fail.
    """
    return float(1 / (1 + ((1 - share) / share) ** LEAD))


def verdict_of(plays: Sequence[Verdict], *, repeats: bool) -> Verdict | None:
    """The verdict on a level; None where more plays are needed.

    `repeats` says whether plays of the level can differ: if not, one is enough.
    """
    if not plays:
        return None
    if not repeats:
        return plays[0]
    held = plays.count(Verdict.HOLDS)
    failed = len(plays) - held
    if held - failed >= LEAD:
        return Verdict.HOLDS
    if failed - held >= LEAD:
        much = plays.count(Verdict.TOO_MUCH)
        return Verdict.TOO_MUCH if 2 * much >= failed else Verdict.TOO_LITTLE
    left = MOST - len(plays)
    return Verdict.UNCERTAIN if abs(held - failed) + left < LEAD else None
