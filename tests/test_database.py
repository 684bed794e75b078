"""DuckDB in bounded memory, and silent."""

from pathlib import Path

import pytest

from vramledger.database import connected


def test_nothing_is_printed_however_long_a_query_takes(capfd: pytest.CaptureFixture[str]) -> None:
    with connected() as connection:
        connection.execute("SET progress_bar_time=0")  # what takes long by default, at once
        connection.execute("SELECT count(DISTINCT hash(range)) FROM range(3_000_000)").fetchall()
    assert capfd.readouterr().out == ""


def test_memory_is_bounded_and_spills_where_told(tmp_path: Path) -> None:
    with connected(tmp_path / "spill") as connection:
        asked = "SELECT current_setting('memory_limit'), current_setting('temp_directory')"
        memory, folder = connection.execute(asked).fetchall()[0]
    assert (memory, folder) == ("953.6 MiB", str(tmp_path / "spill"))
