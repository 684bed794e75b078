"""The network: every request and every page takes about the same time longer, whatever the load."""

from collections.abc import Sequence
from math import isnan

import numpy as np

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
from vramledger.diagnose.sign import Sign, both, ramp
from vramledger.units import format_seconds

_STALL_S = 1.0


def _signs(picture: Picture) -> Sequence[Sign]:
    return (
        _needed(picture),
        _even(picture),
        follows_sign(picture, wanted=False),
        scrape_sign(picture, wanted=True, weight=1.5),
        cpu_sign(picture, wanted=False),
        _beyond_server(picture),
        one_by_one_sign(picture),
        _retransmits(picture),
    )


def _needed(picture: Picture) -> Sign:
    """Time outside the engine before the first token; or tokens that come late behind it, one by one and from a client that is not busy."""
    if not len(picture.evidence.requests):
        return Sign("What lies between clients and the server was not seen.", None, needed=True)
    outside = _on_the_way(picture)
    seen = picture.outside
    alone = ramp(seen.merged, 1.3, 1.05)
    idle = ramp(picture.evidence.mean("client_cpu_busiest"), 1.0, 0.8)
    late = ramp(seen.tokens_ratio, 1.15, 1.4)
    behind = both(
        late,
        1.0 if alone is None else alone,
        1.0 if idle is None else idle,
    )
    if behind is None or behind <= (outside.strength or 0.0):
        return outside
    gaps = picture.evidence.requests.longest_gap_s
    stalled = (
        float((gaps[np.isfinite(gaps)] >= _STALL_S).mean()) if np.isfinite(gaps).any() else 0.0
    )
    text = f"Tokens take {seen.tokens_ratio:.2f} times as long to the client as in the engine, and come one by one; {stalled:.0%} of the answers stand for {_STALL_S:g} s or more."
    return Sign(text, behind, needed=True)


def _on_the_way(picture: Picture) -> Sign:
    """What of the time outside the engine the server's own time to the first token has not: it begins when the request is there."""
    beyond, ttft = picture.stages.beyond_s, picture.stages.ttft_s
    if isnan(beyond) or not ttft > 0:
        return outside_sign(picture)
    beyond = max(beyond, 0.0)
    share = beyond / ttft
    text = f"Of the time to the first token, {format_seconds(beyond)} ({share:.0%}) pass before the server has the request and after it has answered."
    return Sign(text, hurts(beyond, share), needed=True)


def _even(picture: Picture) -> Sign:
    floor = picture.outside.floor
    if isnan(floor):
        return Sign("How it differs from request to request was not seen.", None, weight=1.5)
    return Sign(
        f"Its lowest tenth is {floor:.0%} of its mean.", ramp(floor, 0.35, 0.65), weight=2.0
    )


def _beyond_server(picture: Picture) -> Sign:
    share = picture.outside.in_server
    if isnan(share):
        return Sign("The server's own time to the first token was not seen.", None)
    return Sign(
        f"{share:.0%} of that time lies in the server's own time to the first token.",
        ramp(share, 0.6, 0.2),
        weight=1.5,
    )


def _retransmits(picture: Picture) -> Sign:
    rate = picture.outside.retransmits_per_s
    if isnan(rate):
        return Sign("Segments that were sent again were not counted.", None, weight=0.25)
    return Sign(
        f"{rate:.2g} TCP segments a second were sent again.",
        max(ramp(rate, 0.0, 2.0) or 0.0, 0.4),
        weight=0.25,
    )


def _change(picture: Picture) -> NextChange:
    del picture
    return NextChange(
        "Send the same load from a machine beside the server; what then goes away is the network's."
    )


CAUSE = Cause("D12", "network", "Network delay", _signs, _change)
