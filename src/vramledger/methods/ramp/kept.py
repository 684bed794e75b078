"""``ramp.json`` and ``soak.json``: what was asked, and what has ended of it, so that it can go on where it was cut off."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.methods.measured.subject import Step
from vramledger.record.closing import writable
from vramledger.record.durable import replace_file


@frozen
class Form:
    """A record's file, its schema, the verb that writes it, and the list it grows by."""

    file: str
    schema: str
    verb: str
    parts: str


RAMP: Final = Form("ramp.json", "vramledger.ramp-record/1", "ramp", "steps")
SOAK: Final = Form("soak.json", "vramledger.soak-record/1", "soak", "segments")


class Kept:
    """The file of one ramp or soak; it is on disk after each call."""

    def __init__(self, folder: Path, content: dict[str, Any], form: Form = RAMP) -> None:
        self.folder, self.content, self._form = folder, content, form

    @classmethod
    def begun(cls, folder: Path, form: Form = RAMP, **about: Any) -> "Kept":
        """A new ramp in a folder that is empty or not there.

        Raises:
            BadInput: something is there, or it cannot be written.
        """
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise BadInput(
                f"{folder} is there already and not empty; name a new folder with -o, or go on with what is there by "
                f"vram trial resume {folder}."
            )
        with writable(folder):
            folder.mkdir(parents=True, exist_ok=True)
        empty: dict[str, Any] = {form.parts: [], "result": None}
        kept = cls(folder, {"schema": form.schema, "state": "running", **about, **empty}, form)
        kept._write()
        return kept

    @classmethod
    def again(cls, folder: Path, form: Form = RAMP) -> "Kept":
        """What goes on; the steps of a ramp are told anew.

        Raises:
            BadInput: there is none, or its file is damaged.
        """
        content = read_kept(folder, form)
        parts: list[Any] = [] if form is RAMP else content[form.parts]
        told = {**content, "state": "running", form.parts: parts, "result": None}
        kept = cls(folder, told, form)
        kept._write()
        return kept

    def step(self, step: Step) -> None:
        """A step has ended."""
        waited = step.waited
        self.add(
            {
                "level": step.level,
                "attempt": step.attempt,
                "folder": step.folder.name,
                "seed": step.read.seen.seed,
                "idle_wait_s": None if waited is None else round(waited.waited_s, 3),
                "inconclusive": list(step.read.open),
            }
        )

    def add(self, part: Mapping[str, Any]) -> None:
        """A step or a segment has ended."""
        self.content[self._form.parts].append(dict(part))
        self._write()

    def ended(self, state: str, result: Mapping[str, Any]) -> None:
        """The ramp is over: `state` is what stopped it, `result` what was printed."""
        self.content |= {"state": state, "result": dict(result)}
        self._write()

    def _write(self) -> None:
        text = json.dumps(self.content, indent=1, ensure_ascii=False, allow_nan=False)
        with writable(self.folder):
            replace_file(self.folder / self._form.file, text.encode() + b"\n")


def is_kept(folder: Path, form: Form = RAMP) -> bool:
    """Whether such a record lies there."""
    return (folder / form.file).is_file()


def read_kept(folder: Path, form: Form = RAMP) -> dict[str, Any]:
    """What the record holds.

    Raises:
        BadInput: it is none that vram wrote.
    """
    try:
        content = json.loads((folder / form.file).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        content = None
    if not isinstance(content, dict) or content.get("schema") != form.schema:
        raise BadInput(
            f"{folder / form.file} is no record of a {form.verb}; name a folder that vram trial {form.verb} wrote."
        )
    return content
