"""Damaged, tampered and foreign files end in one sentence, whichever byte it is."""

import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recorded_runs import measured_run
from vramledger.errors import BadInput, CannotKnow
from vramledger.record.description import hash_of
from vramledger.record.requests import REQUESTS
from vramledger.record.run import read_run
from vramledger.record.samples import STEPS
from vramledger.record.soundness import check_sound


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return measured_run(tmp_path_factory.mktemp("runs") / "run").path


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "run"))


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(BadInput) as refused:
        call()
    return str(refused.value)


def edited(folder: Path, *, reseal: bool = True, **values: Any) -> None:
    """Change run.json; with `reseal`, as somebody would who knows how hashes are made."""
    path = folder / "run.json"
    document = json.loads(path.read_text()) | values
    if reseal:
        document["sha256"] = hash_of(document)
    path.write_text(json.dumps(document))


def rewritten(folder: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    """Change the table of requests and keep its metadata."""
    path = folder / "requests.parquet"
    table = pq.read_table(path)
    pq.write_table(change(table).replace_schema_metadata(table.schema.metadata), path)


def test_a_sound_run_is_read(folder: Path) -> None:
    run = read_run(folder)
    run.check_unchanged()
    check_sound(run)


@pytest.mark.parametrize("origin", ["simulated", "rehearsed"])
def test_the_origin_is_under_the_hash(folder: Path, origin: str) -> None:
    edited(folder, reseal=False, origin=origin)
    assert refusal(lambda: read_run(folder)) == (
        f"{folder / 'run.json'} was changed after the run was closed: it does not have the hash it "
        "states; use an unchanged copy."
    )


def test_each_table_knows_its_origin_too(folder: Path) -> None:
    edited(folder, origin="simulated")
    assert refusal(lambda: read_run(folder)) == (
        f"{folder / 'gpu.parquet'} is of origin 'measured', and its run.json says 'simulated'; these "
        "files are not of one run."
    )


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"origin": "invented"}, "origin has no sense there (Input should be "),
        ({"seed": "7"}, "seed has no sense there (Input should be a valid integer)"),
        ({"sha256": "no"}, "sha256 has no sense there (String should match pattern"),
        ({"tables": {"gpu": {"rows": -1, "sha256": "0" * 64}}}, "tables.gpu.rows has no sense"),
        ({"started_at": "yesterday"}, "started_at has no sense there (String should match"),
        ({"clock": {"offsets_s": {"target-0": "1"}}}, "clock.offsets_s.target-0 has no sense"),
    ],
)
def test_a_key_without_sense_is_named(folder: Path, values: dict[str, Any], complaint: str) -> None:
    edited(folder, reseal=False, **values)
    said = refusal(lambda: read_run(folder))
    assert said.startswith(f"{folder / 'run.json'}: {complaint}")
    assert said.endswith("; use an unchanged copy.")


def test_keys_that_nobody_knows_are_kept(folder: Path) -> None:
    edited(folder, weather="fine")
    assert read_run(folder).description.model_dump()["weather"] == "fine"


def test_another_schema_is_refused(folder: Path) -> None:
    edited(folder, schema="vramledger.run/2")
    assert refusal(lambda: read_run(folder)) == (
        f"{folder / 'run.json'} follows the schema 'vramledger.run/2', and this version reads "
        "'vramledger.run/1'; read it with the version that wrote it."
    )


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{", b"[" * 100_000, b'{"a": NaN}', b"null", b"\x00"]
)
def test_a_description_that_is_no_object_is_refused(folder: Path, content: bytes) -> None:
    (folder / "run.json").write_bytes(content)
    assert refusal(lambda: read_run(folder)) == (
        f"{folder / 'run.json'} is not a JSON object; it was damaged or is no run's description, so "
        "name another run."
    )


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    assert refusal(lambda: read_run(tmp_path / "none")) == (
        f"{tmp_path / 'none'} is no folder, and a run is one; name the folder of a run."
    )
    assert refusal(lambda: read_run(tmp_path)) == (
        f"{tmp_path / 'run.json'} cannot be read: No such file or directory; check its path."
    )


def test_a_run_without_requests_is_refused(folder: Path) -> None:
    edited(folder, tables={})
    assert refusal(lambda: read_run(folder)) == (
        f"{folder} lists no table of requests; use an unchanged copy."
    )


def test_a_missing_table_is_named(folder: Path) -> None:
    (folder / "server.parquet").unlink()
    assert refusal(lambda: read_run(folder)) == (
        f"{folder / 'server.parquet'} cannot be read: No such file or directory; check its path."
    )


def test_a_table_that_the_run_never_had_cannot_be_known(folder: Path) -> None:
    run = read_run(folder)
    with pytest.raises(CannotKnow) as refused:
        run.table(STEPS)
    assert str(refused.value) == (
        f"{folder} has no steps.parquet: a run of origin measured need not have it; use one that "
        "recorded it."
    )


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.7, 0.99])
def test_a_truncated_table_is_refused(folder: Path, kept: float) -> None:
    path = folder / "requests.parquet"
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept)])
    assert refusal(lambda: read_run(folder)) == (
        f"{path} is not a Parquet file, or a damaged one; use an unchanged copy of the run."
    )


