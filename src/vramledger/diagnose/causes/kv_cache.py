"""KV cache exhausted: requests wait, or lose their place, because the cache has no blocks left."""

from collections.abc import Sequence
from math import isnan

from vramledger.diagnose.causes.queue_words import held_sign, queue_sign, share_sign
from vramledger.diagnose.hypothesis import Cause, NextChange
from vramledger.diagnose.picture import Picture
from vramledger.diagnose.seen.waiting import KV
from vramledger.diagnose.sign import Sign, ramp


def _signs(picture: Picture) -> Sequence[Sign]:
    seen = picture.waiting
    return (
        queue_sign(picture),
        held_sign(picture, KV, "for want of KV blocks"),
        share_sign(picture, KV),
        _usage(seen.kv_while_waiting),
        _preemptions(picture),
        _below_cap(picture),
    )


def _usage(usage: float) -> Sign:
    if isnan(usage):
        return Sign("The use of the KV cache while requests wait was not seen.", None)
    return Sign(f"{usage:.0%} of the KV cache is held while requests wait.", ramp(usage, 0.6, 0.92))


def _preemptions(picture: Picture) -> Sign:
    count = picture.waiting.preemptions
    if isnan(count):
        return Sign("Preemptions were not counted.", None, weight=0.5)
    each = picture.waiting.preemptions_per_request
    text = (
        f"{count:,.0f} preemptions{'' if isnan(each) else f', {each:.2g} a request'}."
        if count
        else "No request was preempted."
    )
    return Sign(text, 0.4 if not count else ramp(each, -0.02, 0.05), weight=0.5)


def _below_cap(picture: Picture) -> Sign:
    seen = picture.waiting
    if isnan(seen.cap):
        return Sign("The cap on running requests (max_num_seqs) is not known.", None, weight=0.5)
    running = seen.running_while_waiting
    if isnan(running):
        return Sign(
            "Requests were never seen waiting, so that what runs beside them is not known.",
            None,
            weight=0.5,
        )
    text = f"{running:.1f} requests run while others wait, of {seen.cap:.0f} that may."
    return Sign(text, ramp(running / seen.cap, 1.0, 0.9), weight=0.5)


def _change(picture: Picture) -> NextChange:
    running = picture.waiting.running_while_waiting
    if picture.waiting.preemptions_per_request > 0.05 and not isnan(running):
        fewer = max(int(running * 0.8), 1)
        return NextChange(
            f"Lower max_num_seqs to {fewer}, so that fewer requests are computed twice, and see whether recompute falls; more KV "
            "cache (see the remedies) is what removes the shortage.",
            "max-num-seqs",
            str(fewer),
        )
    return NextChange(
        "Give the KV cache more room: see the remedies, each with its simulated effect; try FP8 for the cache first where its quality is accepted.",
        "kv-cache-dtype",
        "fp8",
    )


CAUSE = Cause(
    "D01", KV, "KV cache exhausted", _signs, _change, waits=True,
)  # fmt: skip
