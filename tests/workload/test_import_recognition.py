"""Which format a log has, and what is said where none knows it."""

import gzip
import json
from pathlib import Path

import pytest

from imported_logs import AZURE, azure, imported, second
from vramledger.errors import BadInput, UnknownName
from vramledger.workload.formats.format import Framing
from vramledger.workload.formats.registry import formats
from vramledger.workload.opener import expanded
from vramledger.workload.recognise import recognise

REMEDY = (
    "; name one with --format (vram workload import --help lists them), or say what its fields mean "
    "with --map arrival=COLUMN,input=COLUMN,output=COLUMN."
)


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        ("secret,words\n1,2\n", "it looks like csv with 2 columns"),
        ("some secret words\n", "it is text"),
        ('{"secret": 1}\n{"secret": 2}\n', "it looks like jsonl with 1 column"),
        ('[{"secret": 1, "words": 2}]', "it looks like json with 2 columns"),
        ("{ no json", "it is text"),
    ],
)
def test_a_log_that_no_format_knows_is_described_without_a_word_of_it(
    tmp_path: Path, content: str, seen: str
) -> None:
    path = tmp_path / "log"
    path.write_text(content)
    with pytest.raises(BadInput) as refusal:
        recognise(path)
    assert (
        str(refusal.value)
        == f"{path} has none of the {len(formats())} formats known ({seen}){REMEDY}"
    )
    assert "secret" not in str(refusal.value)


def test_packing_is_known_by_the_content_and_not_by_the_name(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_bytes(gzip.compress(azure(second(0)).encode()))
    (tmp_path / "log.gz").write_text(azure(second(0)))
    for name in ("log.csv", "log.gz"):
        found = recognise(tmp_path / name)
        assert (found.format.name, found.head.framing) == ("azure-llm", Framing.CSV)


def test_the_beginning_of_a_log_may_be_damaged(tmp_path: Path) -> None:
    path = tmp_path / "log"
    sound = '{"timestamp": 0, "input_length": 7, "output_length": 1, "hash_ids": [5]}'
    path.write_text(f"{{broken\nnot json\n{sound}\n")
    assert recognise(path).head.records == (json.loads(sound),)


def test_a_stated_format_must_fit_the_file(tmp_path: Path) -> None:
    found = imported(tmp_path, azure(second(0)), format="azure-llm")
    assert found.report.formats == {"azure-llm": 1}
    with pytest.raises(BadInput) as refusal:
        imported(tmp_path, json.dumps({"a": 1}), format="azure-llm")
    assert str(refusal.value) == (
        f"{tmp_path}/0-log.csv cannot be Azure LLM inference trace (2023, 2024, 2025), which comes as csv "
        "(it looks like jsonl with 1 column); leave --format out, or name another."
    )
    with pytest.raises(UnknownName, match="Unknown log format 'azure' in --format"):
        imported(tmp_path, azure(second(0)), format="azure")


def test_rows_of_a_stated_format_that_do_not_fit_are_counted(tmp_path: Path) -> None:
    found = imported(tmp_path, "a,b\n1,2\n3,4\n", format="azure-llm")
    assert found.imported.stored is None
    assert found.report.dropped == {"TIMESTAMP is missing": 2}


def test_patterns_are_expanded_in_order_and_files_come_once(tmp_path: Path) -> None:
    for name in ("b.csv", "a.csv", "c.txt", "[x].csv"):
        (tmp_path / name).write_text(AZURE)
    found = expanded([str(tmp_path / "*.csv"), str(tmp_path / "a.csv"), str(tmp_path / "[x].csv")])
    assert [each.name for each in found] == ["[x].csv", "a.csv", "b.csv"]
    with pytest.raises(BadInput) as refusal:
        expanded([str(tmp_path / "*.log")])
    assert str(refusal.value) == (
        f"No file matches {tmp_path}/*.log; check the pattern and the folder."
    )
