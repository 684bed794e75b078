"""What NVML says of the GPUs of this machine from moment to moment.

No figure is asked of the GPU itself, so a reading neither makes a CUDA context nor takes GPU memory. What a driver, a
card or a MIG slice does not tell is None. https://docs.nvidia.com/deploy/nvml-api/
"""

from collections.abc import Collection
from typing import Any, Final

from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.hardware.nvml import Nvml

_MW: Final = 1e-3
# bits of nvmlDeviceGetCurrentClocksEventReasons
REASONS: Final = {
    0x001: "idle",
    0x002: "application_clocks",
    0x004: "power_cap",
    0x008: "hardware_slowdown",
    0x010: "sync_boost",
    0x020: "software_thermal",
    0x040: "hardware_thermal",
    0x080: "power_brake",
    0x100: "display_clocks",
}


@frozen
class Memory:
    """Bytes; `reserved` is what driver and firmware keep, and is not in `used`."""

    used: int
    free: int
    reserved: int | None


@frozen
class Process:
    """One process with a context on a GPU; its memory is None where the driver hides it, as in most containers."""

    pid: int
    used_bytes: int | None


@frozen
class Reading:
    """One GPU or MIG slice at a moment."""

    uuid: str
    memory: Memory | None
    utilization: float | None  # 0..1
    power_w: float | None
    temperature_c: float | None
    sm_clock_mhz: float | None
    throttle: tuple[str, ...] | None
    processes: tuple[Process, ...] | None
    ecc_corrected: int | None  # since the driver was loaded
    ecc_uncorrected: int | None


@frozen
class Xid:
    """A critical error that the driver reported: https://docs.nvidia.com/deploy/xid-errors/."""

    uuid: str
    number: int


class Telemetry:
    """An open NVML library; close it.

    Args:
        uuids: GPUs to read; all that the driver shows where none are named.

    Raises:
        CannotKnow: no library, no driver, or none of those GPUs.
    """

    def __init__(self, uuids: Collection[str] = ()) -> None:
        self._open = Nvml()
        self._nvml, self._told = self._open.library, self._open.told
        try:
            self._devices = self._found(frozenset(uuids))
        except CannotKnow:
            self.close()
            raise
        if not self._devices:
            self.close()
            raise CannotKnow("NVML shows no GPU of that kind on this machine.")
        self._events = self._told(self._listen)

    @property
    def driver(self) -> str | None:
        """The driver's version."""
        return self._open.driver

    @property
    def uuids(self) -> tuple[str, ...]:
        """The GPUs and slices that are read."""
        return tuple(self._devices)

    def read(self) -> tuple[Reading, ...]:
        """All of them now."""
        return tuple(self._read(uuid, device) for uuid, device in self._devices.items())

    def xids(self) -> tuple[Xid, ...]:
        """Critical errors since the last call, where the driver lets this process hear of them."""
        found = []
        while self._events is not None:
            event = self._told(lambda: self._nvml.nvmlEventSetWait_v2(self._events, 0))
            if event is None:
                break
            uuid = self._told(lambda e=event: str(self._nvml.nvmlDeviceGetUUID(e.device)))  # type: ignore[misc]
            found.append(Xid(uuid or "", int(event.eventData)))
        return tuple(found)

    def close(self) -> None:
        """Let go of the library."""
        self._open.close()

    def _found(self, wanted: frozenset[str]) -> dict[str, Any]:
        devices: dict[str, Any] = {}
        for uuid, gpu in self._open.gpus().items():
            devices |= {uuid: gpu, **self._open.slices(gpu)}
        return {uuid: d for uuid, d in devices.items() if not wanted or uuid in wanted}

    def _listen(self) -> Any:
        nvml = self._nvml
        events = nvml.nvmlEventSetCreate()
        for device in self._devices.values():
            self._told(
                lambda d=device: nvml.nvmlDeviceRegisterEvents(d, nvml.nvmlEventTypeXidCriticalError, events)  # type: ignore[misc]
            )  # fmt: skip
        return events

    def _read(self, uuid: str, device: Any) -> Reading:
        nvml, told = self._nvml, self._told
        utilization = told(lambda: nvml.nvmlDeviceGetUtilizationRates(device).gpu / 100)
        power = told(lambda: nvml.nvmlDeviceGetPowerUsage(device) * _MW)
        temperature = told(
            lambda: float(nvml.nvmlDeviceGetTemperature(device, nvml.NVML_TEMPERATURE_GPU))
        )
        clock = told(lambda: float(nvml.nvmlDeviceGetClockInfo(device, nvml.NVML_CLOCK_SM)))
        return Reading(
            uuid=uuid,
            memory=told(lambda: self._memory(device)),
            utilization=utilization,
            power_w=power,
            temperature_c=temperature,
            sm_clock_mhz=clock,
            throttle=self._throttle(device),
            processes=told(lambda: self._processes(device)),
            ecc_corrected=self._ecc(device, nvml.NVML_MEMORY_ERROR_TYPE_CORRECTED),
            ecc_uncorrected=self._ecc(device, nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED),
        )

    def _memory(self, device: Any) -> Memory:
        nvml = self._nvml
        second = self._told(
            lambda: nvml.nvmlDeviceGetMemoryInfo(device, version=nvml.nvmlMemory_v2)
        )
        if second is not None:
            return Memory(int(second.used), int(second.free), int(second.reserved))
        first = nvml.nvmlDeviceGetMemoryInfo(device)  # drivers before 510
        return Memory(int(first.used), int(first.free), None)

    def _throttle(self, device: Any) -> tuple[str, ...] | None:
        nvml = self._nvml
        mask = self._told(lambda: nvml.nvmlDeviceGetCurrentClocksEventReasons(device))
        if mask is None:  # drivers before 535
            mask = self._told(lambda: nvml.nvmlDeviceGetCurrentClocksThrottleReasons(device))
        return None if mask is None else reasons_of(int(mask))

    def _processes(self, device: Any) -> tuple[Process, ...]:
        found = self._nvml.nvmlDeviceGetComputeRunningProcesses(device)
        return tuple(
            Process(int(each.pid), None if each.usedGpuMemory is None else int(each.usedGpuMemory))
            for each in found
        )

    def _ecc(self, device: Any, kind: int) -> int | None:
        nvml = self._nvml
        return self._told(
            lambda: int(nvml.nvmlDeviceGetTotalEccErrors(device, kind, nvml.NVML_VOLATILE_ECC))
        )


def reasons_of(mask: int) -> tuple[str, ...]:
    """Why clocks are not at their highest; bits without a name as `bit_N`."""
    known = [name for bit, name in REASONS.items() if mask & bit]
    rest = [
        f"bit_{at}" for at in range(mask.bit_length()) if mask >> at & 1 and 1 << at not in REASONS
    ]
    return (*known, *rest)
