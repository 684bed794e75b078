"""Operators work batch by batch; where batches are cut must not be seen in what they write."""

from collections.abc import Callable
from pathlib import Path

import pytest

from stored_workloads import Row, chats, rows, stored
from vramledger.workload import store
from vramledger.workload.operators.head import head
from vramledger.workload.operators.merge import merge
from vramledger.workload.operators.mix import Mix, mix
from vramledger.workload.operators.scale import Scale, scale
from vramledger.workload.operators.slice_ import Selection, slice_workload

OPERATORS: dict[str, Callable[[Path, Path], object]] = {
    "head": lambda path, out: head(path, 33, out),
    "daily": lambda path, out: slice_workload(path, Selection(scenario="daily"), out),
    "long-burst": lambda path, out: slice_workload(path, Selection(scenario="long-burst"), out),
    "tail": lambda path, out: slice_workload(path, Selection(scenario="tail"), out),
    "model": lambda path, out: slice_workload(path, Selection(model="model-1"), out),
    "thinned": lambda path, out: scale(path, Scale(rate=0.5), out),
    "superposed": lambda path, out: scale(path, Scale(rate=2.5), out),
    "stretched": lambda path, out: scale(path, Scale(input=1.5, output=2, time=0.5), out),
    "mix": lambda path, out: mix(path, path, Mix(0.4), out),
    "merge": lambda path, out: merge([path, path], out),
}


def made(folder: Path, name: str, given: list[Row]) -> list[Row]:
    path = stored(folder / "w.parquet", given, week_offset_s=32_400)
    OPERATORS[name](path, folder / "out.parquet")
    return rows(folder / "out.parquet")


@pytest.mark.parametrize("sessions", [True, False])
@pytest.mark.parametrize("name", OPERATORS)
def test_small_batches_give_the_same_rows(
    name: str,
    sessions: bool,  # noqa: FBT001 - a parameter
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = chats(40, span_s=7200)
    for row in given:
        if row["turn"] == 2:
            row["retry_of"] = row["row"] - 1
        if not sessions:
            row |= {"session": None, "turn": None, "tenant": None}
    expected = made(tmp_path, name, given)
    monkeypatch.setattr(store, "ROW_GROUP", 7)
    assert made(tmp_path, name, given) == expected


def test_progress_counts_up_to_what_is_written(tmp_path: Path) -> None:
    path = stored(tmp_path / "w.parquet", chats(10))
    seen: list[tuple[int, int]] = []
    scale(path, Scale(rate=3), tmp_path / "out.parquet", lambda *counts: seen.append(counts))
    assert seen == [(120, 120)]
