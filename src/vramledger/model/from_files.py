"""Models in directories and files of this machine."""

import os
from pathlib import Path

from vramledger.errors import BadInput
from vramledger.model.checkpoint import Checkpoint, assemble
from vramledger.model.config import Config, read_config
from vramledger.model.files.directory import find_gguf, find_safetensors, list_files
from vramledger.model.files.safetensors import read_index, read_safetensors
from vramledger.model.files.stored import StoredWeights
from vramledger.model.model import Model


def load_path(path: Path) -> Model:
    """The model at a path that exists: a directory, a weight file, an index or ``config.json``.

    Raises:
        BadInput: nothing usable is there.
    """
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
