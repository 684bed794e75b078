"""What is measured only when asked for, since it takes time, disk or traffic, or a tool: each with its limits."""

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from vramledger.deadline import within
from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.printable import without_password
from vramledger.units import MIB

_FILE: Final = 256 * MIB
_PIECE: Final = 4 * MIB
_DISK_S: Final = 30.0
_DOWNLOAD_S: Final = 10.0
_TOOL_S: Final = 120.0
TOOL: Final = "all_reduce_perf"
# size, elements, type, operation, root, then time in us, algorithm's and bus bandwidth in GB/s, out of place
_ROW: Final = re.compile(
    r"^\s*(?P<size>\d+)\s+\d+\s+\w+\s+\w+\s+-?\d+\s+(?P<us>[\d.]+)\s+[\d.]+\s+(?P<bus>[\d.]+)\s",
    re.MULTILINE,
)


@frozen
class Speed:
    """Bytes a second, with what was moved."""

    bytes_per_s: float
    moved_bytes: int


@frozen
class AllReduce:
    """Of NVIDIA's nccl-tests over all GPUs of the machine: the smallest message's time, the best bus bandwidth."""

    latency_us: float
    bus_gb_s: float


def disk_write_speed(folder: Path) -> Speed:
    """How fast a file of 256 MiB reaches the disk; it is taken away again.

    Raises:
        BadInput: it cannot be written there.
    """
    piece = os.urandom(_PIECE)  # some file systems store repeated bytes for nothing
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            began, moved = time.monotonic(), 0
            while moved < _FILE and time.monotonic() - began < _DISK_S:
                moved += file.write(piece)
            file.flush()
            os.fsync(file.fileno())
            return Speed(moved / (time.monotonic() - began), moved)
    except OSError as error:
        raise BadInput(
            f"{folder} cannot be written ({error.strerror or error}), so its speed is not known; "
            "name another folder."
        ) from None


def download_speed(url: str) -> Speed:
    """How fast an address is read, over some seconds or until it ends.

    Raises:
        BadInput: it cannot be read.
    """
    import http.client
    import urllib.error
    import urllib.request

    where = without_password(url)
    if not url.startswith(("http://", "https://")):
        raise BadInput(f"{where} is no address of a web page; give one with http:// or https://.")

    def read() -> Speed:
        with urllib.request.urlopen(url, timeout=_DOWNLOAD_S) as answer:  # noqa: S310 - see above
            began, moved = time.monotonic(), 0
            while time.monotonic() - began < _DOWNLOAD_S and (piece := answer.read1(_PIECE)):
                moved += len(piece)
            return Speed(moved / max(1e-6, time.monotonic() - began), moved)

    try:
        return within(3 * _DOWNLOAD_S, read)
    except (OSError, ValueError, http.client.HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        raise BadInput(
            f"{where} cannot be read, so the speed of a download is not known; check the address."
        ) from None


def all_reduce(gpus: int, environment: Mapping[str, str] | None = None) -> AllReduce | str:
    """What the tool measures, or why it does not.

    It makes a CUDA context on every GPU and moves data between them for some seconds.
    """
    path = shutil.which(TOOL, path=(environment or os.environ).get("PATH"))
    if path is None:
        return f"{TOOL} of NVIDIA's nccl-tests is not in the PATH"
    command = [path, "-b", "8", "-e", "64M", "-f", "8", "-g", str(gpus)]
    try:
        run = subprocess.run(  # noqa: S603 - the tool that was found
            command, capture_output=True, text=True, timeout=_TOOL_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return f"{TOOL} did not end within {_TOOL_S:g} s or could not be started"
    rows = [(int(m["size"]), float(m["us"]), float(m["bus"])) for m in _ROW.finditer(run.stdout)]
    if run.returncode or not rows:
        return f"{TOOL} failed; run it by itself to see why"
    return AllReduce(min(rows)[1], max(bus for _, _, bus in rows))
