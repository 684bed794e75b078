"""safetensors headers: against the reference library, and against files that lie."""

import json
import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file

from vramledger.errors import BadInput, VramError
from vramledger.model.files.directory import find_gguf, find_safetensors
from vramledger.model.files.safetensors import parse_header, read_index, read_safetensors


def write(path: Path, header: Any, data: bytes = b"", length: int | None = None) -> Path:
    """A file with this header, and perhaps a length that lies about it."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + data)
    return path


def entry(
    begin: int, end: int, shape: list[int] | None = None, dtype: str = "U8"
) -> dict[str, Any]:
    return {
        "dtype": dtype,
        "shape": [end - begin] if shape is None else shape,
        "data_offsets": [begin, end],
    }


def refusal(path: Path) -> str:
    with pytest.raises(BadInput) as caught:
        read_safetensors(path)
    return str(caught.value)


def test_reads_what_the_reference_library_wrote(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file(
        {"a": np.zeros((3, 5), np.float16), "b": np.zeros((2,), np.int64)},
        path,
        metadata={"format": "pt"},
    )
    stored = {t.name: (t.dtype, t.shape, t.nbytes) for t in read_safetensors(path).tensors}
    assert stored == {"a": ("F16", (3, 5), 30), "b": ("I64", (2,), 16)}


def test_a_header_longer_than_the_file_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "m.safetensors", {}, length=5000)
    assert refusal(path) == (
        f"{path} says its header is 5000 bytes long, but the file has only 10; it is truncated or "
        "no safetensors file, fetch it again."
    )


def test_a_header_length_beyond_the_format_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "m.safetensors", {}, length=1 << 60)
    assert refusal(path) == (
        f"{path} says its header is 1152921504606846976 bytes long, where safetensors allows 2 to "
        "100000000; it is no safetensors file or it is damaged."
    )


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    path.touch()
    assert refusal(path) == (
        f"{path} has 0 bytes, too few for a safetensors header; fetch it again."
    )


def test_overlapping_tensors_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "m.safetensors", {"a": entry(0, 8), "b": entry(4, 12)}, bytes(12))
    assert refusal(path) == (
        f"{path}: the tensor 'b' begins at byte 4 of the data and overlaps the one before it "
        "(expected 8); the header is damaged."
    )


def test_a_hole_between_tensors_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "m.safetensors", {"a": entry(0, 8), "b": entry(9, 12)}, bytes(12))
    assert "leaves a hole before it (expected 8)" in refusal(path)


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "m.safetensors", {"a": entry(0, 100)}, bytes(40))
    assert refusal(path) == (
        f"{path}: the header lists 100 bytes of tensors, the file has 40 after it; it is truncated "
        "or damaged, fetch it again."
    )


def test_a_shape_that_cannot_take_its_bytes_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "m.safetensors", {"a": entry(0, 8, [3], "F32")}, bytes(8))
    assert "of shape [3] and type F32 cannot take 8 bytes" in refusal(path)


def test_a_name_listed_twice_is_refused(tmp_path: Path) -> None:
    one = json.dumps(entry(0, 8))
    path = write(tmp_path / "m.safetensors", f'{{"a": {one}, "a": {one}}}'.encode(), bytes(8))
    assert refusal(path) == f"{path} lists 'a' twice; the file is damaged, fetch it again."


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        (b"[1, 2]", "the header is a JSON list, not an object"),
        (b"{nothing", "the header is not valid JSON"),
        (b'{"\xff": 1}', "the header is not UTF-8 text"),
        (b"[" * 200_000, "the header is nested too deeply"),
        (b'{"a": 3}', "has no usable 'data_offsets'"),
        (b'{"a": {"data_offsets": [4, 0]}}', "has no usable 'data_offsets'"),
        (b'{"a": {"data_offsets": [0, 4], "shape": [-4]}}', "has the unusable shape [-4]"),
        (b'{"a": {"data_offsets": [0, 4], "shape": [4]}}', "has no 'dtype'"),
    ],
)
def test_a_damaged_header_is_refused(tmp_path: Path, header: bytes, problem: str) -> None:
    assert problem in refusal(write(tmp_path / "m.safetensors", header, bytes(4)))


def test_a_link_in_circles_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    path.symlink_to(tmp_path / "n.safetensors")
    (tmp_path / "n.safetensors").symlink_to(path)
    assert (
        refusal(path) == f"{path} cannot be read: Too many levels of symbolic links; mend the link."
    )


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    os.mkfifo(path)
    assert refusal(path) == (
        f"{path} is a pipe or a device, not a weight file; save what it gives to a file and name that."
    )


def test_a_sparse_file_of_two_gigabytes_is_refused_by_its_header(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    with path.open("wb") as file:
        file.truncate(2 << 30)
    assert "says its header is 0 bytes long" in refusal(path)


def shards(folder: Path) -> Path:
    """Two shards, their index, and a copy in the original layout that no index names."""
    save_file({"a": np.zeros((4,), np.float32)}, folder / "model-1.safetensors")
    save_file({"b": np.zeros((6,), np.float32)}, folder / "model-2.safetensors")
    save_file({"a": np.zeros((99,), np.float32)}, folder / "consolidated.safetensors")
    index = folder / "model.safetensors.index.json"
    weight_map = {"a": "model-1.safetensors", "b": "model-2.safetensors"}
    index.write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": weight_map}))
    return index


def test_an_index_counts_only_the_files_it_names(tmp_path: Path) -> None:
    weights = read_index(shards(tmp_path))
    assert (weights.nbytes, weights.files) == (40, 2)


def test_a_directory_is_read_through_its_index(tmp_path: Path) -> None:
    shards(tmp_path)
    found = find_safetensors(tmp_path).weights
    assert found is not None
    assert found.nbytes == 40


def test_a_directory_without_an_index_leaves_out_the_original_layout(tmp_path: Path) -> None:
    shards(tmp_path).unlink()
    found = find_safetensors(tmp_path).weights
    assert found is not None
    assert found.nbytes == 40


def test_missing_shards_are_said_and_not_summed(tmp_path: Path) -> None:
    index = shards(tmp_path)
    (tmp_path / "model-2.safetensors").unlink()
    found = find_safetensors(tmp_path)
    assert found.weights is None
    assert found.note == (
        f"{index} names 2 files of which 1 are not there (model-2.safetensors the first); weight "
        "bytes are derived from the configuration."
    )


def test_an_index_that_leads_out_of_its_folder_is_refused(tmp_path: Path) -> None:
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "../secret.safetensors"}}))
    with pytest.raises(BadInput) as caught:
        read_index(index)
    assert str(caught.value) == (
        f"{index}: the tensor 'a' is placed in '../secret.safetensors', which is not the name of a "
        "file beside the index."
    )


def test_an_index_that_promises_a_tensor_no_file_holds_is_refused(tmp_path: Path) -> None:
    index = shards(tmp_path)
    content = json.loads(index.read_text())
    content["weight_map"]["c"] = "model-1.safetensors"
    index.write_text(json.dumps(content))
    with pytest.raises(BadInput) as caught:
        read_index(index)
    assert str(caught.value) == (
        f"{index} places the tensor 'c' in model-1.safetensors, which does not hold it (1 such); "
        "index and files are not of one checkpoint, fetch both again."
    )


def test_a_directory_with_several_gguf_models_asks_which(tmp_path: Path) -> None:
    (tmp_path / "a-Q4_K_M.gguf").touch()
    (tmp_path / "a-Q8_0.gguf").touch()
    with pytest.raises(BadInput) as caught:
        find_gguf(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path} holds several GGUF models: a-Q4_K_M.gguf, a-Q8_0.gguf; give one of them."
    )


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["dtype", "shape", "data_offsets", "a"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(st.binary(max_size=64) | json_values.map(lambda value: json.dumps(value).encode()))
def test_no_header_ends_in_anything_but_tensors_or_one_sentence(header: bytes) -> None:
    refusal = "file."
    try:
        tensors = parse_header(header, "file", None)
    except VramError as error:
        refusal = str(error)
    else:
        assert all(tensor.nbytes >= 0 for tensor in tensors)
    assert refusal.startswith("file")
    assert refusal.endswith(".")
