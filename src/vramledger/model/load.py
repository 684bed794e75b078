"""From what a person names to a `Model`: a directory, a file, a catalogue id or ``hf:org/name``."""

import os
from pathlib import Path
from typing import Final

from vramledger.errors import BadInput, UnknownName
from vramledger.model import catalogue
from vramledger.model.checkpoint import Checkpoint, assemble
from vramledger.model.config import Config, read_config
from vramledger.model.files.directory import find_gguf, find_safetensors
from vramledger.model.files.safetensors import read_index, read_safetensors
from vramledger.model.files.stored import StoredWeights
from vramledger.model.gguf.model import load_gguf
from vramledger.model.model import Model

HUB_PREFIX: Final = "hf:"
_FILE_ENDINGS: Final = (".json", ".safetensors", ".gguf", ".bin", ".toml")


def load_model(reference: str) -> Model:
    """The model behind a reference.

    A path that exists goes first: a directory with ``config.json`` and perhaps weights, the
    ``config.json`` itself, a safetensors file or index. Then the catalogue.

    Raises:
        BadInput: nothing usable is there; the message says what was looked for.
        UnknownName: a name that is neither a path nor in the catalogue.
    """
    if os.path.lexists(reference):
        return _from_path(Path(reference))
    if _looks_like_path(reference):
        raise BadInput(
            f"There is no file or directory {reference!r}; give a directory with config.json, "
            "a weight file, a catalogue id or hf:org/name."
        )
    return _from_catalogue(reference)


def _from_catalogue(name: str) -> Model:
    entry = catalogue.find(name)
    if entry is None:
        hint = "" if "/" not in name else f"hf:{name} reads it from the hub."
        raise UnknownName("model", name, catalogue.known_names(), "the catalogue", hint)
    notes = (f"Figures of {entry.same_as}, which it shares.",) if entry.same_as else ()
    config = Config(entry.config, f"catalogue entry {entry.same_as or entry.id}")
    return assemble(Checkpoint(entry.id, config, notes=notes))


def _from_path(path: Path) -> Model:
    if path.is_dir():
        return load_directory(path, str(path))
    if path.suffix == ".gguf":
        return load_gguf(path, str(path))
    if path.name.endswith(".safetensors.index.json"):
        return assemble(_beside(path, read_index(path)))
    if path.suffix == ".safetensors":
        return assemble(_beside(path, read_safetensors(path)))
    return assemble(Checkpoint(str(path), read_config(path)))


def load_directory(folder: Path, model_id: str) -> Model:
    """The model in a directory: configuration and safetensors, or else its one GGUF checkpoint.

    Raises:
        BadInput: neither ``config.json`` nor weight headers are there, or one is not usable.
    """
    found = find_safetensors(folder)
    notes = (found.note,) if found.note else ()
    config = find_config(folder)
    if config is None and found.weights is None:
        gguf = find_gguf(folder)
        if gguf is None:
            raise BadInput(
                f"{folder} holds no config.json and no safetensors or GGUF weights; "
                "give the directory of a checkpoint."
            )
        return load_gguf(gguf, model_id)
    return assemble(Checkpoint(model_id, config, found.weights, notes))


def find_config(folder: Path) -> Config | None:
    """``config.json`` of a directory, with the quantisation section that ModelOpt keeps beside it.

    Raises:
        BadInput: one of the files is there but not usable.
    """
    path = folder / "config.json"
    if not os.path.lexists(path):
        return None
    config = read_config(path)
    separate = folder / "hf_quant_config.json"
    if config.has("quantization_config") or not os.path.lexists(separate):
        return config
    section = {"quant_method": "modelopt", **read_config(separate).values}
    return Config({**config.values, "quantization_config": section}, config.where)


def _beside(path: Path, weights: StoredWeights) -> Checkpoint:
    return Checkpoint(str(path), find_config(path.parent), weights)


def _looks_like_path(reference: str) -> bool:
    return (
        reference.startswith((".", "/", "~"))
        or reference.endswith(_FILE_ENDINGS)
        or reference.count("/") > 1
    )
