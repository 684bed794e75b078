"""A calibration's file, ``vramledger.calibration/1``, as JSON, and the memory in it.

`vram calibrate` writes it. Its step times are read by `simulate.timing.calibration`.
"""

import json
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.evidence import Basis, Figure
from vramledger.ledger.measured_memory import ROWS, MeasuredMemory
from vramledger.named_file import read_text

SCHEMA: Final = "vramledger.calibration/1"
REMEDY: Final = "write it anew with vram calibrate"
_LARGEST: Final = 1 << 22
_ROUNDED: Final = 0.005  # GiB; engines print two digits, and twin starts printed the same ones


def read_content(path: Path) -> Mapping[str, Any]:
    """The JSON object of the file.

    Raises:
        BadInput: no file, not JSON, or of another schema.
    """
    try:
        content = json.loads(read_text(path, _LARGEST, "a calibration"))
    except (ValueError, RecursionError):
        raise BadInput(f"{path} is not JSON; {REMEDY}.") from None
    found = content.get("schema") if isinstance(content, dict) else None
    if found != SCHEMA:
        raise BadInput(f"{path} follows the schema {found!r}, and this reads {SCHEMA!r}; {REMEDY}.")
    return content  # type: ignore[no-any-return]


def memory_json(memory: MeasuredMemory) -> dict[str, Any]:
    """The part of the file that `read_memory` reads."""
    return {
        "circumstances": dict(memory.circumstances),
        "rows": {name: figure.to_json() for name, figure in memory.rows.items()},
    }


def has_memory(content: Mapping[str, Any]) -> bool:
    """Whether a start-up log was among what it was made of."""
    return bool(content.get("memory"))


def has_step_times(content: Mapping[str, Any]) -> bool:
    """Whether a run was among what it was made of."""
    return bool(content.get("factors"))


def read_memory(path: Path) -> MeasuredMemory:
    """The memory rows of the file.

    Raises:
        BadInput: no file, none of this schema, no memory in it, or a key without sense.
    """
    content = read_content(path)
    if not has_memory(content):
        raise BadInput(
            f"{path} is a calibration of step times alone and has no memory rows; add the engine's start-up log: vram "
            "calibrate ... --server-log LOG."
        )
    try:
        part = content["memory"]
        circumstances = {str(key): str(value) for key, value in part["circumstances"].items()}
        rows = {name: _figure(each, path) for name, each in part["rows"].items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"{path} is damaged near {error}; {REMEDY}.") from None
    unknown = sorted(set(rows) - set(ROWS))
    if unknown or not rows:
        what = f"the rows {', '.join(unknown)}" if unknown else "its memory rows"
        raise BadInput(f"{path} is damaged near {what}; {REMEDY}.")
    return MeasuredMemory(path.name, circumstances, rows)


def _figure(content: Mapping[str, Any], path: Path) -> Figure:
    value, low, high = (float(content[name]) for name in ("value", "low", "high"))
    if not (all(map(isfinite, (value, low, high))) and 0 <= low <= value <= high):
        raise ValueError(f"{low:g}..{value:g}..{high:g} GiB")
    source = f"{path.name}: {content.get('source', 'a start-up log')}"
    return Figure(value, max(0.0, low - _ROUNDED), high + _ROUNDED, Basis.MEASURED, source)
