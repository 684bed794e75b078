"""A profile from a file: one written as JSON, or that of a stored workload."""

import json
from pathlib import Path
from typing import Final

from vramledger.errors import BadInput
from vramledger.named_file import opened, read_bytes
from vramledger.workload.profile.json_form import from_json
from vramledger.workload.profile.profile import Profile

_PARQUET: Final = b"PAR1"
_MOST_BYTES: Final = 64 << 20


def load_profile(path: Path) -> Profile:
    """The profile in a JSON file, or of a stored workload, by what the file begins with.

    A JSON file needs nothing beyond the base installation.

    Raises:
        BadInput: no file, neither of the two, or damaged.
    """
    if not is_stored(path):
        return _of_json(path)
    from vramledger.workload.profile.compute import profile_workload

    return profile_workload(path)


def is_stored(path: Path) -> bool:
    """Whether the file is Parquet.

    Raises:
        BadInput: no file that can be read.
    """
    with opened(path, "a profile or a workload") as file:
        return file.stream.read(len(_PARQUET)) == _PARQUET


def _of_json(path: Path) -> Profile:
    text = read_bytes(path, _MOST_BYTES, "a profile")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise BadInput(
            f"{path} is neither a profile (JSON) nor a stored workload (Parquet); make one with "
            "`vram workload import LOG -o workload.parquet`."
        ) from None
    return from_json(content, str(path))
