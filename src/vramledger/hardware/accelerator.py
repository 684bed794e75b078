"""An accelerator as memory and time see it."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Final

from vramledger.evidence import Figure
from vramledger.frozen import frozen

_SERVER_FORMS: Final = ("SXM", "OAM", "FHFL", "superchip", "tray", "APU socket")


class Vendor(StrEnum):
    """Who makes the accelerator; decides which engine paths exist."""

    NVIDIA = "NVIDIA"
    AMD = "AMD"
    INTEL = "Intel"
    HUAWEI = "Huawei"
    CPU = "CPU"  # a host that serves on its own cores


@frozen
class Accelerator:
    """One GPU (or die) as the driver shows it.

    `total` is the memory the driver reports in GiB, the only figure budgets start from; the
    "80GB" of a product name is neither 10**9 nor 2**30. Missing figures are None: no guess.
    """

    name: str  # MODEL-MEMORY-FORM where needed: "H100-80GB-SXM", "L40S"
    vendor: Vendor
    architecture: str  # "Hopper", "Ada", "CDNA3"
    compute_capability: tuple[int, int] | None  # NVIDIA only
    nominal_gb: float
    total: Figure  # GiB reported by the driver
    bandwidth_gb_s: float | None = None
    dense_tflops: Mapping[str, float] = field(
        default_factory=dict, hash=False
    )  # "bf16", "fp16", "fp8", "fp4", "int8"
    multiprocessors: int | None = None  # SMs or compute units
    fabric_kind: str = ""  # "NVSwitch", "NVLink bridge", "Infinity Fabric"; empty: PCIe only
    fabric_group: int = 1  # GPUs that the fabric joins each to each
    fabric_gb_s: float | None = None  # both directions; None where there is none or none is known
    pcie_gb_s: float | None = None  # one direction
    form: str = ""  # "SXM", "PCIe card", "OAM", ...
    slots: float | None = None
    tdp_w: float | None = None
    cooling: str = ""
    per_server: int | None = None  # most in one usual server
    unified_memory: bool = False  # shares the host's memory
    aliases: tuple[str, ...] = ()
    prints: tuple[str, ...] = ()  # what the vendor's own tool and the driver call it
    memory_type: str = ""
    pcie: str = ""  # generation and lanes: "5.0 x16"
    gfx_target: str | None = None  # AMD only: "gfx942"
    nvidia_smi_mib: int | None = None  # what nvidia-smi prints; more than CUDA is given
    parent: str | None = None  # the whole GPU of a MIG slice
    slices_per_parent: int | None = None  # MIG only: how many of them one GPU makes
    sources: Mapping[str, str] = field(
        default_factory=dict, hash=False
    )  # figure -> where published
    source: str = ""
    notes: str = ""

    @property
    def for_servers(self) -> bool:
        """Whether it is made for data centres, by its form, cooling or stacked memory."""
        module = any(word in self.form for word in _SERVER_FORMS)
        return module or self.cooling == "passive" or self.memory_type.startswith("HBM3")

    @property
    def total_bytes(self) -> int:
        """Expected reported memory in bytes."""
        return round(self.total.value * (1 << 30))
