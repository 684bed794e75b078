"""A slow front end: the server's own process in front of the engine (HTTP, templates, tokeniser, streaming) has too little processor."""

from collections.abc import Sequence
from math import isnan

from vramledger.diagnose.causes.outside_words import (
    cpu_sign,
    follows_sign,
    outside_sign,
    scrape_sign,
    tokens_sign,
)
from vramledger.diagnose.hypothesis import Cause, NextChange
from vramledger.diagnose.picture import Picture
from vramledger.diagnose.sign import Sign, both, ramp, strongest


def _signs(picture: Picture) -> Sequence[Sign]:
    return (
        outside_sign(picture),
        follows_sign(picture, wanted=True),
        cpu_sign(picture, wanted=True),
        scrape_sign(picture, wanted=True),
        tokens_sign(picture, wanted=True),
        _in_server(picture),
        _uneven(picture),
    )


def _in_server(picture: Picture) -> Sign:
    share = picture.outside.in_server
    if isnan(share):
        return Sign("The server's own time to the first token was not seen.", None, weight=0.5)
    return Sign(f"{share:.0%} of that time lies in the server's own time to the first token.", ramp(share, 0.1, 0.6), weight=0.5)  # fmt: skip


def _uneven(picture: Picture) -> Sign:
    """A queue in front of one core is alike for requests of one moment, and not for those of different ones."""
    seen = picture.outside
    if isnan(seen.floor):
        return Sign("How it differs from request to request was not seen.", None)
    strength = strongest(ramp(seen.spread, 0.9, 0.3), 0.3)
    text = f"Its lowest tenth is {seen.floor:.0%} of its mean, and it differs between requests of one moment by {seen.spread:.0%} of its mean."
    return Sign(text, both(strength, ramp(seen.floor, 0.85, 0.6)))


def _change(picture: Picture) -> NextChange:
    del picture
    return NextChange(
        "Give the front end more processor: cores of its own, or --api-server-count 2 and more.",
        "api-server-count",
        "2",
    )


CAUSE = Cause("D11", "front_end", "Slow front end of the server", _signs, _change)
