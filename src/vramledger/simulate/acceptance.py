"""Which drafts are accepted: drawn from the seed, the request and the position, in whole numbers.

The draw does not depend on the order in which steps are computed, so a request that is preempted or
scheduled otherwise sees the same drafts accepted at the same position.
"""

from typing import Final

from vramledger.simulate.settings import ACCEPTANCE_SCALE

_MASK: Final = (1 << 64) - 1


def accepted_drafts(seed: int, rank: int, position: int, drafts: int, acceptance: int) -> int:
    """How many of `drafts` leading drafts after `position` tokens hold; `acceptance` in millionths."""
    for draft in range(drafts):
        drawn = _mixed(_mixed(_mixed(seed) ^ rank) ^ (position + draft))
        if drawn % ACCEPTANCE_SCALE >= acceptance:
            return draft
    return drafts


def _mixed(state: int) -> int:
    """SplitMix64 (Steele, Lea and Flood 2014): 64 well-mixed bits of a whole number."""
    state = (state + 0x9E3779B97F4A7C15) & _MASK
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
    return state ^ (state >> 31)
