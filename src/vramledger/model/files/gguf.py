"""GGUF headers: metadata and the list of tensors, in either byte order, over all split files.

Layout: magic, u32 version, u64 tensors, u64 keys, the keys, the tensor infos, padding to the
alignment, data. Offsets count from the start of the data; every tensor is padded to the alignment.
"""

import re
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.model.files.gguf_types import BY_ID, RETIRED, GgufType
from vramledger.model.files.stored import (
    StoredTensor,
    StoredWeights,
    check_unique,
    show,
)
from vramledger.named_file import opened
from vramledger.units import round_up

MAGIC: Final = b"GGUF"
_VERSIONS: Final = (2, 3)
_DEFAULT_ALIGNMENT: Final = 32
_MOST_KEYS: Final = 1 << 16
_MOST_TENSORS: Final = 1 << 20
_LARGEST_NAME: Final = 1 << 16
_LARGEST_TEXT: Final = 1 << 20  # longer strings (chat templates never are) are skipped
_KEPT_ITEMS: Final = 1 << 12  # longer arrays (vocabularies) are skipped
_MOST_DIMENSIONS: Final = 4
_DEEPEST_ARRAY: Final = 4
_SPLIT: Final = re.compile(r"(?P<stem>.*)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf\Z")

# value type id -> struct code; strings (8) and arrays (9) have their own layout
_SCALARS: Final = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d",
}  # fmt: skip
_STRING: Final = 8
_ARRAY: Final = 9


@frozen
class GgufFile:
    """The header of one GGUF checkpoint; `metadata` is the first file's."""

    metadata: Mapping[str, Any]  # long strings and arrays are left out
    weights: StoredWeights


@frozen
class _Info:
    name: str
    shape: tuple[int, ...]  # [out, in] order: the file's order reversed
    type_id: int
    offset: int


def read_gguf(path: Path) -> GgufFile:
    """The header of a GGUF checkpoint; one file of a split set stands for all of them.

    Raises:
        BadInput: no GGUF, truncated, damaged, of an unknown version or tensor type, or a split
            file whose siblings are missing.
    """
    paths = _siblings(path)
    parts = [_read_one(part) for part in paths]
    tensors = tuple(tensor for part in parts for tensor in part.weights.tensors)
    check_unique((tensor.name for tensor in tensors), str(path))
    declared = parts[0].metadata.get("split.tensors.count")
    if len(paths) > 1 and declared is not None and declared != len(tensors):
        raise BadInput(
            f"{paths[0]} says that its {len(paths)} files hold {declared} tensors, they hold "
            f"{len(tensors)}; the files are not of one set, fetch them again."
        )
    return GgufFile(parts[0].metadata, StoredWeights(tensors, str(path), len(paths)))


def _siblings(path: Path) -> tuple[Path, ...]:
    """All files of the split set that `path` belongs to, or `path` alone."""
    match = _SPLIT.match(path.name)
    if match is None:
        return (path,)
    count = int(match["count"])
    names = [f"{match['stem']}-{n:05d}-of-{match['count']}.gguf" for n in range(1, count + 1)]
    present = {entry.name for entry in path.parent.glob("*.gguf")}
    missing = [name for name in names if name not in present]
    if missing:
        raise BadInput(
            f"{path} is one of {count} files, of which {len(missing)} are not beside it "
            f"({missing[0]} the first); fetch the whole set."
        )
    return tuple(path.parent / name for name in names)


def _read_one(path: Path) -> GgufFile:
    with opened(path, "a weight file") as file:
        return _Reader(file.stream, str(path), file.size).read()


