"""From what a person names to a `Model`: a directory, a file, a catalogue id or ``hf:org/name``.

Names of the catalogue are answered here; readers of files and of the hub load when one is needed.
"""

import os
import re
from pathlib import Path
from typing import Final

from vramledger.errors import BadInput, UnknownName
from vramledger.model import catalogue
from vramledger.model.checkpoint import Checkpoint, assemble
from vramledger.model.config import Config
from vramledger.model.files import HUB_PREFIX
from vramledger.model.model import Model

_REPOSITORY: Final = r"[\w-][\w.-]*/[\w-][\w.-]*"
_FILE_ENDINGS: Final = (".json", ".safetensors", ".gguf", ".bin", ".toml")


def load_model(reference: str) -> Model:
    """The model behind a reference.

    ``hf:org/name[@revision]`` is read from the hub. A path that exists goes first: a directory with
    ``config.json`` and perhaps weights, the ``config.json`` itself, a safetensors file or index, a
    GGUF file. Then the catalogue, then what other programs have downloaded to this machine.

    Raises:
        BadInput: nothing usable is there; the message says what was looked for.
        UnknownName: a name that is neither a path nor known.
        CannotKnow: the hub cannot be reached.
    """
    if reference.startswith(HUB_PREFIX):
        from vramledger.model.from_hub import load_from_hub

        return load_from_hub(reference)
    if "://" in reference:
        raise BadInput(
            f"{reference!r} is an address; write hf:org/name for a model on the hub, or give a "
            "local path."
        )
    if reference.startswith("~"):
        reference = os.path.expanduser(reference)  # noqa: PTH111 - keeps "~nobody" as it is
    if os.path.lexists(reference):
        from vramledger.model.from_files import load_path

        return load_path(Path(reference))
    if _looks_like_path(reference):
        raise BadInput(
            f"There is no file or directory {reference!r}; give a directory with config.json, "
            "a weight file, a catalogue id or hf:org/name."
        )
    return _from_catalogue(reference)


def _from_catalogue(name: str) -> Model:
    entry = catalogue.find(name)
    if entry is not None:
        notes = (f"Figures of {entry.same_as}, which it shares.",) if entry.same_as else ()
        config = Config(entry.config, f"catalogue entry {entry.same_as or entry.id}")
        return assemble(Checkpoint(entry.id, config, notes=notes))
    if re.fullmatch(_REPOSITORY, name, re.ASCII):
        from vramledger.model.from_hub import load_downloaded

        local = load_downloaded(name, None, "the catalogue does not have it")
        if local is not None:
            return local
    hint = f"hf:{name} reads it from the hub." if "/" in name else ""
    raise UnknownName("model", name, catalogue.known_names(), "the catalogue", hint)


def _looks_like_path(reference: str) -> bool:
    return (
        reference.startswith((".", "/", "~"))
        or reference.endswith(_FILE_ENDINGS)
        or reference.count("/") > 1
    )
