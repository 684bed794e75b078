"""Sequence cap: as many requests run as max_num_seqs allows, and others wait although there is room for them."""

from collections.abc import Sequence
from math import isnan

from vramledger.diagnose.causes.queue_words import held_sign, queue_sign, share_sign
from vramledger.diagnose.hypothesis import Cause, NextChange
from vramledger.diagnose.picture import Picture
from vramledger.diagnose.seen.waiting import SEQUENCES
from vramledger.diagnose.sign import Sign, ramp


def _signs(picture: Picture) -> Sequence[Sign]:
    seen = picture.waiting
    return (
        queue_sign(picture),
        held_sign(picture, SEQUENCES, f"with all of {_cap(seen.cap)} places taken"),
        share_sign(picture, SEQUENCES),
        _at_cap(picture),
        _room(seen.kv_while_waiting),
    )


def _cap(cap: float) -> str:
    return "the" if isnan(cap) else f"{cap:.0f}"


def _at_cap(picture: Picture) -> Sign:
    seen = picture.waiting
    if isnan(seen.cap):
        return Sign(
            "max_num_seqs is not known, and running requests stay at no number while others wait.", None
        )  # fmt: skip
    if isnan(seen.running_while_waiting):
        return Sign(
            "Requests were never seen waiting, so that what runs beside them is not known.", None
        )
    whose = "as the server was started" if seen.cap_known else "which is never exceeded"
    text = f"{seen.running_while_waiting:.1f} requests run while others wait; the cap is {seen.cap:.0f}, {whose}."
    return Sign(text, ramp((seen.running_while_waiting + 0.5) / seen.cap, 0.85, 0.98))


def _room(usage: float) -> Sign:
    if isnan(usage):
        return Sign("The use of the KV cache while requests wait was not seen.", None, weight=0.5)
    return Sign(f"{1 - usage:.0%} of the KV cache is free while requests wait.", ramp(usage, 0.97, 0.8), weight=0.5)  # fmt: skip


def _change(picture: Picture) -> NextChange:
    cap = picture.waiting.cap
    if isnan(cap):
        return NextChange("Raise max_num_seqs by half.")
    more = max(int(cap * 1.5), int(cap) + 1)
    return NextChange(f"Raise max_num_seqs to {more}.", "max-num-seqs", str(more))


CAUSE = Cause(
    "D02", SEQUENCES, "Sequence cap", _signs, _change, waits=True,
)  # fmt: skip
