"""Hostile configurations and weight headers: a model, or one sentence; nothing else, and no wait."""

import copy
import json
import struct
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vramledger.engine.vllm.loaded import Loaded
from vramledger.errors import VramError
from vramledger.model import catalogue
from vramledger.model.checkpoint import Checkpoint, assemble
from vramledger.model.config import Config, parse_config
from vramledger.model.files.gguf import read_gguf
from vramledger.model.files.safetensors import parse_header, parse_weight_map, read_safetensors
from vramledger.model.gguf.model import load_gguf
from vramledger.model.inspection import inspect
from vramledger.report.model import to_json, to_text

pytestmark = pytest.mark.fuzz
long_run = settings(
    max_examples=15_000,
    deadline=5_000,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
NOT_LOADED = Loaded(None, "vLLM", "H100-80GB-SXM", ())
HOSTILE: Sequence[Any] = (
    None, 0, -1, 1, 2, 3, 7, 128, 65_536, 10**9, 2**41, 10**30, 1.5, float("nan"), float("inf"),
    "", "x", "auto", "full_attention", [], [0], [1, 2], ["a"], [None], [[]], {}, {"a": 1}, True,
    False,
)  # fmt: skip


def is_a_sentence(error: VramError) -> bool:
    text = str(error)
    return text.endswith(".") and "\n" not in text


@cache
def figures(model_id: str) -> dict[str, Any]:
    entry = catalogue.find(model_id)
    return dict(entry.config) if entry is not None else {}


def paths(values: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, value in values.items():
        yield (*above, key)
        if isinstance(value, dict):
            yield from paths(value, (*above, key))


def damage(values: dict[str, Any], data: st.DataObject) -> dict[str, Any]:
    """A real configuration with one to three values replaced or dropped."""
    damaged = copy.deepcopy(values)
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(list(paths(damaged))))
        parent = damaged
        for key in path[:-1]:
            parent = parent[key]
        if data.draw(st.integers(0, 4)) == 0:
            del parent[path[-1]]
        else:
            parent[path[-1]] = copy.deepcopy(data.draw(st.sampled_from(HOSTILE)))
        if not damaged:
            break
    return damaged


@long_run
@given(st.sampled_from(catalogue.ids()), st.data())
def test_a_damaged_configuration_makes_a_model_or_one_sentence(
    model_id: str, data: st.DataObject
) -> None:
    damaged = damage(figures(model_id), data)
    try:
        inspection = inspect(assemble(Checkpoint("model", Config(damaged, "config.json"))))
    except VramError as error:
        refused = error
    else:
        assert json.loads(json.dumps(to_json(inspection, NOT_LOADED)))["params_total"] > 0
        assert to_text(inspection, NOT_LOADED).startswith("model\n")
        return
    assert is_a_sentence(refused)


@long_run
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_as_a_configuration_end_in_one_sentence(content: bytes) -> None:
    try:
        assemble(Checkpoint("model", parse_config(content, "config.json")))
    except VramError as error:
        refused = error
    assert is_a_sentence(refused)


def header_bytes(values: Any) -> bytes:
    return json.dumps(values).encode()


numbers = st.integers(-2, 40) | st.sampled_from([2**31, 2**63, 2**64, 10**30])
entries = st.fixed_dictionaries(
    {},
    optional={
        "dtype": st.sampled_from(["F16", "F32", "U8", "F4", "I32", "Q9", "", 3, None]),
        "shape": st.lists(numbers, max_size=4) | st.none(),
        "data_offsets": st.lists(numbers, max_size=3) | st.none(),
    },
)
headers = st.dictionaries(st.text(max_size=6), entries | st.none() | st.integers(), max_size=5)


@long_run
@given(headers.map(header_bytes) | st.binary(max_size=80), st.none() | st.integers(0, 200))
def test_any_safetensors_header_is_read_or_refused(content: bytes, data_bytes: int | None) -> None:
    try:
        tensors = parse_header(content, "model.safetensors", data_bytes)
    except VramError as error:
        refused = error
    else:
        assert data_bytes is None or sum(t.nbytes for t in tensors) == data_bytes
        return
    assert is_a_sentence(refused)


@long_run
@given(st.binary(max_size=100), st.integers(0, 2**64 - 1))
def test_any_safetensors_file_is_read_or_refused(
    tmp_path: Path, content: bytes, length: int
) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(struct.pack("<Q", length) + content)
    try:
        weights = read_safetensors(path)
    except VramError as error:
        refused = error
    else:
        assert weights.nbytes <= len(content)
        return
    assert is_a_sentence(refused)


@long_run
@given(
    st.fixed_dictionaries(
        {}, optional={"weight_map": st.dictionaries(st.text(max_size=5), st.text(max_size=9))}
    ).map(header_bytes)
    | st.binary(max_size=80)
)
def test_any_index_is_read_or_refused(content: bytes) -> None:
    try:
        names = parse_weight_map(content, "index.json").values()
    except VramError as error:
        refused = error
    else:
        assert not any("/" in name or name in ("", ".", "..") for name in names)
        return
    assert is_a_sentence(refused)


def gguf_file() -> bytearray:
    """A small valid file: an architecture, its sizes, one array, two tensors."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    def number(key: str, value: int) -> bytes:
        return text(f"llama.{key}") + struct.pack("<II", 4, value)

    sizes = {"block_count": 2, "context_length": 64, "embedding_length": 8,
             "feed_forward_length": 16, "attention.head_count": 2}  # fmt: skip
    keys = text("general.architecture") + struct.pack("<I", 8) + text("llama")
    keys += b"".join(number(key, value) for key, value in sizes.items())
    keys += text("llama.attention.head_count_kv") + struct.pack("<IIQII", 9, 4, 2, 1, 2)
    infos = text("token_embd.weight") + struct.pack("<IQQIQ", 2, 8, 4, 0, 0)
    infos += text("blk.0.attn_q.weight") + struct.pack("<IQQIQ", 2, 8, 8, 1, 128)
    content = b"GGUF" + struct.pack("<IQQ", 3, 2, len(sizes) + 2) + keys + infos
    return bytearray(content + bytes(-len(content) % 32) + bytes(256))


def test_the_file_that_is_damaged_below_is_sound(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf_file())
    assert read_gguf(path).weights.nbytes == 256
    assert len(load_gguf(path, "model").cache_layers) == 2


@long_run
@given(
    st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), max_size=6),
    st.none() | st.integers(0, 1 << 10),
)
def test_a_damaged_gguf_file_is_read_or_refused(
    tmp_path: Path, changes: list[tuple[int, int]], cut: int | None
) -> None:
    content = gguf_file()
    for position, value in changes:
        content[position % len(content)] = value
    path = tmp_path / "model.gguf"
    path.write_bytes(content[:cut])
    try:
        inspection = inspect(load_gguf(path, "model"))
    except VramError as error:
        refused = error
    else:
        assert to_json(inspection, NOT_LOADED)["weights_bytes"] >= 0
        assert to_text(inspection, NOT_LOADED)
        return
    assert is_a_sentence(refused)
