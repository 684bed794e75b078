"""GGUF headers: against the reference package, in both byte orders, and against damaged files."""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vramledger.errors import BadInput, VramError
from vramledger.model.files.gguf import read_gguf
from vramledger.model.files.gguf_types import BY_ID, BY_NAME, RETIRED


def write(
    path: Path, *, order: str = "<", version: int = 3, extra: bytes = b"", kind: int = 0
) -> Path:
    """A file with one key and one tensor of 8 elements in one row of type `kind`."""

    def text(value: str) -> bytes:
        return struct.pack(order + "Q", len(value)) + value.encode()

    key = text("general.architecture") + struct.pack(order + "I", 8) + text("llama")
    info = text("w") + struct.pack(order + "IQIQ", 1, 8, kind, 0)
    head = b"GGUF" + struct.pack(order + "IQQ", version, 1, 1)
    content = head + key + info
    content += bytes(-len(content) % 32) + bytes(32) + extra
    path.write_bytes(content)
    return path


def reference(path: Path) -> dict[str, tuple[str, int]]:
    """Tensors as the reference package reads them."""
    reader = gguf.GGUFReader(path)
    return {t.name: (t.tensor_type.name, int(t.n_bytes)) for t in reader.tensors}


def ours(path: Path) -> dict[str, tuple[str, int]]:
    return {t.name: (t.dtype, t.nbytes) for t in read_gguf(path).weights.tensors}


def quantised(writer: Any, name: str, kind: Any, rows: int, width: int) -> None:
    block, size = gguf.GGML_QUANT_SIZES[kind]
    data = np.zeros((rows, width // block * size), np.uint8)
    writer.add_tensor(name, data, raw_dtype=kind)


# The package counts two 32-bit floats in a block of Q8_1 where the engine keeps two 16-bit ones;
# the type lives only in working memory, no file stores it.
NOT_COMPARED = "Q8_1"


def test_block_sizes_are_those_of_the_reference_package() -> None:
    theirs = {
        int(kind): (kind.name, *gguf.GGML_QUANT_SIZES[kind])
        for kind in gguf.GGMLQuantizationType
        if kind in gguf.GGML_QUANT_SIZES and kind.name != NOT_COMPARED
    }
    mine = {kind.id: (kind.name, kind.block, kind.block_bytes) for kind in BY_ID.values()}
    assert {id_: row for id_, row in mine.items() if id_ in theirs} == theirs
    assert not RETIRED & BY_ID.keys()


def test_reads_every_type_as_the_reference_package_does(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(2)
    writer.add_array("tokenizer.ggml.tokens", [f"token {n}" for n in range(5000)])
    for kind in gguf.GGMLQuantizationType:
        if kind in gguf.GGML_QUANT_SIZES and kind.name in BY_NAME.keys() - {NOT_COMPARED}:
            quantised(writer, f"w.{kind.name}", kind, 3, 512)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    assert ours(path) == reference(path)
    assert len(ours(path)) > 25
    assert read_gguf(path).metadata["llama.block_count"] == 2


@pytest.mark.parametrize(("order", "version"), [("<", 2), ("<", 3), (">", 3)])
def test_reads_both_versions_and_byte_orders(tmp_path: Path, order: str, version: int) -> None:
    file = read_gguf(write(tmp_path / "m.gguf", order=order, version=version))
    assert file.metadata == {"general.architecture": "llama"}
    assert [(t.dtype, t.shape, t.nbytes) for t in file.weights.tensors] == [("F32", (8,), 32)]


def test_an_unknown_type_takes_what_the_offsets_leave(tmp_path: Path) -> None:
    (tensor,) = read_gguf(write(tmp_path / "m.gguf", kind=99)).weights.tensors
    assert (tensor.dtype, tensor.nbytes) == ("type 99", 32)


DAMAGED = {
    "an unknown type without room": (
        lambda path: write(path, kind=99).read_bytes()[:-32],
        (
            "{path}: the tensor 'w' has an unknown type id 99, and its size does not follow from the "
            "offsets either."
        ),
    ),
    "a row that is no whole number of blocks": (
        lambda path: write(path, kind=12).read_bytes(),
        (
            "{path}: the tensor 'w' has rows of 8 elements, which Q4_K (blocks of 256) cannot store; "
            "the header is damaged."
        ),
    ),
    "a truncated file": (
        lambda path: write(path).read_bytes()[:-8],
        (
            "{path}: the tensor 'w' takes 32 bytes at 0, where 24 are left; the file is truncated or "
            "its header damaged."
        ),
    ),
    "a version we do not read": (
        lambda path: write(path, version=1).read_bytes(),
        "{path} is GGUF version 1; versions 2 and 3 are read, convert it.",
    ),
    "another format": (
        lambda _: b"PK\x03\x04 and more",
        "{path} does not begin with GGUF; it is no GGUF file.",
    ),
    "a count that lies, before it is believed": (
        lambda _: b"GGUF" + struct.pack("<IQQ", 3, 1 << 50, 1),
        (
            "{path} says it has 1125899906842624 tensors, where at most 1048576 make sense; the "
            "header is damaged."
        ),
    ),
}


@pytest.mark.parametrize(("content", "message"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_is_refused_in_one_sentence(
    tmp_path: Path, content: Callable[[Path], bytes], message: str
) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(content(path))
    with pytest.raises(BadInput) as caught:
        read_gguf(path)
    assert str(caught.value) == message.replace("{path}", str(path))


def split(folder: Path) -> list[Path]:
    """A model in two files, as the reference package splits it."""
    writer = gguf.GGUFWriter(folder / "m.gguf", "llama", split_max_tensors=1)
    for name in ("a", "b"):
        writer.add_tensor(name, np.zeros((4, 8), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return sorted(folder.glob("m-*.gguf"))


def test_one_file_of_a_split_set_stands_for_all(tmp_path: Path) -> None:
    for path in split(tmp_path):
        weights = read_gguf(path).weights
        assert [t.name for t in weights.tensors] == ["a", "b"]
        assert (weights.files, weights.nbytes) == (2, 256)


def test_a_split_set_with_a_file_missing_is_refused(tmp_path: Path) -> None:
    first, second = split(tmp_path)
    second.unlink()
    with pytest.raises(BadInput) as caught:
        read_gguf(first)
    assert str(caught.value) == (
        f"{first} is one of 2 files, of which 1 are not beside it ({second.name} the first); "
        "fetch the whole set."
    )


@settings(max_examples=200)
@given(st.data())
def test_no_damage_ends_in_anything_but_a_header_or_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("gguf") / "m.gguf"
    content = bytearray(write(path, extra=bytes(32)).read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    refusal = f"{path}."
    try:
        weights = read_gguf(path).weights
    except VramError as error:
        refusal = str(error)
    else:
        assert weights.nbytes >= 0
    assert refusal.startswith(str(path))
    assert refusal.endswith(".")
