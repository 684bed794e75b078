"""Cards that the catalogue does not know as they are: from a data sheet, or with another total."""

from collections.abc import Mapping
from dataclasses import field, replace
from math import isfinite
from typing import Final

from vramledger.errors import BadInput
from vramledger.evidence import Basis, Figure
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator, Vendor
from vramledger.units import GIB, plain

LARGEST_GIB: Final = 2048.0  # no accelerator reports more than 2 TiB
_KEPT_AT_MOST: Final = 0.03  # the largest share any driver in the catalogue keeps for itself


@frozen
class DataSheet:
    """What a supplier's sheet says of a card; give what programs see or the nominal size."""

    name: str
    total_gib: float | None = None  # what the driver gives programs
    memory_gb: float | None = None  # the size in the product's name
    vendor: Vendor = Vendor.NVIDIA
    architecture: str = "unknown"
    compute_capability: tuple[int, int] | None = None
    bandwidth_gb_s: float | None = None
    dense_tflops: Mapping[str, float] = field(default_factory=dict, hash=False)
    fabric_gb_s: float | None = None
    fabric_group: int = 1
    pcie_gb_s: float | None = None
    tdp_w: float | None = None
    basis: Basis = Basis.ASSUMED
    source: str = ""


def custom(sheet: DataSheet, where: str = "") -> Accelerator:
    """A card from a data sheet, on the basis the sheet has.

    With only a nominal size the total is a band: from the size in decimal gigabytes less what
    drivers keep, to the size in binary gigabytes.

    Raises:
        BadInput: neither size is given, or one is not a size that a card can have.
    """
    place = where or f"the data sheet of {sheet.name}"
    if sheet.total_gib is None and sheet.memory_gb is None:
        raise BadInput(
            f"{place} gives no memory; write total_gib (what nvidia-smi or torch reports) or "
            "memory_gb (the size in the product's name)."
        )
    source = sheet.source or f"data sheet of {sheet.name}"
    if sheet.total_gib is not None:
        check_gib(sheet.total_gib, f"total_gib in {place}")
        total = Figure.sharp(sheet.total_gib, sheet.basis, source)
    else:
        total = _from_nominal(sheet.memory_gb or 0.0, sheet.basis, source, place)
    return Accelerator(
        name=sheet.name,
        vendor=sheet.vendor,
        architecture=sheet.architecture,
        compute_capability=sheet.compute_capability,
        nominal_gb=total.high if sheet.memory_gb is None else sheet.memory_gb,
        total=total,
        bandwidth_gb_s=sheet.bandwidth_gb_s,
        dense_tflops=sheet.dense_tflops,
        fabric_kind="fabric of the data sheet" if sheet.fabric_gb_s else "",
        fabric_group=sheet.fabric_group,
        fabric_gb_s=sheet.fabric_gb_s,
        pcie_gb_s=sheet.pcie_gb_s,
        tdp_w=sheet.tdp_w,
        source=source,
    )


def with_total(
    accelerator: Accelerator, total_gib: float, where: str = "--total-gib"
) -> Accelerator:
    """The same card with another reported total, on the user's word.

    Raises:
        BadInput: the figure is not a size that a card can have.
    """
    check_gib(total_gib, where)
    total = Figure.sharp(float(total_gib), Basis.ASSUMED, f"given by {where}")
    return replace(accelerator, total=total)


def check_gib(amount: float, what: str) -> None:
    """Refuse a memory size that no accelerator has; `what` names it in the refusal.

    Raises:
        BadInput: it is not a positive number of at most 2 TiB.
    """
    if not isfinite(amount) or not 0 < amount <= LARGEST_GIB:
        raise BadInput(
            f"{what} is {plain(amount)} GiB, which no accelerator has; "
            f"give a size above 0 and up to {plain(LARGEST_GIB)} GiB."
        )


def _from_nominal(memory_gb: float, basis: Basis, source: str, place: str) -> Figure:
    check_gib(memory_gb, f"memory_gb in {place}")
    low = memory_gb * 1e9 / GIB * (1 - _KEPT_AT_MOST)
    return Figure((low + memory_gb) / 2, low, memory_gb, basis, f"nominal size in {source}")