def test_missing_columns_are_named(folder: Path) -> None:
    rewritten(folder, lambda table: table.drop_columns(["due_s", "queue_s"]))
    assert refusal(lambda: read_run(folder)) == (
        f"{folder / 'requests.parquet'} lacks the columns due_s, queue_s; use an unchanged copy of the "
        "run."
    )


def test_a_column_of_another_type_is_named(folder: Path) -> None:
    def change(table: pa.Table) -> pa.Table:
        place = table.schema.get_field_index("due_s")
        return table.set_column(place, "due_s", table["due_s"].cast(pa.string()))

    rewritten(folder, change)
    assert refusal(lambda: read_run(folder)) == (
        f"{folder / 'requests.parquet'}: the column due_s is string, and should be double; use an "
        "unchanged copy of the run."
    )


def test_columns_that_nobody_knows_are_kept(folder: Path) -> None:
    rewritten(folder, lambda table: table.append_column("mood", pa.array(["good"] * len(table))))
    requests = read_run(folder).requests
    assert requests.names == (*REQUESTS.columns, "mood")
    assert requests.read()["mood"].to_pylist() == ["good"] * 20
    assert next(requests.batches(["mood", "row"])).schema.names == ["mood", "row"]


def test_a_column_that_is_not_there_is_named(folder: Path) -> None:
    requests = read_run(folder).requests
    said = refusal(lambda: requests.read(["mood"]))
    assert said.startswith(f"{requests.path} has no column mood; it has request_id, row, ")


def test_rows_that_went_missing_are_noticed(folder: Path) -> None:
    rewritten(folder, lambda table: table.slice(3))
    assert refusal(lambda: read_run(folder)) == (
        f"{folder / 'requests.parquet'} has 17 rows, and run.json says 20; use an unchanged copy of "
        "the run."
    )


def test_a_foreign_table_is_refused(folder: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), folder / "requests.parquet")
    assert refusal(lambda: read_run(folder)) == (
        f"{folder / 'requests.parquet'} does not say that it follows 'vramledger.requests/1'; use an "
        "unchanged copy of the run."
    )


@pytest.mark.parametrize("name", ["requests.parquet", "gpu.parquet", "journal.jsonl"])
def test_a_changed_byte_is_found(folder: Path, name: str) -> None:
    run, path = read_run(folder), folder / name
    content = bytearray(path.read_bytes())
    content[10] ^= 1
    path.write_bytes(content)
    assert refusal(run.check_unchanged) == (
        f"{path} was changed after the run was closed; use an unchanged copy."
    )


def test_a_journal_that_is_gone_or_a_pipe_is_said(folder: Path) -> None:
    run, path = read_run(folder), folder / "journal.jsonl"
    path.unlink()
    assert refusal(run.check_unchanged) == (
        f"{path} cannot be read: No such file or directory; check its path."
    )
    os.mkfifo(path)
    assert refusal(run.check_unchanged) == (
        f"{path} is a pipe or a device, not a file of a run; save what it gives to a file and name "
        "that."
    )


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        b"[1]",
        b"null",
        b'{"t_s": 1, "event": "x"}',
        b'{"t_s": 1.0}',
        b'{"t_s": 1.0, "event": "x", "a": NaN}',
        b"[" * 100_000,
    ],
)
def test_a_journal_line_that_is_no_entry_is_named(folder: Path, line: bytes) -> None:
    path = folder / "journal.jsonl"
    path.write_bytes(path.read_bytes() + line + b"\n")
    assert refusal(read_run(folder).journal) == (
        f"{path} line 2 is no entry of a journal; use an unchanged copy of the run."
    )


def test_a_half_line_at_the_end_of_a_journal_is_said(folder: Path) -> None:
    path = folder / "journal.jsonl"
    path.write_bytes(path.read_bytes() + b'{"t_s": 3')
    found = read_run(folder).journal()
    assert (len(found.entries), found.half_line) == (1, True)


@settings(max_examples=150)
@given(
    st.sampled_from(["run.json", "requests.parquet", "journal.jsonl"]),
    st.integers(0),
    st.integers(1, 255),
)
def test_whichever_byte_is_changed_the_answer_is_a_sentence_or_the_run(
    original: Path, tmp_path_factory: pytest.TempPathFactory, name: str, place: int, flip: int
) -> None:
    folder = Path(shutil.copytree(original, tmp_path_factory.mktemp("flipped") / "run"))
    content = bytearray((folder / name).read_bytes())
    content[place % len(content)] ^= flip
    (folder / name).write_bytes(content)

    def whole() -> None:
        run = read_run(folder)
        run.requests.read()
        run.journal()
        run.check_unchanged()

    with suppress(BadInput):
        whole()
        assert name == "run.json"  # where a byte may change that JSON gives no meaning to
