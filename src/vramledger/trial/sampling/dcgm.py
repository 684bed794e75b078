"""GPUs of another machine, from the page of a DCGM exporter there.

The exporter reads the GPUs at an interval of its own (30 s unless told otherwise), so rows repeat between.
https://docs.nvidia.com/datacenter/dcgm/latest/gpu-telemetry/dcgm-exporter.html
"""

from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Any, Final

from vramledger.engine.metrics.page import PageProblem, PageReader
from vramledger.frozen import frozen
from vramledger.hardware.telemetry import reasons_of
from vramledger.record.samples import GpuSample
from vramledger.trial.sampling.fetching import PageConnection
from vramledger.trial.sampling.source import Clock, Event, Missed, Taken
from vramledger.trial.sampling.target import Target
from vramledger.units import MIB

XID: Final = "DCGM_FI_DEV_XID_ERRORS"


def _mib(value: float) -> int:
    return int(value * MIB)


def _percent(value: float) -> float:
    return min(1.0, value / 100)


def _reasons(value: float) -> str:
    return ",".join(reasons_of(int(value)))


# field of the exporter -> column of gpu.parquet; of two for one column the first on the page counts
COLUMNS: Final[Mapping[str, tuple[str, Callable[[float], Any]]]] = {
    "DCGM_FI_DEV_FB_USED": ("used_bytes", _mib),
    "DCGM_FI_DEV_FB_FREE": ("free_bytes", _mib),
    "DCGM_FI_DEV_FB_RESERVED": ("reserved_bytes", _mib),
    "DCGM_FI_DEV_GPU_UTIL": ("utilization", _percent),
    "DCGM_FI_DEV_POWER_USAGE": ("power_w", float),
    "DCGM_FI_DEV_GPU_TEMP": ("temperature_c", float),
    "DCGM_FI_DEV_SM_CLOCK": ("sm_clock_mhz", float),
    "DCGM_FI_DEV_CLOCKS_EVENT_REASONS": ("throttle", _reasons),
    "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS": ("throttle", _reasons),
}


@frozen
class Told:
    """One figure of one GPU."""

    field: str
    labels: Mapping[str, str]
    value: float


class DcgmPage:
    """A source of GPU rows.

    `uuids` limits it to some of the exporter's GPUs.
    """

    every_s: float | None = None

    def __init__(self, target: Target, uuids: Iterable[str] = (), timeout_s: float = 5.0) -> None:
        self.name, self._wanted = target.name, frozenset(uuids)
        self._connection = PageConnection(target.url, target.headers, timeout_s)
        self._reader = PageReader()
        self._xids: dict[str, float] = {}

    def take(self, clock: Clock) -> Taken:
        """The page now."""
        t_s = clock.now_s()
        body = self._connection.get().body
        try:
            values = self._reader.read(body.decode("utf-8"))
        except (UnicodeDecodeError, PageProblem):
            raise Missed("not_metrics", "what it sends is no metrics page") from None
        series = self._reader.series
        told = [Told(series[n].raw_name, series[n].label_values, v) for n, v in values.items()]
        rows = tuple(
            row for row in gpu_rows(t_s, told) if not self._wanted or row.gpu_uuid in self._wanted
        )
        if not rows:
            raise Missed("not_metrics", "its page has no figure of a GPU that was asked for")
        return Taken(rows, self._new_xids(told))

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _new_xids(self, told: Iterable[Told]) -> tuple[Event, ...]:
        """The exporter shows the last error of each GPU, 0 for none."""
        events = []
        for each in told:
            if each.field == XID and (uuid := gpu_of(each.labels)) is not None:
                before = self._xids.get(uuid, each.value)
                self._xids[uuid] = each.value
                if each.value not in (before, 0):
                    events.append(Event("gpu_xid", {"gpu": uuid, "xid": int(each.value)}))
        return tuple(events)


def gpu_rows(t_s: float, told: Iterable[Told]) -> tuple[GpuSample, ...]:
    """One row a GPU from figures of one moment."""
    found: dict[str, dict[str, Any]] = {}
    for each in told:
        uuid, column = gpu_of(each.labels), COLUMNS.get(each.field)
        if uuid is None or column is None or not isfinite(each.value):
            continue
        name, convert = column
        found.setdefault(uuid, {}).setdefault(name, convert(each.value))
    return tuple(GpuSample(t_s, uuid, **figures) for uuid, figures in found.items())


def gpu_of(labels: Mapping[str, str]) -> str | None:
    """Which GPU a series is of; a slice of one carries the number of its instance."""
    uuid = labels.get("UUID") or labels.get("uuid")
    instance = labels.get("GPU_I_ID")
    return f"{uuid}/{instance}" if uuid and instance else uuid
