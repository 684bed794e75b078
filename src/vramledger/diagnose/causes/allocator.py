"""Allocator pressure: GPU memory is almost full, so that the framework's allocator frees and takes memory again while the engine stands."""

from collections.abc import Sequence
from math import isnan

import numpy as np

from vramledger.diagnose.hypothesis import Cause, NextChange
from vramledger.diagnose.picture import Picture
from vramledger.diagnose.sign import Sign, ramp
from vramledger.units import GIB

_FALL = 32 << 20  # bytes: less is noise of the driver


def _signs(picture: Picture) -> Sequence[Sign]:
    gpus = picture.evidence.gpus
    if gpus is None:
        return (Sign("The GPU's memory was not seen.", None, needed=True),)
    free = picture.evidence.of("gpu_free")
    least = float(np.nanmin(free)) if np.isfinite(free).any() else float("nan")
    return (_full(least, gpus.total_bytes), _frees(picture), _stalls(picture))


def _full(least: float, total: float) -> Sign:
    if isnan(least):
        return Sign("The GPU's free memory was not seen.", None, needed=True)
    text = f"At the fullest moment {least / GIB:.2f} GiB of {total / GIB:.1f} GiB were free."
    return Sign(text, ramp(least / GIB, 1.3, 0.7), needed=True)


def _falls(picture: Picture) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    gpus = picture.evidence.gpus
    if gpus is None:
        return np.zeros(0)
    return np.diff(gpus.used_bytes)


def _frees(picture: Picture) -> Sign:
    falls = int((_falls(picture) < -_FALL).sum())
    text = f"Memory in use fell {falls} times by more than {_FALL >> 20} MiB under load, as when cached memory is given back."
    return Sign(text, ramp(falls, 0.0, 4.0), weight=2.0)


def _stalls(picture: Picture) -> Sign:
    """Whether the engine stood in the windows in which memory was given back."""
    gpus, windows = picture.evidence.gpus, picture.evidence.windows
    if gpus is None or len(gpus.t_s) < 2:
        return Sign("Too few GPU samples.", None)
    at = windows.place(gpus.t_s[1:])
    freeing = np.zeros(len(windows), np.bool_)
    freeing[at[(_falls(picture) < -_FALL) & (at >= 0)]] = True
    ratio = picture.pace.beside(freeing) if freeing.any() and not freeing.all() else float("nan")
    if isnan(ratio):
        return Sign(
            "Steps in the windows in which memory was given back could not be held against others.",
            None,
        )
    return Sign(
        f"Steps take {ratio:.2f} times as long in the windows in which memory was given back.",
        ramp(ratio, 1.02, 1.15),
    )


def _change(picture: Picture) -> NextChange:
    return NextChange(
        "Lower gpu_memory_utilization by 0.03, so that the allocator has room; PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True is the change after that.",
        "gpu-memory-utilization",
        _lower(picture),
    )


def _lower(picture: Picture) -> str | None:
    """The share of memory that the server was started with, less 0.03; None where it is not known."""
    case = picture.evidence.setting.case
    return None if case is None else f"{case.deployment().gpu_memory_utilization.value - 0.03:.2f}"


CAUSE = Cause(
    "D08", "allocator_pressure", "Allocator pressure near full memory", _signs, _change, root=True
)
