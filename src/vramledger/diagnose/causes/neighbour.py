"""A neighbour on the GPU: memory or time of the GPU goes to processes other than the server's."""

from collections.abc import Sequence
from math import isnan

import numpy as np

from vramledger.diagnose.hypothesis import Cause, NextChange
from vramledger.diagnose.picture import Picture
from vramledger.diagnose.sign import Sign, ramp, strongest
from vramledger.units import GIB


def _signs(picture: Picture) -> Sequence[Sign]:
    memory = _memory(picture)
    return (memory, _slower(picture), _busy_while_idle(picture), _clocks(picture))


def _others(picture: Picture) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """What others hold; where the driver does not tell the server's part, what came on top of the least that was in use."""
    evidence = picture.evidence
    if evidence.seen("gpu_others"):
        return evidence.of("gpu_others")
    return evidence.windows.nothing


def _memory(picture: Picture) -> Sign:
    others = _others(picture)
    if not np.isfinite(others).any():
        return Sign("What other processes hold on the GPU was not seen.", None, needed=True)
    most = float(np.nanmax(others)) / GIB
    return Sign(
        f"Other processes hold up to {most:.2f} GiB of the GPU.", ramp(most, 0.25, 1.0), needed=True
    )


def _there(picture: Picture) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """The windows in which others hold clearly more than at their least."""
    others = _others(picture)
    if not np.isfinite(others).any():
        return np.zeros(len(others), np.bool_)
    low, high = float(np.nanmin(others)), float(np.nanmax(others))
    return np.asarray((others > (low + high) / 2) & (high - low > 0.2 * GIB))


def _slower(picture: Picture) -> Sign:
    there = _there(picture)
    ratio = picture.pace.beside(there) if there.any() and not there.all() else float("nan")
    if isnan(ratio):
        return Sign(
            "They were there all the time, or never, so that steps with and without them cannot be compared.",
            None,
        )
    return Sign(
        f"Steps take {ratio:.2f} times as long while they are there.",
        ramp(ratio, 1.03, 1.2),
        weight=2.0,
    )


def _busy_while_idle(picture: Picture) -> Sign:
    evidence = picture.evidence
    idle = evidence.of("running") < 0.2
    busy = evidence.mean("gpu_utilization", idle)
    if isnan(busy):
        return Sign("The GPU's utilisation while the engine is idle was not seen.", None)
    return Sign(
        f"The GPU is busy {busy:.0%} of the time in which the engine runs nothing.",
        ramp(busy, 0.1, 0.4),
    )


def _clocks(picture: Picture) -> Sign:
    gpus = picture.evidence.gpus
    slowed = {} if gpus is None else gpus.throttled
    worst = max(slowed.values(), default=0.0)
    if gpus is None:
        return Sign("The GPU's clocks were not seen.", None, weight=0.5)
    text = (
        "No clocks were lowered."
        if not worst
        else f"Clocks were lowered in {worst:.0%} of the samples ({', '.join(slowed)})."
    )
    return Sign(text, strongest(ramp(worst, 0.5, 0.0)), weight=0.5)


def _change(picture: Picture) -> NextChange:
    del picture
    return NextChange(
        "Move the other processes off this GPU (nvidia-smi lists them), or give the server a GPU or a MIG slice of its own, and run the same load again."
    )


CAUSE = Cause("D07", "neighbour", "A neighbour on the GPU", _signs, _change, root=True)
