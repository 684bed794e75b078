"""Which weight files of a directory make up its checkpoint."""

import re
from pathlib import Path
from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.model.files.safetensors import (
    INDEX_NAME,
    SINGLE_NAME,
    collect,
    read_index,
    read_safetensors,
    read_weight_map,
)
from vramledger.model.files.stored import StoredTensor, StoredWeights

_SPLIT_PART: Final = re.compile(r"-\d{5}-of-\d{5}\.gguf\Z")
_NOT_THE_MODEL: Final = ("consolidated", "adapter_", "optimizer", "training_")


@frozen
class FoundWeights:
    """The weights a directory holds, or a note why their headers could not be read."""

    weights: StoredWeights | None
    note: str = ""


def list_files(folder: Path) -> tuple[str, ...]:
    """Sorted names in a directory.

    Raises:
        BadInput: it cannot be listed.
    """
    try:
        return tuple(sorted(entry.name for entry in folder.iterdir()))
    except OSError as error:
        raise BadInput(f"{folder} cannot be listed: {error.strerror or error}.") from None


def find_safetensors(folder: Path) -> FoundWeights:
    """The safetensors checkpoint of a directory: its index, else its single file, else all shards.

    A copy in the original layout (``consolidated*.safetensors``), adapters and optimizer states
    beside it are not counted.

    Raises:
        BadInput: a file that belongs to the checkpoint is damaged.
    """
    names = list_files(folder)
    index = _index_name(names)
    if index is not None:
        return _indexed(folder / index, names)
    if SINGLE_NAME in names:
        return FoundWeights(read_safetensors(folder / SINGLE_NAME))
    shards = [
        name
        for name in names
        if name.endswith(".safetensors") and not name.startswith(_NOT_THE_MODEL)
    ]
    if not shards:
        return FoundWeights(None)
    tensors: list[StoredTensor] = []
    for name in shards:
        tensors += read_safetensors(folder / name).tensors
    return FoundWeights(collect(tensors, {}, str(folder), len(shards)))


def find_gguf(folder: Path) -> Path | None:
    """The GGUF file of a directory (the first of a split set), None where there is none.

    Raises:
        BadInput: several checkpoints are there.
    """
    names = [name for name in list_files(folder) if name.endswith(".gguf")]
    first = [name for name in names if _SPLIT_PART.search(name) is None or "-00001-of-" in name]
    if len(first) > 1:
        raise BadInput(f"{folder} holds several GGUF models: {', '.join(first)}; give one of them.")
    return folder / (first or names)[0] if names else None


def _index_name(names: tuple[str, ...]) -> str | None:
    if INDEX_NAME in names:
        return INDEX_NAME
    others = [name for name in names if name.endswith(".safetensors.index.json")]
    return others[0] if len(others) == 1 and SINGLE_NAME not in names else None


def _indexed(index: Path, names: tuple[str, ...]) -> FoundWeights:
    wanted = set(read_weight_map(index).values())
    missing = sorted(wanted - set(names))
    if missing:
        return FoundWeights(
            None,
            f"{index} names {len(wanted)} files of which {len(missing)} are not there "
            f"({missing[0]} the first); weight bytes are derived from the configuration.",
        )
    return FoundWeights(read_index(index))
