"""Folders of runs sort by time and have names that any file system takes."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from vramledger.record.naming import folder_name

BEGAN = datetime(2026, 12, 1, 10, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "words"),
    [("contract-qa", "contract-qa"), ("Contract QA (2)/x", "contract-qa-2-x"), ("合同", "run")],
)
def test_a_folder_is_named_for_its_beginning_and_its_run(name: str, words: str) -> None:
    assert folder_name(BEGAN, name) == f"2026-12-01T10-00-00Z-{words}"


def test_the_time_is_that_of_utc() -> None:
    began = BEGAN.astimezone(timezone(timedelta(hours=8)))
    assert folder_name(began, "x") == "2026-12-01T10-00-00Z-x"
