"""The condition a machine's GPUs are in: what they are, how they are joined, what of them is limited or worn.

Read through NVML only, which neither makes a CUDA context nor takes GPU memory. None is what the driver does not tell.
"""

from collections.abc import Callable
from typing import Any, Final

from vramledger.frozen import frozen
from vramledger.hardware.nvml import Nvml
from vramledger.hardware.telemetry import Memory, Process, reasons_of

_MW: Final = 1e-3
# levels of nvmlDeviceGetTopologyCommonAncestor
_ANCESTORS: Final = {
    0: "same board",
    10: "one PCIe switch",
    20: "several PCIe switches",
    30: "one host bridge",
    40: "one NUMA node",
    50: "across NUMA nodes",
}
# members of nvmlGpuP2PCapsIndex_t; the binding has the first as a tuple
_READ, _WRITE, _NVLINK = 0, 1, 2
_VIRTUAL: Final = {0: "none", 1: "passthrough", 2: "vgpu", 3: "vgpu host", 4: "vsga host"}


@frozen
class Condition:
    """One GPU as it stands; sizes in bytes, power in W, clocks in MHz."""

    uuid: str
    name: str
    total_bytes: int | None  # of the board, as nvidia-smi prints it
    memory: Memory | None
    slices: tuple[str, ...]  # UUIDs of MIG slices
    mig_on: bool | None
    virtualization: str | None
    processes: tuple[Process, ...] | None
    pcie_generation: int | None  # now; it falls while the GPU idles
    pcie_generation_max: int | None  # of GPU and slot together
    pcie_width: int | None
    pcie_width_max: int | None
    nvlinks: int | None  # that are up
    numa_node: int | None
    power_limit_w: float | None
    power_limit_default_w: float | None
    sm_clock_mhz: int | None
    sm_clock_max_mhz: int | None
    temperature_c: int | None
    throttle: tuple[str, ...] | None
    ecc_on: bool | None
    ecc_uncorrected: int | None  # since the driver was loaded
    ecc_uncorrected_ever: int | None
    rows_remapped: int | None
    remap_pending: bool | None  # a reset is needed
    remap_failed: bool | None  # no spare rows are left: the GPU is to be replaced
    persistence_on: bool | None
    compute_mode: int | None  # 0: shared, 2: none may use it, 3: one process only


@frozen
class Pair:
    """How two GPUs are joined."""

    first: str
    second: str
    common: str | None  # what of the machine they share
    peer_access: bool | None  # each may read and write the other's memory
    nvlink: bool | None


@frozen
class Conditions:
    """All GPUs of this machine."""

    driver: str | None
    cuda: str | None  # the newest CUDA that the driver runs
    gpus: tuple[Condition, ...]
    pairs: tuple[Pair, ...]


def conditions() -> Conditions:
    """Of every GPU that the driver shows.

    Raises:
        CannotKnow: no library, or no driver.
    """
    nvml = Nvml()
    try:
        gpus = nvml.gpus()
        cuda = nvml.told(lambda: int(nvml.library.nvmlSystemGetCudaDriverVersion_v2()))
        ordered = list(gpus.items())
        pairs = [
            _pair(nvml, one, other)
            for index, one in enumerate(ordered)
            for other in ordered[index + 1 :]
        ]
        found = tuple(_condition(nvml, uuid, gpu) for uuid, gpu in ordered)
        shown = None if cuda is None else f"{cuda // 1000}.{cuda % 1000 // 10}"
        return Conditions(nvml.driver, shown, found, tuple(pairs))
    finally:
        nvml.close()


