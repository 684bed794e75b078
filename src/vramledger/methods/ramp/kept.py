"""``ramp.json``: what a ramp was asked, and its steps as they end, so that it can go on where it was cut off."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.methods.measured.subject import Step
from vramledger.record.closing import writable
from vramledger.record.durable import replace_file

FILE: Final = "ramp.json"
SCHEMA: Final = "vramledger.ramp-record/1"


class Kept:
    """The file of one ramp; it is on disk after each call."""

    def __init__(self, folder: Path, content: dict[str, Any]) -> None:
        self.folder, self.content = folder, content

    @classmethod
    def begun(cls, folder: Path, **about: Any) -> "Kept":
        """A new ramp in a folder that is empty or not there.

        Raises:
            BadInput: something is there, or it cannot be written.
        """
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise BadInput(
                f"{folder} is there already and not empty; name a new folder with -o, or go on with a ramp by "
                f"vram trial resume {folder}."
            )
        with writable(folder):
            folder.mkdir(parents=True, exist_ok=True)
        kept = cls(
            folder, {"schema": SCHEMA, "state": "running", **about, "steps": [], "result": None}
        )
        kept._write()
        return kept

    @classmethod
    def again(cls, folder: Path) -> "Kept":
        """A ramp that goes on; its steps are told anew.

        Raises:
            BadInput: there is none, or its file is damaged.
        """
        content = read_kept(folder)
        kept = cls(folder, {**content, "state": "running", "steps": [], "result": None})
        kept._write()
        return kept

    def step(self, step: Step) -> None:
        """A step has ended."""
        waited = step.waited
        self.content["steps"].append(
            {
                "level": step.level,
                "attempt": step.attempt,
                "folder": step.folder.name,
                "seed": step.read.seen.seed,
                "idle_wait_s": None if waited is None else round(waited.waited_s, 3),
                "inconclusive": list(step.read.open),
            }
        )
        self._write()

    def ended(self, state: str, result: Mapping[str, Any]) -> None:
        """The ramp is over: `state` is what stopped it, `result` what was printed."""
        self.content |= {"state": state, "result": dict(result)}
        self._write()

    def _write(self) -> None:
        text = json.dumps(self.content, indent=1, ensure_ascii=False, allow_nan=False)
        with writable(self.folder):
            replace_file(self.folder / FILE, text.encode() + b"\n")


def is_ramp(folder: Path) -> bool:
    """Whether a ramp was made there."""
    return (folder / FILE).is_file()


def read_kept(folder: Path) -> dict[str, Any]:
    """What ramp.json holds.

    Raises:
        BadInput: it is none that vram wrote.
    """
    try:
        content = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        content = None
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise BadInput(
            f"{folder / FILE} is no record of a ramp; name a folder that vram trial ramp wrote."
        )
    return content
