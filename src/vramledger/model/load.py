"""From what a person names to a `Model`: a directory, a file, a catalogue id or ``hf:org/name``."""

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Final

from vramledger.errors import BadInput, CannotKnow, UnknownName
from vramledger.model import catalogue
from vramledger.model.checkpoint import Checkpoint, assemble
from vramledger.model.config import Config, parse_config, read_config
from vramledger.model.files.caches import find_hub_snapshot, find_modelscope
from vramledger.model.files.directory import find_gguf, find_safetensors, list_files
from vramledger.model.files.hub import (
    PREFIX,
    HubFiles,
    HubReference,
    client,
    is_offline,
    parse_reference,
    read_hub,
)
from vramledger.model.files.safetensors import read_index, read_safetensors
from vramledger.model.files.stored import StoredWeights
from vramledger.model.model import Model

_REPOSITORY: Final = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*\Z", re.ASCII)
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
    if reference.startswith(PREFIX):
        return load_from_hub(parse_reference(reference))
    if "://" in reference:
        raise BadInput(
            f"{reference!r} is an address; write hf:org/name for a model on the hub, or give a "
            "local path."
        )
    if reference.startswith("~"):
        reference = os.path.expanduser(reference)  # noqa: PTH111 - keeps "~nobody" as it is
    if os.path.lexists(reference):
        return _from_path(Path(reference))
    if _looks_like_path(reference):
        raise BadInput(
            f"There is no file or directory {reference!r}; give a directory with config.json, "
            "a weight file, a catalogue id or hf:org/name."
        )
    return _from_catalogue(reference)


def load_from_hub(reference: HubReference) -> Model:
    """A model on the hub, or in a local cache when the hub may not or cannot be asked.

    Raises:
        BadInput: no such model, no access, or a damaged file.
        CannotKnow: it is in no local cache and the hub cannot be asked.
    """
    if is_offline():
        local = _downloaded(reference.repo, reference.revision, "HF_HUB_OFFLINE is set")
        if local is None:
            raise CannotKnow(
                f"HF_HUB_OFFLINE is set and {reference.id} is in no local cache; unset it, or give "
                "a directory with config.json."
            )
        return local
    try:
        files = read_hub(reference, client())
    except CannotKnow:
        local = _downloaded(reference.repo, reference.revision, "the hub cannot be reached")
        if local is None:
            raise
        return local
    return assemble(_hub_checkpoint(reference, files))


def _hub_checkpoint(reference: HubReference, files: HubFiles) -> Checkpoint:
    where = f"{PREFIX}{reference.id}, config.json"
    if files.config is None and files.weights is None:
        raise BadInput(
            f"{reference.id} on the hub has neither config.json nor safetensors weights; download "
            "a GGUF file and give its path."
        )
    config = parse_config(files.config, where) if files.config is not None else None
    if config is not None and files.separate_quantization is not None:
        section = parse_config(files.separate_quantization, f"{where}, hf_quant_config.json")
        config = with_separate_quantization(config, section)
    return Checkpoint(reference.id, config, files.weights)


def _downloaded(repo: str, revision: str | None, why: str) -> Model | None:
    """The model as another program downloaded it, with a note saying so."""
    folder = find_hub_snapshot(repo, revision) or find_modelscope(repo)
    if folder is None:
        return None
    model = load_directory(folder, repo)
    return replace(model, notes=(*model.notes, f"Read from {folder}, as {why}."))


def _from_catalogue(name: str) -> Model:
    entry = catalogue.find(name)
    if entry is not None:
        notes = (f"Figures of {entry.same_as}, which it shares.",) if entry.same_as else ()
        config = Config(entry.config, f"catalogue entry {entry.same_as or entry.id}")
        return assemble(Checkpoint(entry.id, config, notes=notes))
    if _REPOSITORY.match(name):
        local = _downloaded(name, None, "the catalogue does not have it")
        if local is not None:
            return local
    hint = f"hf:{name} reads it from the hub." if "/" in name else ""
    raise UnknownName("model", name, catalogue.known_names(), "the catalogue", hint)


def _from_path(path: Path) -> Model:
    if path.is_dir():
        return load_directory(path, str(path))
    if path.suffix == ".gguf":
        return _load_gguf(path, str(path))
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
    notes: tuple[str, ...] = (found.note,) if found.note else ()
    config = find_config(folder)
    if config is not None and found.weights is None:
        notes += tuple(
            f"{name} is not read beside config.json; give its path for its bytes."
            for name in list_files(folder)
            if name.endswith(".gguf")
        )
    if config is None and found.weights is None:
        gguf = find_gguf(folder)
        if gguf is None:
            raise BadInput(
                f"{folder} holds no config.json and no safetensors or GGUF weights; "
                "give the directory of a checkpoint."
            )
        return _load_gguf(gguf, model_id)
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
    if not os.path.lexists(separate):
        return config
    return with_separate_quantization(config, read_config(separate))


def with_separate_quantization(config: Config, section: Config) -> Config:
    """The configuration with the section that ``hf_quant_config.json`` holds, if it has none."""
    if config.has("quantization_config"):
        return config
    values = {"quant_method": "modelopt", **section.values}
    return Config({**config.values, "quantization_config": values}, config.where)


def _beside(path: Path, weights: StoredWeights) -> Checkpoint:
    return Checkpoint(str(path), find_config(path.parent), weights)


def _load_gguf(path: Path, model_id: str) -> Model:
    from vramledger.model.gguf.model import load_gguf  # few runs need it

    return load_gguf(path, model_id)


def _looks_like_path(reference: str) -> bool:
    return (
        reference.startswith((".", "/", "~"))
        or reference.endswith(_FILE_ENDINGS)
        or reference.count("/") > 1
    )
