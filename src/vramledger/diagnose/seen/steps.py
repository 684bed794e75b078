"""The steps of a simulated engine as the same series that a server's pages tell."""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from vramledger.diagnose.seen.moments import Moments
from vramledger.diagnose.seen.windows import Windows
from vramledger.frozen import frozen

if TYPE_CHECKING:
    from vramledger.record.run import Run

    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_COLUMNS = (
    "engine", "start_s", "end_s", "scheduled_tokens", "prefill_tokens", "running", "waiting", "preempted", "kv_usage",
)  # fmt: skip


@frozen
class Stepped:
    """`series` has the names of `pages.Pages`; counters are exact here."""

    series: "dict[str, Floats]"
    moments: Moments


def read_steps(run: "Run", windows: Windows) -> Stepped | None:
    """The steps of a run, None where it has none.

    Raises:
        BadInput: the table is damaged.
    """
    from vramledger.record.samples import STEPS

    if STEPS.name not in run.tables:
        return None
    found = run.table(STEPS).numbers(*_COLUMNS)
    if not len(found["end_s"]):
        return None
    lasted = found["end_s"] - found["start_s"]
    engines = float(len(np.unique(found["engine"])))
    span = float(windows.widths_s.sum()) * engines
    moments = Moments(
        t_s=found["end_s"],
        running=found["running"],
        waiting=found["waiting"],
        kv_usage=found["kv_usage"],
        weights=lasted,
        tokens=found["scheduled_tokens"],
        prefill_tokens=found["prefill_tokens"],
        preempted=np.nan_to_num(found["preempted"]),
        engines=engines,
    )
    return Stepped(_series(found, lasted, engines, windows), _with_idle(moments, span))


def _series(
    found: "dict[str, Floats]", lasted: "Floats", engines: float, windows: Windows
) -> "dict[str, Floats]":
    end = found["end_s"]

    def level(name: str) -> "Floats":
        """Mean over the time of a window; nothing runs or waits between steps."""
        at = windows.place(end)
        inside = (at >= 0) & np.isfinite(found[name])
        sums = np.bincount(at[inside], (found[name] * lasted)[inside], len(windows))
        return sums / windows.widths_s

    def counted(values: "Floats") -> "Floats":
        at = windows.place(end)
        inside = (at >= 0) & np.isfinite(values)
        return np.bincount(at[inside], values[inside], len(windows)) / windows.widths_s

    decode = found["scheduled_tokens"] - np.nan_to_num(found["prefill_tokens"])
    steps = counted(np.ones(len(end)))
    return {
        "running": level("running"),
        "waiting": level("waiting"),
        "kv_usage": level("kv_usage") / engines,
        "preemptions_per_s": counted(np.nan_to_num(found["preempted"])),
        "prompt_tokens_computed_per_s": counted(np.nan_to_num(found["prefill_tokens"])),
        "generation_tokens_per_s": counted(decode),
        "server_iteration_tokens": windows.mean(end, found["scheduled_tokens"]),
        "server_iteration_tokens_per_s": steps,
        "server_itl_s": windows.mean(end, lasted, weights=np.maximum(decode, 1e-9)),
        "busy": counted(lasted) / engines,
    }


def _with_idle(moments: Moments, span_s: float) -> Moments:
    """With one moment more for the time in which no step ran."""
    idle = max(span_s - float(moments.weights.sum()), 0.0)
    added = {
        name: np.append(getattr(moments, name), value)
        for name, value in (
            ("t_s", np.nan), ("running", 0.0), ("waiting", 0.0), ("kv_usage", 0.0), ("weights", idle),
            ("tokens", 0.0), ("prefill_tokens", 0.0), ("preempted", 0.0),
        )
    }  # fmt: skip
    return Moments(**added, engines=moments.engines)