class _Reader:
    """Reads a header front to back; no length is believed before it is checked against the file."""

    def __init__(self, file: BinaryIO, where: str, size: int) -> None:
        self.file = file
        self.where = where
        self.size = size
        self.order = "<"

    def read(self) -> GgufFile:
        if self._bytes(4) != MAGIC:
            raise BadInput(f"{self.where} does not begin with GGUF; it is no GGUF file.")
        self._version()
        tensors = self._count(_MOST_TENSORS, "tensors")
        keys = self._count(_MOST_KEYS, "metadata keys")
        metadata = self._metadata(keys)
        infos = [self._info() for _ in range(tensors)]
        alignment = metadata.get("general.alignment", _DEFAULT_ALIGNMENT)
        if type(alignment) is not int or not 1 <= alignment <= 1 << 20:
            raise BadInput(
                f"{self.where}: 'general.alignment' is {show(alignment)}, which is no alignment."
            )
        check_unique((info.name for info in infos), self.where)
        data_bytes = self.size - round_up(self.file.tell(), alignment)
        stored = _sized(infos, alignment, max(0, data_bytes), self.where)
        return GgufFile(metadata, StoredWeights(stored, self.where))

    def _version(self) -> None:
        """A version whose low 16 bits are zero was written in the other byte order."""
        raw = self._bytes(4)
        version = int.from_bytes(raw, "little")
        if version & 0xFFFF == 0:
            self.order = ">"
            version = int.from_bytes(raw, "big")
        if version not in _VERSIONS:
            raise BadInput(
                f"{self.where} is GGUF version {version}; versions 2 and 3 are read, convert it."
            )

    def _metadata(self, keys: int) -> dict[str, Any]:
        metadata: dict[str, Any] = {}
        for _ in range(keys):
            key = self._text(_LARGEST_NAME, "a metadata key")
            value = self._value(self._number("I"), key, 0)
            if key in metadata:
                raise BadInput(f"{self.where} has the metadata key {show(key)} twice.")
            if value is not None:
                metadata[key] = value
        return metadata

    def _value(self, kind: int, key: str, depth: int) -> Any:
        """A metadata value; None for a string or an array too long to matter."""
        if kind in _SCALARS:
            return self._number(_SCALARS[kind])
        if kind == _STRING:
            return self._long_text()
        if kind != _ARRAY or depth > _DEEPEST_ARRAY:
            raise BadInput(
                f"{self.where}: the metadata key {show(key)} has a value of unknown type {kind}."
            )
        return self._array(key, depth)

    def _array(self, key: str, depth: int) -> Sequence[Any] | None:
        kind = self._number("I")
        count = self._number("Q")
        if kind in _SCALARS:
            code = _SCALARS[kind]
            if count > _KEPT_ITEMS:
                self._skip(count * struct.calcsize(code))
                return None
            raw = self._bytes(count * struct.calcsize(code))
            return list(struct.unpack(f"{self.order}{count}{code}", raw))
        if count > self.size // 8:
            raise self._truncated(f"an array of {count} items under {show(key)}")
        if count > _KEPT_ITEMS:
            self._skip_items(kind, count, key, depth)
            return None
        return [self._value(kind, key, depth + 1) for _ in range(count)]

    def _skip_items(self, kind: int, count: int, key: str, depth: int) -> None:
        for _ in range(count):
            if kind == _STRING:
                self._skip(self._number("Q"))
            else:
                self._value(kind, key, depth + 1)

    def _info(self) -> _Info:
        name = self._text(_LARGEST_NAME, "a tensor name")
        dimensions = self._number("I")
        if dimensions > _MOST_DIMENSIONS:
            raise BadInput(
                f"{self.where}: the tensor {show(name)} has {dimensions} dimensions; "
                f"GGUF allows {_MOST_DIMENSIONS}, the header is damaged."
            )
        shape = tuple(self._number("Q") for _ in range(dimensions))
        return _Info(name, shape[::-1], self._number("I"), self._number("Q"))

    def _count(self, most: int, what: str) -> int:
        count = int(self._number("Q"))
        if count > most:
            raise BadInput(
                f"{self.where} says it has {count} {what}, where at most {most} make sense; "
                "the header is damaged."
            )
        return count

    def _number(self, code: str) -> Any:
        raw = self._bytes(struct.calcsize(code))
        return struct.unpack(self.order + code, raw)[0]

    def _text(self, most: int, what: str) -> str:
        length = self._number("Q")
        if length > most:
            raise BadInput(
                f"{self.where} has {what} of {length} bytes; at most {most} make sense, "
                "the header is damaged."
            )
        return self._bytes(length).decode("utf-8", "replace")

    def _long_text(self) -> str | None:
        length = self._number("Q")
        if length > _LARGEST_TEXT:
            self._skip(length)
            return None
        return self._bytes(length).decode("utf-8", "replace")

    def _bytes(self, count: int) -> bytes:
        if count > self.size - self.file.tell():
            raise self._truncated(f"{count} bytes at {self.file.tell()}")
        return self.file.read(count)

    def _skip(self, count: int) -> None:
        if count > self.size - self.file.tell():
            raise self._truncated(f"{count} bytes at {self.file.tell()}")
        self.file.seek(count, 1)

    def _truncated(self, wanted: str) -> BadInput:
        return BadInput(
            f"{self.where} ends inside its header ({wanted} of {self.size} bytes); "
            "it is truncated or damaged, fetch it again."
        )


def _sized(
    infos: Sequence[_Info], alignment: int, data_bytes: int, where: str
) -> tuple[StoredTensor, ...]:
    """Bytes by type; of an unknown type, what lies between its offset and the next one."""
    ends = dict(_ends(infos, data_bytes))
    taken: set[int] = set()
    tensors = []
    for info in infos:
        if info.offset in taken:
            raise BadInput(
                f"{where}: the tensor {show(info.name)} begins where another one does (byte "
                f"{info.offset} of the data); the header is damaged."
            )
        taken.add(info.offset)
        room = ends[info.offset] - info.offset
        kind = BY_ID.get(info.type_id)
        if kind is None:
            tensors.append(_unknown_type(info, room, alignment, where))
            continue
        nbytes = _known_size(info, kind, where)
        if nbytes > room or info.offset % alignment:
            raise BadInput(
                f"{where}: the tensor {show(info.name)} takes {nbytes} bytes at {info.offset}, "
                f"where {max(0, room)} are left; the file is truncated or its header damaged."
            )
        tensors.append(StoredTensor(info.name, kind.name, info.shape, nbytes))
    return tuple(tensors)


def _ends(infos: Sequence[_Info], data_bytes: int) -> list[tuple[int, int]]:
    """For each offset, where the next tensor (or the file) begins."""
    offsets = sorted({info.offset for info in infos})
    return list(zip(offsets, [*offsets, data_bytes][1:], strict=True))


def _known_size(info: _Info, kind: GgufType, where: str) -> int:
    if info.shape and info.shape[-1] % kind.block:
        raise BadInput(
            f"{where}: the tensor {show(info.name)} has rows of {info.shape[-1]} elements, which "
            f"{kind.name} (blocks of {kind.block}) cannot store; the header is damaged."
        )
    return kind.nbytes(info.shape)


def _unknown_type(info: _Info, room: int, alignment: int, where: str) -> StoredTensor:
    known = "a retired" if info.type_id in RETIRED else "an unknown"
    if room <= 0 or info.offset % alignment:
        raise BadInput(
            f"{where}: the tensor {show(info.name)} has {known} type id {info.type_id}, and its "
            "size does not follow from the offsets either."
        )
    return StoredTensor(info.name, f"type {info.type_id}", info.shape, room)
