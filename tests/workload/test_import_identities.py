"""Identities become numbers; what is kept on demand is said; bytes depend on nobody."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from imported_logs import imported
from vramledger.errors import BadInput, UnknownName
from vramledger.workload.deidentify import KEEPS, Identities, checked_keeps, model_map

MAP = {
    "arrival": "t", "input": "i", "output": "o", "session": "s", "tenant": "u", "model": "m",
    "prefix": "p", "request_id": "id", "duration": "d",
}  # fmt: skip
ROWS = (
    ("2024-05-10T10:00:00Z", "alpha", "ann", "gpt-x", ["p1", "p2"]),
    ("2024-05-10T10:00:05Z", "beta", "bob", "gpt-y", ["p1", "p3"]),
    ("2024-05-10T10:00:09Z", "alpha", "ann", "gpt-x", ["p1", "p2"]),
    ("2024-05-10T10:00:20Z", "beta", "bob", "gpt-x", None),
)


def log(rename: Any = str, rows: Any = ROWS) -> str:
    """A log in which every identity is renamed."""
    lines = [
        {"t": t, "i": 40, "o": 2, "s": rename(s), "u": rename(u), "m": rename(m), "d": 2,
         "p": None if p is None else [rename(each) for each in p], "id": rename(f"{t}{s}")}
        for t, s, u, m, p in rows
    ]  # fmt: skip
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_identities_are_numbered_by_first_appearance(tmp_path: Path) -> None:
    found = imported(tmp_path, log(), name="log.jsonl", mapping=MAP)
    assert found.column("session") == [0, 1, 0, 1]
    assert found.column("tenant") == [0, 1, 0, 1]
    assert found.column("model") == ["model-0", "model-1", "model-0", "model-0"]
    assert found.column("prefix_blocks") == [[0, 1], [0, 2], [0, 1], None]
    assert found.column("turn") == [0, 0, 1, 1]
    assert found.column("think_s") == [None, None, 7.0, 13.0]
    assert found.imported.warnings == ()


def test_bytes_do_not_depend_on_who_it_was_nor_on_the_key_nor_on_the_order_of_reading(
    tmp_path: Path,
) -> None:
    first = imported(tmp_path, log(), name="log.jsonl", mapping=MAP).path.read_bytes()
    assert imported(tmp_path, log(), name="log.jsonl", mapping=MAP).path.read_bytes() == first
    renamed = log(lambda name: f"someone else {name[::-1]}")
    assert imported(tmp_path, renamed, name="log.jsonl", mapping=MAP).path.read_bytes() == first
    other_day = log().replace("2024-05-10", "2024-05-17")  # the same day of the week
    assert imported(tmp_path, other_day, name="log.jsonl", mapping=MAP).path.read_bytes() == first


def test_the_order_of_rows_in_the_log_changes_the_report_alone(tmp_path: Path) -> None:
    shuffled = list(ROWS)
    random.Random(3).shuffle(shuffled)
    first = imported(tmp_path, log(), name="log.jsonl", mapping=MAP).rows
    assert imported(tmp_path, log(rows=shuffled), name="log.jsonl", mapping=MAP).rows == first


def test_kept_identities_are_stored_and_warned_of(tmp_path: Path) -> None:
    keep = frozenset({"session", "tenant", "model", "dates"})
    found = imported(tmp_path, log(), name="log.jsonl", mapping=MAP, keep=keep)
    assert found.column("model") == ["gpt-x", "gpt-y", "gpt-x", "gpt-x"]
    assert found.imported.stored is not None
    assert found.imported.stored.metadata.kept == {
        "session": ["alpha", "beta"],
        "tenant": ["ann", "bob"],
        "dates": "2024-05-10T10:00:00.000000000Z",
    }
    assert found.imported.warnings == (
        "The workload names your models (--keep model).",
        KEEPS["session"],
        KEEPS["tenant"],
        "The workload holds the date and time of the first request (--keep dates).",
    )


def test_models_get_the_labels_they_are_mapped_to(tmp_path: Path) -> None:
    found = imported(
        tmp_path, log(), name="log.jsonl", mapping=MAP, models=model_map(("gpt-x=large",))
    )
    assert found.column("model") == ["large", "model-0", "large", "large"]


def test_an_identity_means_something_within_its_format_or_its_file() -> None:
    identities = Identities()
    first, other = identities.scope("litellm", None), identities.scope("langfuse", None)
    assert [first.session.of("x"), first.session.of("y"), other.session.of("x")] == [0, 1, 2]
    assert identities.scope("litellm", None).session.of("x") == 0
    assert [identities.scope("mooncake", file).prefix.of(5) for file in (1, 2, 1)] == [0, 1, 0]
    assert first.model.of("gpt-x") == other.model.of("gpt-x")


def test_prefix_blocks_of_one_workload_have_one_size(tmp_path: Path) -> None:
    mooncake = '{"timestamp": 0, "input_length": 7, "output_length": 1, "hash_ids": [5]}\n'
    bailian = (
        '{"chat_id": 1, "parent_chat_id": -1, "timestamp": 1.0, "input_length": 16, "type": "text",'
        ' "turn": 1, "output_length": 1, "hash_ids": [5]}\n'
    )
    found = imported(tmp_path, mooncake, bailian, mooncake, name="log.jsonl")
    assert found.column("prefix_blocks") == [[0], [1], None]
    assert found.imported.stored is not None
    assert found.imported.stored.metadata.block_tokens == 512
    assert (
        "Prefix ids of bailian stand for another number of tokens than 512, which the first log has, and "
        "were left out; import it by itself."
    ) in found.report.lacks


def test_options_that_name_identities_are_checked() -> None:
    with pytest.raises(UnknownName) as refusal:
        checked_keeps(("models",))
    assert str(refusal.value) == (
        "Unknown identity 'models' in --keep; the nearest known one is model. It takes model, session, "
        "tenant, dates."
    )
    with pytest.raises(BadInput) as form:
        model_map(("gpt",))
    assert str(form.value) == (
        "--model-map takes NAME=LABEL, the model's name in the log and the label to store."
    )


def test_a_kept_name_holds_no_control_characters(tmp_path: Path) -> None:
    hostile = log(lambda name: f"{name}\x1b[31m\u202e" if name.startswith("gpt") else name)
    found = imported(tmp_path, hostile, name="log.jsonl", mapping=MAP, keep=frozenset({"model"}))
    assert found.column("model")[0] == "gpt-x\\x1b[31m\\u202e"
