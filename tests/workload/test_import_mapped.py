"""Any table, read by the meaning of its columns."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from imported_logs import imported
from vramledger.errors import BadInput, UnknownName
from vramledger.workload.formats.mapped import read_mapping

EVERY = {
    "arrival": "when", "input": "usage.prompt", "output": "usage.completion", "thinking": "usage.r",
    "cached": "usage.c", "max_output": "limit", "duration_ms": "took", "first_token_us": "ttft",
    "outcome": "status", "cancel_after_s": "gone", "session": "s", "turn": "n", "think": "idle",
    "tenant": "who", "model": "m", "request_id": "id", "retry_of": "prior", "prefix": "blocks",
    "images": "pictures.0.count", "audio_ms": "sound",
}  # fmt: skip


def test_every_field_can_be_mapped_and_paths_lead_into_objects(tmp_path: Path) -> None:
    record = {
        "when": "2024-05-10T10:00:00Z", "usage": {"prompt": 50, "completion": "7", "r": 3, "c": 16},
        "limit": 100, "took": 1500, "ttft": 250_000, "status": 499, "gone": 1.5, "s": "a", "n": 4,
        "idle": 2.25, "who": 17, "m": "x", "id": 1, "prior": 0, "blocks": [9, 8, 7],
        "pictures": [{"count": 2}], "sound": 5000,
    }  # fmt: skip
    found = imported(tmp_path, json.dumps(record), name="log.json", mapping=EVERY)
    (row,) = found.rows
    assert row == {
        "row": 0, "arrival_s": 0.0, "input_tokens": 50, "output_tokens": 7, "thinking_tokens": 3,
        "cached_tokens": 16, "max_output_tokens": 100, "duration_s": 1.5, "first_token_s": 0.25,
        "prefix_blocks": [0, 1, 2], "session": 0, "turn": 4, "think_s": 2.25,
        "outcome": "cancelled", "cancel_after_s": 1.5, "retry_of": None, "images": 2,
        "audio_s": 5.0, "model": "model-0", "tenant": 0,
    }  # fmt: skip


MAP = {"arrival": "ts", "input": "in", "output": "out"}


@pytest.mark.parametrize(
    ("times", "seconds"),
    [
        (("2024-05-10 10:00:00", "2024-05-10 10:00:01.25"), 1.25),
        (("1715335200.123", "1715335201.373"), 1.25),
        (("1715335200123", "1715335201373"), 1.25),
        (("12.5", "13.75"), 1.25),
    ],
)
def test_arrivals_may_be_dates_or_numbers(
    tmp_path: Path, times: tuple[str, str], seconds: float
) -> None:
    found = imported(tmp_path, "ts,in,out\n" + "".join(f"{t},1,1\n" for t in times), mapping=MAP)
    assert found.column("arrival_s") == [0.0, seconds]
    assert found.imported.stored is not None
    on_a_clock = found.imported.stored.metadata.week_offset_s is not None
    assert on_a_clock is (len(times[0]) > 5)


def test_arrivals_may_have_a_stated_unit(tmp_path: Path) -> None:
    mapping = {"arrival_us": "ts", "input": "in", "output": "out"}
    found = imported(tmp_path, "ts,in,out\n0,1,1\n1500000,1,1\n", mapping=mapping)
    assert found.column("arrival_s") == [0.0, 1.5]


def test_columns_without_a_header_are_numbers(tmp_path: Path) -> None:
    mapping = {"arrival": "0", "input": "1", "output": "2"}
    found = imported(tmp_path, "0.5,10,1\n2.5,20,2\n", mapping=mapping)
    assert found.column("arrival_s") == [0.0, 2.0]
    assert found.column("input_tokens") == [10, 20]


def test_parquet_can_be_mapped(tmp_path: Path) -> None:
    table = pa.table(
        {
            "ts": pa.array([0, 1_500_000_000], pa.timestamp("ns", tz="UTC")),
            "in": [5, 6],
            "out": [1, None],
        }
    )
    pq.write_table(table, tmp_path / "0-log.parquet")
    content = (tmp_path / "0-log.parquet").read_bytes()
    found = imported(tmp_path, content, name="log.parquet", mapping=MAP)
    assert found.report.dropped == {"output is missing": 1}
    assert found.column("input_tokens") == [5]


def test_a_log_without_times_has_none(tmp_path: Path) -> None:
    found = imported(tmp_path, "in,out\n5,1\n6,1\n", mapping={"input": "in", "output": "out"})
    assert found.column("arrival_s") == [None, None]
    assert found.report.clock.instants is None


@pytest.mark.parametrize(
    ("word", "outcome"),
    [
        ("success", "ok"), ("200", "ok"), ("TRUE", "ok"), ("stop", "ok"), ("error", "failed"),
        ("500", "failed"), ("429", "rejected"), ("canceled", "cancelled"), ("timeout", "timed_out"),
        ("", "unknown"), ("peculiar", "unknown"),
    ],
)  # fmt: skip
def test_outcomes_are_words_or_statuses(tmp_path: Path, word: str, outcome: str) -> None:
    mapping = {"input": "in", "output": "out", "outcome": "how"}
    found = imported(tmp_path, f"in,out,how\n5,1,{word}\n", mapping=mapping)
    assert found.column("outcome") == [outcome]
    assert len(found.report.inferred) == (word == "peculiar")


def test_texts_are_counted_and_their_beginnings_made_blocks(tmp_path: Path) -> None:
    mapping = {"input_text": "q", "output_text": "a"}
    questions = ("x" * 200, "x" * 64 + "y" * 136, "z" * 200)
    found = imported(
        tmp_path,
        "".join(json.dumps({"q": each, "a": "four"}) + "\n" for each in questions),
        name="log.jsonl",
        mapping=mapping,
    )
    assert found.column("input_tokens") == [50, 50, 50]
    assert found.column("output_tokens") == [1, 1, 1]
    assert found.column("prefix_blocks") == [[0, 1, 2], [0, 3, 4], [5, 6, 7]]
    assert found.imported.stored is not None
    assert found.imported.stored.metadata.block_tokens == 16
    assert found.imported.stored.metadata.basis == {
        "input_tokens": "assumed",
        "output_tokens": "assumed",
    }


def test_a_mapping_is_read_with_commas_or_option_by_option() -> None:
    found = read_mapping(("arrival=ts,input=a", "output = b"))
    assert found == {"arrival": "ts", "input": "a", "output": "b"}


def test_mappings_of_another_form_are_refused() -> None:
    with pytest.raises(BadInput) as form:
        read_mapping(("arrival",))
    assert str(form.value) == (
        "--map has 'arrival' where FIELD=COLUMN should stand; write it as "
        "arrival=ts,input=prompt_tokens,output=completion_tokens."
    )
    with pytest.raises(BadInput) as twice:
        read_mapping(("arrival=a,arrival_ms=b",))
    assert str(twice.value) == "--map gives arrival_ms twice; one column fills a field."


def test_unknown_fields_and_columns_are_named_with_their_nearest(tmp_path: Path) -> None:
    with pytest.raises(UnknownName) as field:
        read_mapping(("inputs=a",))
    assert str(field.value).startswith(
        "Unknown field 'inputs' in --map; the nearest known ones are input, input_text"
    )
    table = "ts,prompt_tokens,out\n0,1,1\n"
    with pytest.raises(UnknownName) as column:
        imported(tmp_path, table, mapping={**MAP, "input": "prompt_token"})
    assert str(column.value) == (
        f"Unknown column 'prompt_token' in {tmp_path}/0-log.csv; the nearest known one is "
        "prompt_tokens. --map input= names it."
    )
    nested: dict[str, Any] = {"ts": 1, "usage": {"prompt_tokens": 1}, "out": 1}
    with pytest.raises(UnknownName, match=r"the nearest known one is usage\.prompt_tokens"):
        imported(
            tmp_path,
            json.dumps(nested),
            name="log.jsonl",
            mapping={**MAP, "input": "usage.prompt_token"},
        )


def test_a_pair_the_wrong_way_round_is_turned_in_the_message() -> None:
    with pytest.raises(UnknownName) as caught:
        read_mapping(("ts=arrival",))
    assert str(caught.value) == (
        "Unknown field 'ts' in --map; nothing known comes near it. Write FIELD=COLUMN: arrival=ts."
    )
