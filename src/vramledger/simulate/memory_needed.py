"""Whether this machine has the memory for a simulation, told before it begins."""

from pathlib import Path
from typing import Final

from vramledger.errors import BadInput
from vramledger.units import format_bytes
from vramledger.workload.operators.prepared import Part
from vramledger.workload.store import read_metadata

BYTES_A_REQUEST: Final = 1_000
"""Seen at most: 790 bytes on average between 0.4 and 1.5 million requests of about 1,000 + 200 tokens."""

_MEMINFO: Final = Path("/proc/meminfo")


def refuse_beyond_memory(requests: int, available: int | None) -> None:
    """`available` is in bytes; None where the system does not tell, and then nothing is refused.

    Raises:
        BadInput: so many requests do not fit.
    """
    needed = requests * BYTES_A_REQUEST
    if available is not None and needed > available:
        raise BadInput(
            f"The load has {requests:,} requests, whose simulation takes about {format_bytes(needed)} "
            f"of memory, but only {format_bytes(available)} are free here; lower the rate, or take a "
            "part of the workload with vram workload slice or head."
        )


def refuse_part_beyond_memory(part: Part) -> None:
    """The same before the part is made, as far as its size is known before: without a scenario.

    Raises:
        BadInput: no workload, or more requests than fit.
    """
    rows = read_metadata(part.workload).rows
    if part.scenario is None:
        refuse_beyond_memory(int(rows * part.rate_scale), available_memory())


def available_memory() -> int | None:
    """Bytes that programs may still take on this machine, None where /proc/meminfo does not say."""
    try:
        lines = _MEMINFO.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    kib = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(kib[0]) << 10 if kib else None
