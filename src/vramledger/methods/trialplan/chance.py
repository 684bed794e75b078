"""How likely a line is to fail, by the band of the step times: for the order of trials only, no verdict rests on it.

A band holds nine of ten held-back observations, so its slow end is taken as the 95th percentile of a log-normal factor on the
expected figure ``x``: with the slow end's figure ``y`` and the limit ``m`` the chance is

    P(x F > m) = 1 - Phi(1.645 ln(m / x) / ln(y / x)).
"""

from collections.abc import Sequence
from math import isinf, log
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from vramledger.methods.trialplan.played_ends import PlayedEnds
    from vramledger.simulate.judged import Amount, Line

_SURE: Final = 1.645  # standard deviations to an end of the band
_SUCCESS: Final = "success"  # no time: its ends are no factor
_HOLDS, _NOT_SLOW, _ONLY_FAST, _FAILS = 0.05, 0.3, 0.7, 0.95  # where only the ends' verdicts tell


def chance_of_failing(line: "Line", ends: "PlayedEnds") -> float:
    """The probability (0..1) that the line fails."""
    slow = ends.line(ends.slow, line.asked)
    found = _by_factor(line.amount, None if slow is None else slow.amount)
    if found is not None:
        return found
    lines = (ends.line(side, line.asked) for side in ends.sides)
    return chance_by_ends([each is not None and each.holds is not False for each in lines])


def chance_by_ends(holds: Sequence[bool]) -> float:
    """By whether it holds at the expected, the slow and the fast end, where the figures have no factor between them."""
    if holds[0]:
        return _HOLDS if holds[1] else _NOT_SLOW
    return _ONLY_FAST if any(holds[2:]) else _FAILS


def _by_factor(expected: "Amount | None", slow: "Amount | None") -> float | None:
    """None where a figure is no time, infinite, or the same at both ends."""
    from scipy.stats import norm

    if expected is None or slow is None or expected.name == _SUCCESS:
        return None
    figures = (expected.value, slow.value, expected.threshold)
    if any(isinf(each) or each <= 0 for each in figures) or slow.value <= expected.value:
        return None
    margin = log(expected.threshold / expected.value)
    return float(norm.sf(_SURE * margin / log(slow.value / expected.value)))
