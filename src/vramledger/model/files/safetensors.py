"""safetensors headers: a little-endian length, that many bytes of JSON, then the data.

An entry is ``{"dtype", "shape", "data_offsets": [begin, end]}`` relative to the end of the header;
in a valid file the tensors lie end to end and fill the rest of it.
"""

import json
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.model.files.stored import (
    StoredTensor,
    StoredWeights,
    check_unique,
    show,
)
from vramledger.named_file import opened, read_bytes

PREFIX_BYTES: Final = 8
LARGEST_HEADER: Final = 100_000_000  # the format's own limit
INDEX_NAME: Final = "model.safetensors.index.json"
SINGLE_NAME: Final = "model.safetensors"
_MOST_TENSORS: Final = 2_000_000
_MOST_DIMENSIONS: Final = 16
_LARGEST_INDEX: Final = 256 << 20

_BITS: Final = {
    "BOOL": 8, "U8": 8, "I8": 8, "U16": 16, "I16": 16, "U32": 32, "I32": 32, "U64": 64, "I64": 64,
    "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "F16": 16, "BF16": 16, "F32": 32, "F64": 64, "C64": 64,
}  # fmt: skip


def read_safetensors(path: Path) -> StoredWeights:
    """Every tensor of one file, from its header alone.

    Raises:
        BadInput: the file is missing, truncated or its header lies; one sentence says how.
    """
    with opened(path, "a weight file") as file:
        length = header_length(file.stream.read(PREFIX_BYTES), str(path))
        if PREFIX_BYTES + length > file.size:
            raise BadInput(
                f"{path} says its header is {length} bytes long, but the file has only {file.size}; "
                "it is truncated or no safetensors file, fetch it again."
            )
        header = file.stream.read(length)
    tensors = parse_header(header, str(path), file.size - PREFIX_BYTES - length)
    return StoredWeights(tensors, str(path))


def header_length(prefix: bytes, where: str) -> int:
    """The length of the JSON header, from the first 8 bytes of the file.

    Raises:
        BadInput: too short a file, or a length that no header has.
    """
    if len(prefix) < PREFIX_BYTES:
        raise BadInput(
            f"{where} has {len(prefix)} bytes, too few for a safetensors header; fetch it again."
        )
    length = int.from_bytes(prefix[:PREFIX_BYTES], "little")
    if not 2 <= length <= LARGEST_HEADER:
        raise BadInput(
            f"{where} says its header is {length} bytes long, where safetensors allows 2 to "
            f"{LARGEST_HEADER}; it is no safetensors file or it is damaged."
        )
    return length


def parse_header(header: bytes, where: str, data_bytes: int | None) -> tuple[StoredTensor, ...]:
    """The tensors a header lists; `data_bytes` is what follows it, None where that is not known.

    Raises:
        BadInput: not JSON, duplicate names, or offsets that overlap, leave a hole or the file.
    """
    if header.count(b"{") > _MOST_TENSORS:
        raise BadInput(
            f"{where}: the header holds more than {_MOST_TENSORS} objects; no model has as many."
        )
    entries = _load_object(header, where)
    entries.pop("__metadata__", None)
    return check_entries(entries, where, data_bytes)


def check_entries(
    entries: Mapping[str, Any], where: str, data_bytes: int | None
) -> tuple[StoredTensor, ...]:
    """The tensors of a parsed header, each ``{"dtype", "shape", "data_offsets"}``.

    Raises:
        BadInput: as `parse_header`.
    """
    spans: list[tuple[int, int, StoredTensor]] = []
    for name, entry in entries.items():
        begin, end = _offsets(name, entry, where)
        spans.append((begin, end, _tensor(name, entry, end - begin, where)))
    _check_layout(spans, where, data_bytes)
    return tuple(tensor for _, _, tensor in spans)


def read_index(path: Path) -> StoredWeights:
    """Every tensor of the files that a ``*.safetensors.index.json`` names, and of no other file.

    Raises:
        BadInput: the index or one of its files cannot be used.
    """
    weight_map = read_weight_map(path)
    names = sorted(set(weight_map.values()))
    tensors: list[StoredTensor] = []
    for name in names:
        tensors += read_safetensors(path.parent / name).tensors
    return collect(tensors, weight_map, str(path), len(names))