def _condition(nvml: Nvml, uuid: str, gpu: Any) -> Condition:
    lib = nvml.library

    def told(name: str, *arguments: Any, of: Callable[[Any], Any] = int) -> Any:
        return nvml.told(lambda: of(getattr(lib, name)(gpu, *arguments)))

    rows = told("nvmlDeviceGetRemappedRows", of=list)  # corrected, uncorrected, pending, failed
    memory = nvml.told(lambda: lib.nvmlDeviceGetMemoryInfo(gpu, version=lib.nvmlMemory_v2))
    errors = (lib.NVML_MEMORY_ERROR_TYPE_UNCORRECTED,)
    return Condition(
        uuid=uuid,
        name=told("nvmlDeviceGetName", of=str) or "",
        total_bytes=int(memory.total) if memory else _old_total(nvml, gpu),
        memory=Memory(int(memory.used), int(memory.free), int(memory.reserved)) if memory else None,
        slices=tuple(nvml.slices(gpu)),
        mig_on=told("nvmlDeviceGetMigMode", of=lambda modes: bool(modes[0])),
        virtualization=told("nvmlDeviceGetVirtualizationMode", of=_VIRTUAL.get),
        processes=told("nvmlDeviceGetComputeRunningProcesses", of=_processes),
        pcie_generation=told("nvmlDeviceGetCurrPcieLinkGeneration"),
        pcie_generation_max=told("nvmlDeviceGetMaxPcieLinkGeneration"),
        pcie_width=told("nvmlDeviceGetCurrPcieLinkWidth"),
        pcie_width_max=told("nvmlDeviceGetMaxPcieLinkWidth"),
        nvlinks=_nvlinks(nvml, gpu),
        numa_node=told("nvmlDeviceGetNumaNodeId"),
        power_limit_w=told("nvmlDeviceGetEnforcedPowerLimit", of=_watts),
        power_limit_default_w=told("nvmlDeviceGetPowerManagementDefaultLimit", of=_watts),
        sm_clock_mhz=told("nvmlDeviceGetClockInfo", lib.NVML_CLOCK_SM),
        sm_clock_max_mhz=told("nvmlDeviceGetMaxClockInfo", lib.NVML_CLOCK_SM),
        temperature_c=told("nvmlDeviceGetTemperature", lib.NVML_TEMPERATURE_GPU),
        throttle=told("nvmlDeviceGetCurrentClocksEventReasons", of=reasons_of),
        ecc_on=told("nvmlDeviceGetEccMode", of=lambda modes: bool(modes[0])),
        ecc_uncorrected=told("nvmlDeviceGetTotalEccErrors", *errors, lib.NVML_VOLATILE_ECC),
        ecc_uncorrected_ever=told("nvmlDeviceGetTotalEccErrors", *errors, lib.NVML_AGGREGATE_ECC),
        rows_remapped=None if rows is None else int(rows[0]) + int(rows[1]),
        remap_pending=None if rows is None else bool(rows[2]),
        remap_failed=None if rows is None else bool(rows[3]),
        persistence_on=told("nvmlDeviceGetPersistenceMode", of=bool),
        compute_mode=told("nvmlDeviceGetComputeMode"),
    )


def _old_total(nvml: Nvml, gpu: Any) -> int | None:
    return nvml.told(lambda: int(nvml.library.nvmlDeviceGetMemoryInfo(gpu).total))


def _watts(milliwatts: int) -> float:
    return milliwatts * _MW


def _processes(found: Any) -> tuple[Process, ...]:
    return tuple(
        Process(int(each.pid), None if each.usedGpuMemory is None else int(each.usedGpuMemory))
        for each in found
    )


def _nvlinks(nvml: Nvml, gpu: Any) -> int | None:
    lib = nvml.library
    states = [
        nvml.told(lambda n=link: int(lib.nvmlDeviceGetNvLinkState(gpu, n)))  # type: ignore[misc]
        for link in range(lib.NVML_NVLINK_MAX_LINKS)
    ]
    told = [state for state in states if state is not None]
    return sum(told) if told else None


def _pair(nvml: Nvml, one: tuple[str, Any], other: tuple[str, Any]) -> Pair:
    lib = nvml.library

    def reach(kind: int) -> bool | None:
        status = nvml.told(lambda: int(lib.nvmlDeviceGetP2PStatus(one[1], other[1], kind)))
        return None if status is None else status == lib.NVML_P2P_STATUS_OK

    common = nvml.told(lambda: int(lib.nvmlDeviceGetTopologyCommonAncestor(one[1], other[1])))
    both = [reach(_READ), reach(_WRITE)]
    return Pair(
        one[0],
        other[0],
        None if common is None else _ANCESTORS.get(common, f"level {common}"),
        None if None in both else all(both),
        reach(_NVLINK),
    )
