"""Stored bytes of every format, against arrays laid out as the checkpoints' writers do."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file

from vramledger.model.quantization import formats
from vramledger.model.quantization.encoding import Tiled
from vramledger.model.tensor import Encoding

Arrays = dict[str, np.ndarray[Any, Any]]
OUT, INP = 512, 1024


def file_bytes(path: Path, arrays: Mapping[str, np.ndarray[Any, Any]]) -> int:
    """Bytes of tensor data in a safetensors file of these arrays."""
    save_file(dict(arrays), path)
    header = int.from_bytes(path.read_bytes()[:8], "little")
    return path.stat().st_size - 8 - header


def gptq_layer(bits: int, group: int) -> dict[str, np.ndarray[Any, Any]]:
    return {
        "qweight": np.zeros((INP * bits // 32, OUT), np.int32),
        "scales": np.zeros((INP // group, OUT), np.float16),
        "qzeros": np.zeros((INP // group, OUT * bits // 32), np.int32),
        "g_idx": np.zeros(INP, np.int32),
    }


@pytest.mark.parametrize("bits", [2, 3, 4, 8])
@pytest.mark.parametrize("group", [32, 64, 128, INP])
def test_gptq_stores_words_scales_zeros_and_an_index(tmp_path: Path, bits: int, group: int) -> None:
    encoding = formats.gptq(bits, group, symmetric=True, act_order=False)
    assert encoding.nbytes((OUT, INP)) == file_bytes(
        tmp_path / "layer.safetensors", gptq_layer(bits, group)
    )


def test_awq_packs_along_outputs_and_has_no_index(tmp_path: Path) -> None:
    arrays: Arrays = {
        "qweight": np.zeros((INP, OUT * 4 // 32), np.int32),
        "scales": np.zeros((INP // 128, OUT), np.float16),
        "qzeros": np.zeros((INP // 128, OUT * 4 // 32), np.int32),
    }
    stored = file_bytes(tmp_path / "layer.safetensors", arrays)
    assert formats.awq(4, 128, zeros=True).nbytes((OUT, INP)) == stored


@pytest.mark.parametrize("symmetric", [True, False])
def test_packed_integers_store_their_shape(tmp_path: Path, *, symmetric: bool) -> None:
    arrays: Arrays = {
        "weight_packed": np.zeros((OUT, INP // 8), np.int32),
        "weight_scale": np.zeros((OUT, INP // 128), np.float16),
        "weight_shape": np.zeros(2, np.int64),
    }
    if not symmetric:
        arrays["weight_zero_point"] = np.zeros((OUT // 8, INP // 128), np.int32)
    encoding = formats.packed_int(4, 128, symmetric=symmetric, act_order=False)
    assert encoding.nbytes((OUT, INP)) == file_bytes(tmp_path / "layer.safetensors", arrays)


def test_fp8_blocks_round_up_at_the_edges(tmp_path: Path) -> None:
    arrays: Arrays = {
        "weight": np.zeros((576, 7168), np.uint8),
        "weight_scale_inv": np.zeros((5, 56), np.float32),
    }
    stored = file_bytes(tmp_path / "layer.safetensors", arrays)
    assert formats.fp8_block(128, 128).nbytes((576, 7168)) == stored


def test_nvfp4_has_a_scale_for_sixteen_inputs_and_two_for_the_matrix(tmp_path: Path) -> None:
    arrays: Arrays = {
        "weight": np.zeros((OUT, INP // 2), np.uint8),
        "weight_scale": np.zeros((OUT, INP // 16), np.uint8),
        "weight_scale_2": np.zeros((), np.float32),
        "input_scale": np.zeros((), np.float32),
    }
    stored = file_bytes(tmp_path / "layer.safetensors", arrays)
    assert formats.nvfp4().nbytes((OUT, INP)) == stored


@pytest.mark.parametrize(
    ("encoding", "bits_per_weight"),
    [
        (formats.mxfp4(), 4.25),
        (formats.mxfp6(), 6.25),
        (formats.mxfp8(), 8.25),
        (formats.gptq(4, 128, symmetric=True, act_order=False), 4.15625),
        (formats.gptq(4, 32, symmetric=True, act_order=False), 4.625),
        (formats.awq(4, 128, zeros=True), 4.15625),
        (formats.bnb4(double=False), 4.5),
        (formats.bnb4(double=True), 4.126953125),
    ],
)
def test_large_matrices_take_the_published_bits_per_weight(
    encoding: Encoding, bits_per_weight: float
) -> None:
    shape = (8192, 8192)
    bits = encoding.nbytes(shape) * 8 / (8192 * 8192)
    assert bits == pytest.approx(bits_per_weight, rel=2e-3)


def test_bitsandbytes_double_scales_take_a_byte_and_four_for_each_256() -> None:
    elements = 4096 * 4096
    blocks = elements // 64
    tables = 16 * 4 + 256 * 4 + 4
    expected = elements // 2 + blocks + blocks // 256 * 4 + tables
    assert formats.bnb4(double=True).nbytes((4096, 4096)) == expected


ALL = (
    formats.fp8_tensor(static_activations=True),
    formats.fp8_channel(),
    formats.fp8_block(128, 128),
    formats.int8_channel(),
    formats.gptq(4, 128, symmetric=False, act_order=True),
    formats.awq(4, 64, zeros=True),
    formats.packed_int(4, 32, symmetric=True, act_order=False),
    formats.mxfp4(),
    formats.nvfp4(),
)


@given(
    encoding=st.sampled_from(ALL),
    out=st.integers(1, 40).map(lambda n: 128 * n),
    parts=st.integers(2, 4),
)
def test_shares_of_outputs_never_take_less_than_the_whole(
    encoding: Tiled, out: int, parts: int
) -> None:
    whole = encoding.nbytes((out * parts, 1024))
    assert parts * encoding.nbytes((out, 1024)) >= whole


@given(encoding=st.sampled_from(ALL), out=st.integers(1, 5000), inp=st.integers(1, 5000))
def test_no_format_stores_fewer_bits_than_its_weights_have(
    encoding: Tiled, out: int, inp: int
) -> None:
    assert encoding.nbytes((out, inp)) * 8 >= encoding.parts[0].bits * out * inp
