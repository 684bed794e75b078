"""Warm-up: the first requests are slow, at no higher load, and later ones are not."""

from collections.abc import Sequence
from math import isnan

from vramledger.diagnose.hypothesis import Cause, NextChange
from vramledger.diagnose.picture import Picture
from vramledger.diagnose.sign import Sign, both, ramp, strongest
from vramledger.units import format_seconds


def _signs(picture: Picture) -> Sequence[Sign]:
    pace = picture.pace
    slow = strongest(
        both(ramp(pace.first, 1.3, 1.8), ramp(pace.ttft_first, 1.4, 2.5)),
        both(
            ramp(pace.first, 1.8, 2.6), ramp(pace.slow_s, 2.0, 5.0), ramp(pace.ttft_first, 0.8, 1.2)
        ),
        ramp(pace.ttft_first, 2.0, 4.0),
    )
    if slow is None:
        return (
            Sign(
                "There are too few requests to hold the first against the later ones.",
                None,
                needed=True,
            ),
        )
    parts = []
    if not isnan(pace.first):
        parts.append(
            f"steps of the beginning take {pace.first:.1f} times as long as later ones at the same load"
        )
    if not isnan(pace.ttft_first):
        parts.append(
            f"the first tenth of the requests wait {pace.ttft_first:.1f} times as long for their first token as those of the later half"
        )
    text = "; ".join(parts)
    return (
        Sign(f"{text[0].upper()}{text[1:]}.", slow, needed=True),
        _same_load(picture),
        _matters(picture),
        Sign(
            f"The slow beginning lasts {format_seconds(pace.slow_s)}.", ramp(pace.slow_s, 0.0, 1.0)
        ),
        _young(picture),
    )


def _matters(picture: Picture) -> Sign:
    """Whether anybody would notice: seconds, not ratios."""
    pace = picture.pace
    strength = strongest(
        ramp(pace.ttft_more_s, 0.04, 0.2),
        both(ramp(pace.step_more_s, 0.01, 0.04), ramp(pace.slow_s, 0.5, 2.0)),
    )
    more = [each for each in (pace.ttft_more_s, pace.step_more_s) if not isnan(each)]
    if strength is None or not more:
        return Sign("How much longer the first requests took was not seen.", None, needed=True)
    parts = ("their first token", "each token after it")
    told = " and ".join(
        f"{format_seconds(max(each, 0.0))} more for {what}"
        for each, what in zip((pace.ttft_more_s, pace.step_more_s), parts, strict=True)
        if not isnan(each)
    )
    return Sign(f"The first requests wait {told}.", strength, needed=True)


def _same_load(picture: Picture) -> Sign:
    load = picture.pace.load_first
    if isnan(load):
        return Sign("The load of the beginning was not seen.", None, needed=True)
    return Sign(
        f"The load of the beginning is {load:.1f} times that of the rest.",
        ramp(load, 1.8, 1.3),
        needed=True,
    )


def _young(picture: Picture) -> Sign:
    uptime = picture.evidence.uptime_s
    if uptime is None:
        return Sign("How long the server had been up was not told.", None, weight=0.5)
    return Sign(
        f"The server had been up for {format_seconds(uptime)}.",
        ramp(uptime, 1800.0, 120.0),
        weight=0.5,
    )


def _change(picture: Picture) -> NextChange:
    lasts = max(picture.pace.slow_s, 10.0)
    return NextChange(f"Send requests for {format_seconds(round(lasts * 2))} before the measured part (vram trial warms up with --warm-up), and leave that time out.")  # fmt: skip


CAUSE = Cause("D06", "warm_up", "Warm-up", _signs, _change, root=True)
