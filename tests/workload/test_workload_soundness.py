"""A stored workload that was tampered with or damaged is refused in a sentence by every reader."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stored_workloads import chats, stored
from vramledger.errors import BadInput
from vramledger.workload.operators.head import head
from vramledger.workload.profile.compute import profile_workload
from vramledger.workload.schema import METADATA_KEY
from vramledger.workload.store import read_metadata

NAN = float("nan")


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    return stored(tmp_path / "sound.parquet", chats(20))


def with_column(sound: Path, name: str, values: list[Any], kind: Any = None) -> Path:
    """The workload with a column of these values, repeated to its length, in the type it has or `kind`."""
    table = pq.read_table(sound)
    place = table.schema.get_field_index(name)
    field = table.schema.field(place) if kind is None else pa.field(name, kind)
    repeated = (values * len(table))[: len(table)]
    changed = sound.with_name("changed.parquet")
    pq.write_table(table.set_column(place, field, pa.array(repeated, field.type)), changed)
    return changed


def with_metadata(sound: Path, **stated: Any) -> Path:
    table = pq.read_table(sound)
    metadata = json.loads(table.schema.metadata[METADATA_KEY]) | stated
    return with_text(sound, json.dumps(metadata).encode())


def with_text(sound: Path, metadata: bytes) -> Path:
    changed = sound.with_name("changed.parquet")
    table = pq.read_table(sound).replace_schema_metadata({METADATA_KEY: metadata})
    pq.write_table(table, changed)
    return changed


def refusal_of(path: Path, read: Any = read_metadata) -> str:
    with pytest.raises(BadInput) as refusal:
        read(path)
    return str(refusal.value).removeprefix(str(path))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("input_tokens", [-1, 5]),
        ("output_tokens", [-1]),
        ("arrival_s", [-1.0, 0.0]),
        ("arrival_s", [0.0, float("inf")]),
        ("arrival_s", [0.0, 1e300]),
        ("arrival_s", [NAN]),
        ("duration_s", [-0.5]),
        ("duration_s", [1e300]),
        ("audio_s", [NAN]),
        ("think_s", [float("-inf")]),
        ("prefix_blocks", [[-1]]),
        ("prefix_blocks", [[(1 << 31) - 1]]),
        ("session", [-7]),
        ("session", [(1 << 31) - 1]),
        ("tenant", [80]),
        ("turn", [-1]),
        ("retry_of", [80]),
        ("row", [-1]),
        ("row", [80]),
    ],
)
def test_numbers_that_no_workload_has_are_refused(
    sound: Path, name: str, values: list[Any]
) -> None:
    assert refusal_of(with_column(sound, name, values)) == (
        f": the column {name} holds numbers that no workload has; import the logs again."
    )


@pytest.mark.parametrize(
    ("name", "values", "kind", "said"),
    [
        ("input_tokens", ["x"], pa.string(), "input_tokens as string, and a workload has it once as int32"),
        ("input_tokens", [1], pa.int64(), "input_tokens as int64, and a workload has it once as int32"),
        ("arrival_s", [1], pa.int32(), "arrival_s as int32, and a workload has it once as double"),
        ("outcome", [None], pa.string(),
         "outcome as string, which may be null, and a workload has it once as string"),
    ],
)  # fmt: skip
def test_columns_of_other_types_are_refused(
    sound: Path, name: str, values: list[Any], kind: Any, said: str
) -> None:
    changed = with_column(sound, name, values, kind)
    assert refusal_of(changed) == f" has the column {said}; import the logs again."


def test_a_column_that_is_missing_or_there_twice_is_refused(sound: Path) -> None:
    table, changed = pq.read_table(sound), sound.with_name("changed.parquet")
    pq.write_table(table.drop_columns(["outcome"]), changed)
    assert refusal_of(changed) == (
        " is a workload without the columns outcome; import the logs again."
    )
    names = [*table.column_names, "row"]
    twice = pa.Table.from_arrays([*table.columns, table.column("row")], names=names)
    fields = [*table.schema, table.schema.field("row")]
    pq.write_table(twice.cast(pa.schema(fields, table.schema.metadata)), changed)
    assert refusal_of(changed) == (
        " has the column row twice, and a workload has it once as int64; import the logs again."
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("block_tokens", "sixteen"), ("block_tokens", 0), ("block_tokens", -5), ("block_tokens", True),
        ("block_tokens", 10**30), ("week_offset_s", "x"), ("week_offset_s", -1), ("week_offset_s", 1.5),
        ("week_offset_s", 7 * 86_400), ("time_zone", 5), ("formats", [1]), ("formats", {"x": -1}),
        ("loss", "x"), ("inferred", "abc"), ("basis", "measured"), ("basis", {"input_tokens": 5}),
        ("history", 5), ("history", [5]), ("synthetic", "no"), ("kept", []),
    ],
)  # fmt: skip
def test_metadata_that_no_workload_has_are_refused_by_their_key(
    sound: Path, name: str, value: Any
) -> None:
    assert refusal_of(with_metadata(sound, **{name: value})) == (
        f": its metadata hold a {name} that no workload has; import the logs again."
    )


@pytest.mark.parametrize("text", [b"{bad", b"5", b"\xff\xfe", b"[" * 100_000])
def test_metadata_that_are_no_json_are_refused(sound: Path, text: bytes) -> None:
    assert refusal_of(with_text(sound, text)) == (
        ": its metadata follow None, and this version reads 'vramledger.workload/1'; import the logs "
        "again."
    )


def first_requests(path: Path) -> None:
    head(path, 5, path.with_name("head.parquet"))


@pytest.mark.parametrize("read", [profile_workload, first_requests])
@pytest.mark.parametrize("name", ["arrival_s", "duration_s", "audio_s", "think_s"])
def test_a_time_that_is_no_number_among_sound_ones_is_refused(
    sound: Path, read: Any, name: str
) -> None:
    changed = with_column(sound, name, [0.5, NAN])
    assert refusal_of(changed, read) == (
        " is damaged, or holds numbers that no workload has; fetch it again, or import the logs again."
    )


@pytest.mark.parametrize("read", [profile_workload, first_requests])
def test_damaged_pages_are_refused(sound: Path, read: Any) -> None:
    content = sound.read_bytes()
    sound.write_bytes(content[:200] + b"\xff" * 600 + content[800:])
    assert refusal_of(sound, read) == (
        " is damaged, or holds numbers that no workload has; fetch it again, or import the logs again."
    )


def test_lengths_up_to_what_the_column_holds_are_profiled(sound: Path) -> None:
    changed = with_column(sound, "input_tokens", [(1 << 31) - 1, 1 << 30, 7])
    profile = profile_workload(changed)
    assert profile.input_tokens is not None
    assert profile.joint is not None
    assert profile.input_tokens.max == (1 << 31) - 1
    assert profile.joint.requests == 80
