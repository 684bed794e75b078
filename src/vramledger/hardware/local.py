"""The GPUs of this machine, read through NVML."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from vramledger.errors import BadInput, CannotKnow
from vramledger.evidence import Basis, Figure
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator, Vendor
from vramledger.hardware.catalogue import find, printing
from vramledger.units import GIB, MIB


@frozen
class LocalGpu:
    """One GPU of this machine; its accelerator carries the measured total."""

    index: int
    uuid: str
    accelerator: Accelerator
    free_bytes: int
    driver: str


def local() -> tuple[LocalGpu, ...]:
    """Every NVIDIA GPU that the driver shows, MIG slices in place of a GPU that is cut.

    Raises:
        CannotKnow: there is no NVML library, no driver or no GPU; the message says which.
    """
    with _nvml() as nvml:
        driver = str(nvml.nvmlSystemGetDriverVersion())
        devices = [
            device
            for index in range(nvml.nvmlDeviceGetCount())
            for device in _devices(nvml, nvml.nvmlDeviceGetHandleByIndex(index))
        ]
        found = tuple(_read(nvml, device, index, driver) for index, device in enumerate(devices))
    if not found:
        raise CannotKnow(
            "--gpu auto found the NVIDIA driver but no GPU; name the card instead, "
            "for example --gpu H100-80GB-SXM."
        )
    return found


def local_accelerator() -> Accelerator:
    """The accelerator of this machine, for ``--gpu auto``.

    Raises:
        BadInput: the machine has GPUs of different kinds.
        CannotKnow: as `local`.
    """
    found = local()
    kinds = sorted({gpu.accelerator.name for gpu in found})
    if len(kinds) > 1:
        raise BadInput(
            f"--gpu auto found GPUs of different kinds ({', '.join(kinds)}); "
            "name the one the engine will use."
        )
    return min((gpu.accelerator for gpu in found), key=lambda card: card.total.value)


@contextmanager
def _nvml() -> Iterator[Any]:
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        raise CannotKnow(
            f"--gpu auto cannot read this machine: NVML says {error}. It needs an NVIDIA GPU and "
            "its driver; name the card instead, for example --gpu H100-80GB-SXM."
        ) from error
    try:
        yield pynvml
    except pynvml.NVMLError as error:
        raise CannotKnow(
            f"--gpu auto cannot read this machine: NVML says {error} while reading a GPU; "
            "name the card instead, for example --gpu H100-80GB-SXM."
        ) from error
    finally:
        pynvml.nvmlShutdown()


def _devices(nvml: Any, gpu: Any) -> list[Any]:
    """The MIG slices of a GPU that is cut, otherwise the GPU."""
    return slices(nvml, gpu) or [gpu]


def slices(nvml: Any, gpu: Any) -> list[Any]:
    """The MIG slices of a GPU, as handles of an open library; none where it is not cut."""
    try:
        current, _pending = nvml.nvmlDeviceGetMigMode(gpu)
        if current != nvml.NVML_DEVICE_MIG_ENABLE:
            return []
        count = nvml.nvmlDeviceGetMaxMigDeviceCount(gpu)
        found = [_slice(nvml, gpu, index) for index in range(count)]
    except nvml.NVMLError:  # a GPU or driver that knows no MIG
        return []
    return [device for device in found if device is not None]


def _slice(nvml: Any, gpu: Any, index: int) -> Any | None:
    try:
        return nvml.nvmlDeviceGetMigDeviceHandleByIndex(gpu, index)
    except nvml.NVMLError_NotFound:  # this position holds no slice
        return None


def _read(nvml: Any, device: Any, index: int, driver: str) -> LocalGpu:
    name = str(nvml.nvmlDeviceGetName(device))
    memory = _memory(nvml, device)
    card = _card(nvml, device, name, memory.board)
    total = card.total  # an old driver does not say what it keeps; the catalogue's figure stands
    if memory.kept is not None:
        given = (memory.board - memory.kept) / GIB
        total = Figure.sharp(given, Basis.MEASURED, f"NVML on this machine, driver {driver}")
    accelerator = replace(card, total=total, nvidia_smi_mib=round(memory.board / MIB))
    uuid = str(nvml.nvmlDeviceGetUUID(device))
    return LocalGpu(index, uuid, accelerator, memory.free, driver)


@frozen
class _Memory:
    """Bytes of the board, of it kept by the driver (None where it does not say), and free."""

    board: int
    kept: int | None
    free: int


def _memory(nvml: Any, device: Any) -> _Memory:
    try:
        memory = nvml.nvmlDeviceGetMemoryInfo(device, version=nvml.nvmlMemory_v2)
    except (nvml.NVMLError_FunctionNotFound, nvml.NVMLError_NotSupported):
        memory = nvml.nvmlDeviceGetMemoryInfo(device)  # drivers before 510
        return _Memory(memory.total, None, memory.free)
    return _Memory(memory.total, memory.reserved, memory.free)


def _card(nvml: Any, device: Any, name: str, board: int) -> Accelerator:
    """The catalogue's card of that printed name and size, or one with only what NVML says."""
    tiers = printing(name)
    if not tiers and " MIG " in name:
        return find(name)
    if tiers:
        return min(tiers, key=lambda card: abs(card.nominal_gb - board / GIB))
    capability = nvml.nvmlDeviceGetCudaComputeCapability(device)
    return Accelerator(
        name=name,
        vendor=Vendor.NVIDIA,
        architecture="unknown",
        compute_capability=(int(capability[0]), int(capability[1])),
        nominal_gb=round(board / GIB),
        total=Figure.sharp(board / GIB, Basis.MEASURED, "NVML on this machine"),
        prints=(name,),
        notes="The catalogue does not know this card; only its memory and capability are known.",
    )
