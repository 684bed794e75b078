"""Whom a limit on input + output turns away: shares of all requests, limit by limit.

Shares are counts of a recorded workload's profile where it lists the limit. Between its limits they
are those of the cells of its joint histogram that reach beyond the limit, and no more than of the next
lower one: at most so many. Without a recording they are those of the stated lengths.
"""

from math import fsum
from typing import Final

from vramledger.frozen import frozen
from vramledger.plan.lengths import LengthDistribution
from vramledger.sizing.limits import LENGTH_STEP
from vramledger.sizing.offered import Offered
from vramledger.workload.profile.bins import longest_of
from vramledger.workload.profile.profile import ContextLimit, Joint

_LOWEST: Final = 2048  # limits of stated lengths: this and its doublings


@frozen
class Turned:
    """Shares (0..1) of all requests that a limit turns away."""

    limit: int
    refused: float  # the input alone does not fit
    cut: float  # the answer ends before it is done
    over_budget: float | None  # input + the most tokens asked for do not fit; None: not known
    counted: bool  # recorded requests, one by one

    @property
    def away(self) -> float:
        """Refused or cut; engines refuse outright what asks for more than fits."""
        return max(self.refused + self.cut, self.over_budget or 0.0)


def turned_away(offered: Offered, most: int, in_use: int = 0) -> tuple[Turned, ...]:
    """Every limit of the table, rising; none above `most`, the model's own limit.

    The limits of the profile, or doublings of 2,048, up to the first that holds every request; the
    limit `in_use` where it is the longest request rounded up, else the longest request exactly; and `most`, which is what an engine takes that is told no limit.
    """
    counted = _counted(offered)
    rounded = 0 <= in_use - offered.longest < LENGTH_STEP
    longest = in_use if rounded else offered.longest
    extremes = {limit for limit in (longest, most) if limit <= most}
    useful = min((limit for limit in _steps(offered) if limit >= offered.longest), default=most)
    limits = {limit for limit in _steps(offered) if limit <= min(useful, most)} | extremes
    return tuple(
        counted.get(limit) or _between(offered, limit, counted) for limit in sorted(limits)
    )


def _steps(offered: Offered) -> tuple[int, ...]:
    if offered.recorded is not None and offered.recorded.profile.context:
        return tuple(each.limit for each in offered.recorded.profile.context)
    found = [_LOWEST]
    while found[-1] < offered.longest:
        found.append(2 * found[-1])
    return tuple(found)


def _counted(offered: Offered) -> dict[int, Turned]:
    if offered.recorded is None:
        return {}
    profile = offered.recorded.profile
    whole = profile.requests if profile.input_tokens is None else profile.input_tokens.count
    return {each.limit: _share(each, max(1, whole)) for each in profile.context}


def _share(counts: ContextLimit, whole: int) -> Turned:
    budget = counts.over_budget
    over = None if budget is None else min(1.0, budget / whole)
    return Turned(counts.limit, counts.refused / whole, counts.cut / whole, over, counted=True)


def _between(offered: Offered, limit: int, counted: dict[int, Turned]) -> Turned:
    """The shares of a limit that is not listed; none at or beyond the longest request."""
    lower = max((at for at in counted if at <= limit), default=None)
    below = None if lower is None else counted[lower]
    over = None if below is None else below.over_budget
    if limit >= offered.longest:
        return Turned(limit, 0.0, 0.0, over, counted=offered.recorded is not None)
    joint = None if offered.recorded is None else offered.recorded.profile.joint
    found = _of_lengths(offered, limit) if joint is None else _at_most(joint, limit)
    if below is None:
        return found
    refused = min(found.refused, below.refused)
    away = min(found.refused + found.cut, below.refused + below.cut)
    return Turned(limit, refused, away - refused, over, counted=False)


def _of_lengths(offered: Offered, limit: int) -> Turned:
    """The largest shares that any of the distributions says."""
    refused = max(_refused(each, limit) for each in offered.lengths)
    away = max(each.share_above(limit) for each in offered.lengths)
    return Turned(limit, refused, max(0.0, away - refused), None, counted=False)


def _refused(lengths: LengthDistribution, limit: int) -> float:
    return fsum(cell.weight for cell in lengths.cells if cell.input_tokens >= limit)


def _at_most(joint: Joint, limit: int) -> Turned:
    """Requests whose input, and whose full length, may not fit, by the ends of their bins."""
    ends = [(longest_of(c.input_bin), longest_of(c.output_bin), c.requests) for c in joint.cells]
    refused = sum(requests for inputs, _, requests in ends if inputs >= limit)
    away = sum(requests for inputs, outputs, requests in ends if inputs + outputs > limit)
    whole = joint.requests
    return Turned(
        limit, refused / whole, (max(away, refused) - refused) / whole, None, counted=False
    )
