"""A remote fetch before the engine: some requests wait for something from elsewhere (an image, an adapter, KV blocks) before they are queued."""

from collections.abc import Sequence
from math import isnan

from vramledger.diagnose.causes.outside_words import (
    cpu_sign,
    follows_sign,
    hurts,
    one_by_one_sign,
    outside_sign,
    scrape_sign,
)
from vramledger.diagnose.hypothesis import Cause, NextChange
from vramledger.diagnose.picture import Picture
from vramledger.diagnose.seen.waiting import ELSEWHERE
from vramledger.diagnose.sign import Sign, ramp
from vramledger.units import format_seconds


def _signs(picture: Picture) -> Sequence[Sign]:
    return (
        _needed(picture),
        _uneven(picture),
        follows_sign(picture, wanted=False),
        scrape_sign(picture, wanted=False),
        cpu_sign(picture, wanted=False),
        one_by_one_sign(picture),
        _deferred(picture),
    )


def _needed(picture: Picture) -> Sign:
    """Time outside the engine that metrics pages do not need too, or requests that the engine itself says are deferred."""
    outside = _own(picture)
    held = picture.waiting.held[ELSEWHERE]
    queue_hurts = picture.queue_hurts
    deferred = (
        None if isnan(held) or queue_hurts is None else (ramp(held, 0.1, 0.55) or 0.0) * queue_hurts
    )
    if deferred is not None and deferred > (outside.strength or 0.0):
        return Sign(f"Of the time in which requests wait, {held:.0%} is for something elsewhere, as the engine says.", deferred, needed=True)  # fmt: skip
    if not len(picture.evidence.requests):
        return Sign("How the time before the engine differs from request to request was not seen.", None, needed=True)  # fmt: skip
    return Sign(outside.text, outside.strength, needed=True)


def _own(picture: Picture) -> Sign:
    """What a metrics page takes as well is the way's or the server's own, and nothing that is fetched for a request."""
    seen = picture.outside
    ttft = picture.stages.ttft_s
    if isnan(seen.mean_s) or isnan(seen.scrape_s) or not ttft > 0:
        return outside_sign(picture)
    mean = max(seen.mean_s - seen.scrape_s, 0.0)
    share = mean / ttft
    text = f"Of the time to the first token, {format_seconds(mean)} ({share:.0%}) pass outside the engine beyond what a metrics page takes too."
    return Sign(text, hurts(mean, share), needed=True)


def _uneven(picture: Picture) -> Sign:
    """Requests of the same moment differ; where that cannot be told, requests at all."""
    seen = picture.outside
    strength = ramp(seen.spread, 0.25, 0.6)
    if strength is None:
        strength = ramp(seen.floor, 0.7, 0.4)
    if strength is None:
        return Sign("How it differs from request to request was not seen.", None, weight=2.5)
    text = f"It differs between requests of one moment by {seen.spread:.0%} of its mean, and its lowest tenth is {seen.floor:.0%} of its mean."
    return Sign(text, strength, weight=2.5)


def _deferred(picture: Picture) -> Sign:
    waiting = picture.outside.deferred
    if isnan(waiting):
        return Sign(
            "The engine does not tell why requests wait (waiting by reason, from 0.20 on).",
            None,
            weight=0.25,
        )
    return Sign(
        f"{waiting:.1f} requests are deferred on average.",
        max(ramp(waiting, 0.0, 1.0) or 0.0, 0.4),
        weight=0.25,
    )


def _change(picture: Picture) -> NextChange:
    del picture
    return NextChange(
        "Have what is fetched lie beside the server (images inline or cached, adapters preloaded), and send the same load again."
    )


CAUSE = Cause("D13", "remote_fetch", "A remote fetch before the engine", _signs, _change)
