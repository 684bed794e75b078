"""How much more would have to be mirrored before everything is sent to B, at the rate that was seen.

An interval's width shrinks with the root of the number of requests: to bring half of it from *h* at *n* requests to *w*, *n (h / w)^2* are needed.
A share *s* of traffic with *r* such requests a second gives them in *n / (r s)* seconds.
"""

from math import ceil
from typing import Final

from vramledger.frozen import frozen
from vramledger.methods.shadow.intervals import Estimate
from vramledger.methods.shadow.verdict import FEWEST

DAY_S: Final = 86_400.0
SHARES: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_LEAST_HALF: Final = 1e-9


@frozen
class Need:
    """One figure: half its interval now, after `have` requests, and the requests `needed` in all; None where nothing tells."""

    name: str
    have: int
    half: float | None
    needed: int | None
    per_s: float  # such requests a second in all the traffic


@frozen
class Offer:
    """A share, and how long it takes to have all that is needed."""

    share: float
    seconds: float


@frozen
class Switch:
    """What would support a full switch: the smallest `share` that needs no more than a day, for `duration_s`.

    That is a whole day at least, so that every hour of it is in the figures. `reason` says why both are None.
    """

    within: float
    needs: tuple[Need, ...]
    offers: tuple[Offer, ...]
    share: float | None
    duration_s: float | None
    enough: bool
    reason: str = ""


def need_of(name: str, found: Estimate, have: int, within: float, per_s: float) -> Need:
    """What one figure needs; `within` is half the interval wanted."""
    if found.value is None or found.low is None or found.high is None or not have:
        return Need(name, have, None, None, per_s)
    half = max(found.value - found.low, found.high - found.value)
    needed = max(FEWEST, ceil(have * (max(half, _LEAST_HALF) / within) ** 2))
    return Need(name, have, half, needed, per_s)


def switch_of(needs: tuple[Need, ...], within: float) -> Switch:
    """From what each figure needs."""
    blind = [each for each in needs if each.needed is None or each.per_s <= 0]
    if blind:
        reason = "; ".join(_BLIND[each.name] for each in blind)
        return Switch(within, needs, (), None, None, enough=False, reason=reason)
    offers = tuple(Offer(share, _seconds(needs, share)) for share in SHARES)
    enough = all(each.needed is not None and each.have >= each.needed for each in needs)
    named = next((each for each in offers if each.seconds <= DAY_S), offers[-1])
    return Switch(within, needs, offers, named.share, max(DAY_S, named.seconds), enough=enough)


def _seconds(needs: tuple[Need, ...], share: float) -> float:
    return max((each.needed or 0) / (each.per_s * share) for each in needs)


AGREEMENT: Final = "token_agreement"
FAILED: Final = "failed_by_b"
_BLIND: Final = {
    AGREEMENT: "no request at temperature 0 was answered by both, and without them agreement cannot be seen",
    FAILED: "no request was put to both",
}