def collect(
    tensors: list[StoredTensor], weight_map: Mapping[str, str], where: str, files: int
) -> StoredWeights:
    """The shards of one checkpoint as one, checked against its index.

    Raises:
        BadInput: a tensor stored twice, or one that the index promises and no file holds.
    """
    check_unique((tensor.name for tensor in tensors), where)
    missing = weight_map.keys() - {tensor.name for tensor in tensors}
    if missing:
        first = min(missing)
        raise BadInput(
            f"{where} places the tensor {show(first)} in {weight_map[first]}, which does not hold "
            f"it ({len(missing)} such); index and files are not of one checkpoint, fetch both again."
        )
    return StoredWeights(tuple(tensors), where, files)


def read_weight_map(path: Path) -> dict[str, str]:
    """The ``weight_map`` of an index file: tensor name to file name beside the index."""
    content = read_bytes(path, _LARGEST_INDEX, "an index of weight files")
    return parse_weight_map(content, str(path))


def parse_weight_map(content: bytes, where: str) -> dict[str, str]:
    """The ``weight_map`` of an index.

    Raises:
        BadInput: not JSON, no map, or a file name that leads out of the index's folder.
    """
    weight_map = _load_object(content, where).get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise BadInput(f"{where} has no 'weight_map' of tensor names to files; fetch it again.")
    for tensor, name in weight_map.items():
        if not isinstance(name, str) or name in ("", ".", "..") or "/" in name or "\\" in name:
            raise BadInput(
                f"{where}: the tensor {show(tensor)} is placed in {show(name)}, which is not the "
                "name of a file beside the index."
            )
    return weight_map


def _load_object(content: bytes, where: str) -> dict[str, Any]:
    try:
        values = json.loads(content.decode("utf-8"), object_pairs_hook=_unique_pairs)
    except UnicodeDecodeError as error:
        raise BadInput(f"{where}: the header is not UTF-8 text (byte {error.start}).") from None
    except RecursionError:
        raise BadInput(f"{where}: the header is nested too deeply.") from None
    except _DuplicateKeyError as error:
        raise BadInput(
            f"{where} lists {show(error.args[0])} twice; the file is damaged, fetch it again."
        ) from None
    except ValueError as error:
        raise BadInput(f"{where}: the header is not valid JSON: {error}.") from None
    if not isinstance(values, dict):
        raise BadInput(f"{where}: the header is a JSON {type(values).__name__}, not an object.")
    return values


class _DuplicateKeyError(Exception):
    """A JSON object with the same key twice; the argument is the key."""


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _DuplicateKeyError(key)
            seen.add(key)
    return values


def _offsets(name: str, entry: Any, where: str) -> tuple[int, int]:
    offsets = entry.get("data_offsets") if isinstance(entry, dict) else None
    if (
        not isinstance(offsets, list)
        or len(offsets) != 2
        or not all(type(offset) is int for offset in offsets)
        or not 0 <= offsets[0] <= offsets[1]
    ):
        raise BadInput(
            f"{where}: the tensor {show(name)} has no usable 'data_offsets' "
            "(two byte positions, the smaller first)."
        )
    return offsets[0], offsets[1]


def _tensor(name: str, entry: Mapping[str, Any], nbytes: int, where: str) -> StoredTensor:
    shape = entry.get("shape")
    dtype = entry.get("dtype")
    if (
        not isinstance(shape, list)
        or len(shape) > _MOST_DIMENSIONS
        or not all(type(size) is int and 0 <= size < 1 << 62 for size in shape)
    ):
        raise BadInput(f"{where}: the tensor {show(name)} has the unusable shape {show(shape)}.")
    if not isinstance(dtype, str):
        raise BadInput(f"{where}: the tensor {show(name)} has no 'dtype'.")
    bits = _BITS.get(dtype)
    if bits is not None and prod(shape) * bits != nbytes * 8:
        raise BadInput(
            f"{where}: the tensor {show(name)} of shape {show(shape)} and type {dtype} cannot take "
            f"{nbytes} bytes; the header is damaged."
        )
    return StoredTensor(name, dtype, tuple(shape), nbytes)


def _check_layout(
    spans: list[tuple[int, int, StoredTensor]], where: str, data_bytes: int | None
) -> None:
    """Tensors must lie end to end and fill the data part."""
    position = 0
    for begin, end, tensor in sorted(spans, key=lambda span: span[:2]):
        if begin != position:
            problem = (
                "overlaps the one before it" if begin < position else "leaves a hole before it"
            )
            raise BadInput(
                f"{where}: the tensor {show(tensor.name)} begins at byte {begin} of the data and "
                f"{problem} (expected {position}); the header is damaged."
            )
        position = end
    if data_bytes is not None and position != data_bytes:
        raise BadInput(
            f"{where}: the header lists {position} bytes of tensors, the file has {data_bytes} "
            "after it; it is truncated or damaged, fetch it again."
        )
