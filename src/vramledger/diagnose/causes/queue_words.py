"""What the three limits of the engine's scheduler say of the queue in front of them."""

from math import isnan

from vramledger.diagnose.picture import Picture
from vramledger.diagnose.sign import Sign, ramp
from vramledger.units import format_seconds

NO_QUEUE = "The engine's queue was not seen: there are no server metrics and no steps."


def queue_sign(picture: Picture) -> Sign:
    """Whether the queue matters at all."""
    seen = picture.waiting
    hurts = picture.queue_hurts
    if hurts is None:
        return Sign(NO_QUEUE, None, needed=True)
    waits = "" if isnan(seen.waits) else f"Requests wait {seen.waits:.0%} of the time; "
    mean = "their mean wait is not told" if isnan(seen.queue_s) else f"the mean wait in the engine's queue is {format_seconds(max(seen.queue_s, 0.0))}"  # fmt: skip
    text = waits + mean if waits else mean[0].upper() + mean[1:]
    return Sign(f"{text}.", hurts, needed=True)


def held_sign(picture: Picture, holder: str, what: str) -> Sign:
    """How much of the waiting this limit accounts for."""
    share = picture.waiting.held[holder]
    if isnan(share):
        return Sign(NO_QUEUE, None, needed=True)
    return Sign(f"Of the time in which requests wait, {share:.0%} is {what}.", ramp(share, 0.1, 0.55), needed=True)  # fmt: skip


def share_sign(picture: Picture, holder: str) -> Sign:
    """The same as a matter of degree, so that of several limits the one that holds longest comes first."""
    share = picture.waiting.held[holder]
    known = None if isnan(share) else share
    text = "The limits that held requests were not seen." if known is None else f"No other limit held requests longer than {1 - share:.0%} of that time."  # fmt: skip
    return Sign(text, known, weight=2.0)
