"""The network: every request and every page takes about the same time longer, whatever the load."""

from collections.abc import Sequence
from math import isnan

from vramledger.diagnose.causes.outside_words import (
    cpu_sign,
    follows_sign,
    outside_sign,
    scrape_sign,
)
from vramledger.diagnose.hypothesis import Cause, NextChange
from vramledger.diagnose.picture import Picture
from vramledger.diagnose.sign import Sign, ramp


def _signs(picture: Picture) -> Sequence[Sign]:
    return (
        outside_sign(picture),
        _even(picture),
        follows_sign(picture, wanted=False),
        scrape_sign(picture, wanted=True, weight=1.5),
        cpu_sign(picture, wanted=False),
        _beyond_server(picture),
        _retransmits(picture),
    )


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
