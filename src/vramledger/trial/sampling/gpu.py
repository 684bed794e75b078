"""The GPUs of this machine as rows of gpu.parquet; what a driver reports only when it happens, as events."""

from collections.abc import Callable, Collection

from vramledger.errors import CannotKnow
from vramledger.hardware.telemetry import Reading, Telemetry
from vramledger.record.samples import GpuSample
from vramledger.trial.sampling.source import Clock, Event, Missed, Taken


class GpuSource:
    """A source of GPU rows through NVML.

    `ours` tells the server's processes, so that their memory can be told from that of others.

    Raises:
        CannotKnow: there is no GPU to read here.
    """

    name = "gpu"
    every_s: float | None = None

    def __init__(
        self,
        uuids: Collection[str] = (),
        ours: Callable[[], Collection[int]] | None = None,
    ) -> None:
        self._telemetry = Telemetry(uuids)
        self._ours = ours
        self._ecc: dict[str, tuple[int | None, int | None]] = {}

    @property
    def uuids(self) -> tuple[str, ...]:
        """The GPUs that are read."""
        return self._telemetry.uuids

    @property
    def driver(self) -> str | None:
        """The driver's version."""
        return self._telemetry.driver

    def take(self, clock: Clock) -> Taken:
        """All GPUs now."""
        t_s = clock.now_s()
        readings = self._telemetry.read()
        if all(reading.memory is None for reading in readings):
            raise Missed("driver", "the driver answers no question about the GPU's memory")
        ours = None if self._ours is None else frozenset(self._ours())
        rows = tuple(sample(t_s, reading, ours) for reading in readings)
        used = [row.used_bytes for row in rows if row.used_bytes is not None]
        levels = {"gpu_used_bytes": float(max(used))} if used else {}
        return Taken(rows, (*self._new_errors(readings), *self._xids()), levels)

    def close(self) -> None:
        """Let go of the library."""
        self._telemetry.close()

    def _new_errors(self, readings: tuple[Reading, ...]) -> tuple[Event, ...]:
        """Errors of the GPU's memory since the reading before."""
        events = []
        for reading in readings:
            now = (reading.ecc_corrected, reading.ecc_uncorrected)
            before = self._ecc.get(reading.uuid, now)
            self._ecc[reading.uuid] = now
            grown = [(n or 0) - (b or 0) for n, b in zip(now, before, strict=True)]
            if any(more > 0 for more in grown):
                details = {"gpu": reading.uuid, "corrected": grown[0], "uncorrected": grown[1]}
                events.append(Event("gpu_ecc_errors", details))
        return tuple(events)

    def _xids(self) -> tuple[Event, ...]:
        return tuple(
            Event("gpu_xid", {"gpu": xid.uuid, "xid": xid.number}) for xid in self._telemetry.xids()
        )


def sample(t_s: float, reading: Reading, ours: frozenset[int] | None) -> GpuSample:
    """A reading as a row; memory of our own processes is null where the driver does not tell it of each."""
    memory = reading.memory
    return GpuSample(
        t_s=t_s,
        gpu_uuid=reading.uuid,
        used_bytes=memory.used if memory else None,
        free_bytes=memory.free if memory else None,
        reserved_bytes=memory.reserved if memory else None,
        ours_bytes=_ours_bytes(reading, ours),
        utilization=reading.utilization,
        power_w=reading.power_w,
        temperature_c=reading.temperature_c,
        sm_clock_mhz=reading.sm_clock_mhz,
        throttle=None if reading.throttle is None else ",".join(reading.throttle),
    )


def _ours_bytes(reading: Reading, ours: frozenset[int] | None) -> int | None:
    if ours is None or reading.processes is None:
        return None
    sizes = [each.used_bytes for each in reading.processes if each.pid in ours]
    told = [size for size in sizes if size is not None]
    return sum(told) if told and len(told) == len(sizes) else None


def gpu_source(
    uuids: Collection[str] = (), ours: Callable[[], Collection[int]] | None = None
) -> GpuSource | CannotKnow:
    """A source, or why there is none on this machine."""
    try:
        return GpuSource(uuids, ours)
    except CannotKnow as error:
        return error
