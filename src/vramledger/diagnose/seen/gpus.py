"""What the GPUs told, by window: memory in use, the server's own part of it, utilisation and clocks."""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from vramledger.diagnose.seen.windows import Windows
from vramledger.frozen import frozen

if TYPE_CHECKING:
    from vramledger.record.run import Run

    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_NUMBERS = ("t_s", "used_bytes", "free_bytes", "ours_bytes", "utilization", "sm_clock_mhz")


@frozen
class GpuSeen:
    """Of the fullest GPU, by window and by sample; `others` is what processes other than the server's hold, NaN where the driver does not say.

    `throttled` is the share of samples with lowered clocks, by reason; idle is none.
    """

    series: "dict[str, Floats]"
    t_s: "Floats"
    used_bytes: "Floats"
    total_bytes: float
    gpus: int
    throttled: dict[str, float]


def read_gpus(run: "Run", windows: Windows) -> GpuSeen | None:
    """The GPU samples of a run, None where there is none with memory.

    Raises:
        BadInput: the table is damaged.
    """
    from vramledger.record.samples import GPU

    if GPU.name not in run.tables:
        return None
    numbers = run.table(GPU).numbers(*_NUMBERS)
    texts = run.table(GPU).read(("gpu_uuid", "throttle"))
    uuid = np.asarray(texts["gpu_uuid"].to_pylist(), dtype=object)
    if not np.isfinite(numbers["used_bytes"]).any():
        return None
    fullest = max(set(uuid.tolist()), key=lambda one: _mean(numbers["used_bytes"][uuid == one]))
    one = {name: values[uuid == fullest] for name, values in numbers.items()}
    total = one["used_bytes"] + one["free_bytes"]
    others = one["used_bytes"] - one["ours_bytes"]
    every = numbers["t_s"]
    series = {
        "gpu_used": windows.mean(one["t_s"], one["used_bytes"]),
        "gpu_free": windows.mean(one["t_s"], one["free_bytes"]),
        "gpu_ours": windows.mean(one["t_s"], one["ours_bytes"]),
        "gpu_others": windows.mean(one["t_s"], others),
        "gpu_utilization": windows.mean(every, numbers["utilization"]),
        "gpu_clock": windows.mean(every, numbers["sm_clock_mhz"]),
    }
    return GpuSeen(
        series={name: values for name, values in series.items() if np.isfinite(values).any()},
        t_s=one["t_s"],
        used_bytes=one["used_bytes"],
        total_bytes=_mean(total),
        gpus=len(set(uuid.tolist())),
        throttled=_throttled(texts["throttle"].to_pylist()),
    )


def _throttled(told: "list[str | None]") -> dict[str, float]:
    known = [each for each in told if each is not None]
    reasons = {name for each in known for name in each.split(",") if name and "idle" not in name}
    return {
        name: sum(name in each.split(",") for each in known) / len(known)
        for name in sorted(reasons)
    }


def _mean(values: "Floats") -> float:
    told = values[np.isfinite(values)]
    return float(told.mean()) if len(told) else np.nan
