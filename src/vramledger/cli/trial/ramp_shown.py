"""A ramp that is over, from its record."""

from pathlib import Path

from vramledger.cli.output import show, show_json
from vramledger.errors import BadInput
from vramledger.methods.ramp.found import CODES, Finding
from vramledger.methods.ramp.kept import read_kept


def show_ramp(folder: Path, *, as_json: bool) -> int:
    """Print what a ramp came to, and its exit code.

    Raises:
        BadInput: its record is damaged, or it is not over.
    """
    result = read_kept(folder)["result"]
    if result is None:
        raise BadInput(
            f"The ramp in {folder} is not over; vram trial resume {folder} goes on with it, vram trial list {folder} lists "
            "its steps."
        )
    if as_json:
        show_json(result)
    else:
        parts = (result[name] for name in ("contract_limit", "safe_load", "knee"))
        show(
            "\n".join([f"{result['verdict']}: {result['says']}", *(part["says"] for part in parts)])
        )
    return CODES[Finding(result["finding"])]
