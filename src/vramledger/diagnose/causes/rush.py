"""Arrivals above capacity for a time: the queue stands only while far more requests come than otherwise."""

from collections.abc import Sequence
from math import isnan

from vramledger.diagnose.causes.queue_words import queue_sign
from vramledger.diagnose.hypothesis import Cause, NextChange
from vramledger.diagnose.picture import Picture
from vramledger.diagnose.sign import Sign, both, ramp


def _signs(picture: Picture) -> Sequence[Sign]:
    rush = picture.rush
    if isnan(rush.ratio):
        return (
            Sign("Arrivals and the queue were not seen beside each other.", None, needed=True),
            queue_sign(picture),
        )
    ratio = "many" if rush.ratio > 99 else f"{rush.ratio:.1f}"
    return (
        queue_sign(picture),
        Sign(
            f"While the queue grew, {ratio} times as many requests came as at other times ({min(rush.deviations, 999):.0f} standard deviations).",
            both(ramp(rush.ratio, 1.2, 1.6), ramp(rush.deviations, 2.5, 5.0)),
            needed=True,
        ),
        Sign(
            f"Nobody waits in {rush.free:.0%} of the time in which requests come.",
            ramp(rush.free, 0.1, 0.3),
            needed=True,
        ),
        Sign(
            "The queue is empty at the end."
            if rush.drains
            else "The queue still stands at the end.",
            1.0 if rush.drains else 0.4,
        ),
    )


def _change(picture: Picture) -> NextChange:
    rush = picture.rush
    when = (
        "" if isnan(rush.from_s) else f" (second {rush.from_s:.0f} to {rush.to_s:.0f} of the run)"
    )
    return NextChange(
        f"Add a replica for the time of the rush{when}, or admit requests at the rate that the server holds; at other times it holds."
    )


CAUSE = Cause(
    "D05",
    "arrivals_above_capacity",
    "Arrivals above capacity for a time",
    _signs,
    _change,
    root=True,
)
