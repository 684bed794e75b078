"""Stored workloads as tables of an engine."""

import tempfile
from pathlib import Path

import pytest

from invented_workload import rows_of, stored
from vramledger import database
from vramledger.workload.tables import opened


def test_what_does_not_fit_the_memory_is_spilled_to_a_folder_of_its_own_that_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, scratch = tmp_path / "here", tmp_path / "scratch"
    here.mkdir()
    scratch.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.setattr(database, "MEMORY", "100MB")
    stored(rows_of([(1, 1)] * 3000), tmp_path / "w.parquet")
    with opened(tmp_path / "w.parquet") as requests:
        one, other = requests.table.select("row"), requests.table.select(other="row")
        pairs = one.cross_join(other)
        each = pairs.group_by(pair=pairs.row * 3000 + pairs.other).agg(many=pairs.count())
        found = requests.fetch(each.aggregate(pairs=each.count())).to_pylist()
        spilled = list(scratch.glob("vram-*/*"))
    assert found == [{"pairs": 9_000_000}]
    assert not list(here.iterdir())
    assert not list(scratch.iterdir())
    assert spilled
