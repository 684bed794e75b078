"""A host that serves on its own cores: the memory is the host's, kernels follow its instructions."""

from pathlib import Path
from typing import Final

from vramledger.errors import CannotKnow
from vramledger.evidence import Basis, Figure
from vramledger.hardware.accelerator import Accelerator, Vendor
from vramledger.units import GIB, KIB

# Instruction sets that change what engines store or how large a block is: /proc/cpuinfo flags.
_INSTRUCTIONS: Final = {"amx_tile": "AMX", "avx512_bf16": "BF16"}
# No sheet has a processor's rates for this work. These are figures to count shares of: a calibration on the host finds
# the share, and without one a step time on it is a guess, which every such figure says.
_NOMINAL_GB_S: Final = 50.0
_NOMINAL_TFLOPS: Final = 1.0
_MEMINFO: Final = Path("/proc/meminfo")
_CPUINFO: Final = Path("/proc/cpuinfo")


def cpu_host(total: Figure, instructions: frozenset[str] = frozenset()) -> Accelerator:
    """A CPU host of that memory in GiB; `instructions` are "AMX" and "BF16" where it has them."""
    return Accelerator(
        name="CPU",
        vendor=Vendor.CPU,
        architecture=" ".join(("x86-64", *sorted(instructions))),
        compute_capability=None,
        nominal_gb=round(total.value * GIB / 1e9, 1),
        total=total,
        bandwidth_gb_s=_NOMINAL_GB_S,
        dense_tflops={"bf16": _NOMINAL_TFLOPS},
        unified_memory=True,
        source=total.source,
    )


def this_host() -> Accelerator:
    """The machine this runs on.

    Raises:
        CannotKnow: it does not tell its memory the way Linux does.
    """
    try:
        lines = _MEMINFO.read_text().splitlines()
        flags = set(_CPUINFO.read_text().split())
    except OSError as error:
        raise CannotKnow(
            f"This machine's memory cannot be read from {error.filename}; give it with --total-gib."
        ) from None
    total = _kib(lines, "MemTotal") * KIB / GIB
    found = frozenset(name for flag, name in _INSTRUCTIONS.items() if flag in flags)
    return cpu_host(Figure.sharp(total, Basis.MEASURED, str(_MEMINFO)), found)


def _kib(lines: list[str], key: str) -> int:
    for line in lines:
        name, _, rest = line.partition(":")
        if name == key:
            return int(rest.split()[0])
    raise CannotKnow(f"{_MEMINFO} has no {key}; give the memory with --total-gib.")
