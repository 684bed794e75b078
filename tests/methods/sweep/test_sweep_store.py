"""Results in one file: taken again, refused for another base, the same bytes whoever simulated."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swept import LAUNCH, Inventing, base, quiet
from vramledger.errors import BadInput
from vramledger.methods.sweep.base import digest, identity
from vramledger.methods.sweep.columns import RESULTS
from vramledger.methods.sweep.grid import axes_of, grid
from vramledger.methods.sweep.local import LocalWorkers
from vramledger.methods.sweep.point import Point, point_of
from vramledger.methods.sweep.row import Row
from vramledger.methods.sweep.run import Results, Sweep
from vramledger.methods.sweep.store import Store

POINTS = tuple(point_of({"max-num-seqs": str(n)}) for n in range(1, 40))
IDENTITY = {"workload": "w", "seed": "0"}


def row(point: Point, **figures: Any) -> Row:
    named = {"point": point.hash("d"), "changes": point.text, "status": "simulated"}
    return Row(point, {**named, **figures})


def invented(point: Point) -> dict[str, Any]:
    return {"no_hits_ok": len(point.text), "no_hits_ttft_p95_s": float("inf")}


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    store = Store(path, IDENTITY)
    for point in POINTS:
        store.add(row(point, no_hits_ok=7, no_hits_e2e_p95_s=float("inf"), own_ok=None))
    store.close()
    again = Store(path, IDENTITY)
    assert set(again.rows) == {point.hash("d") for point in POINTS}
    found = again.rows[POINTS[3].hash("d")]
    assert found.point == POINTS[3]
    assert found.figure("ok") == 7
    assert found.figure("e2e_p95_s") == float("inf")
    assert not found.has_own


@settings(max_examples=15, deadline=None)
@given(order=st.permutations(POINTS[:12]), stop=st.integers(0, 12))
def test_the_order_and_the_number_of_goes_leave_no_trace(
    tmp_path_factory: pytest.TempPathFactory, order: list[Point], stop: int
) -> None:
    folder = tmp_path_factory.mktemp("goes")
    for name, goes in (("a", [list(POINTS[:12])]), ("b", [order[:stop], order[stop:]])):
        for points in goes:
            store = Store(folder / name, IDENTITY)
            for point in points:
                store.add(row(point, no_hits_ok=len(point.text)))
            store.close()
    assert (folder / "a").read_bytes() == (folder / "b").read_bytes()
    assert sorted(path.name for path in folder.iterdir()) == ["a", "b"]


def test_segments_that_a_kill_left_are_taken_up(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    killed = Store(path, IDENTITY)
    for point in POINTS[:5]:
        killed.add(row(point))
    killed.flush()
    assert not path.exists()
    again = Store(path, IDENTITY)
    assert len(again.rows) == 5
    again.close()
    assert pq.read_metadata(path).num_rows == 5
    assert [entry.name for entry in tmp_path.iterdir()] == ["s.parquet"]


def test_results_of_another_base_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    store = Store(path, IDENTITY)
    store.add(row(POINTS[0]))
    store.close()
    with pytest.raises(BadInput) as refused:
        Store(path, {"workload": "v", "seed": "0"})
    assert str(refused.value) == (
        f"{path} holds results of another workload (w, now v); choose another -o."
    )


@pytest.mark.parametrize("content", [b"", b"not a table", b"PAR1PAR1", bytes(100)])
def test_a_file_that_is_no_table_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    path.write_bytes(content)
    with pytest.raises(BadInput) as refused:
        Store(path, IDENTITY)
    assert str(refused.value) == (
        f"{path} is no Parquet file that can be read; name the results of a sweep, or a new file."
    )
    assert path.read_bytes() == content


def test_another_table_is_refused_and_left_alone(tmp_path: Path) -> None:
    workload = base(tmp_path).question.part.workload
    before = workload.read_bytes()
    with pytest.raises(BadInput) as refused:
        Store(workload, IDENTITY)
    assert str(refused.value) == (
        f"{workload} does not hold results of a sweep as this version writes them; choose another -o."
    )
    assert workload.read_bytes() == before


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is a directory, a pipe or a device"):
        Store(tmp_path, IDENTITY)
    (tmp_path / "file").touch()
    store = Store(tmp_path / "file" / "s.parquet", IDENTITY)
    store.add(row(POINTS[0]))
    with pytest.raises(BadInput, match=r"s\.parquet cannot be written: Not a directory; choose"):
        store.close()


def play(folder: Path, points: tuple[Point, ...], workers: Any) -> Results:
    with Sweep(base(folder), workers, folder / "s.parquet") as sweep:
        return sweep.play(points, quiet)


def test_a_second_run_simulates_only_what_is_new(tmp_path: Path) -> None:
    first, second = Inventing(invented), Inventing(invented)
    assert play(tmp_path, POINTS[:5], first).reused == 0
    found = play(tmp_path, POINTS[2:8], second)
    assert (found.asked, found.reused) == (6, 3)
    assert [one.point for one in found.rows] == list(POINTS[2:8])
    assert second.asked == list(POINTS[5:8])
    assert pq.read_metadata(tmp_path / "s.parquet").num_rows == 8


def test_points_already_played_in_a_sweep_are_not_played_again(tmp_path: Path) -> None:
    workers = Inventing(invented)
    with Sweep(base(tmp_path), workers) as sweep:
        sweep.play(POINTS[:3], quiet)
        again = sweep.play(POINTS[:5], quiet)
    assert workers.asked == list(POINTS[:5])
    assert again.reused == 0


def test_an_interruption_keeps_what_was_done(tmp_path: Path) -> None:
    def tired(point: Point) -> dict[str, Any]:
        if point == POINTS[3]:
            raise KeyboardInterrupt
        return invented(point)

    found = play(tmp_path, POINTS[:6], Inventing(tired))
    assert found.interrupted
    assert [one.point for one in found.rows] == list(POINTS[:3])
    assert play(tmp_path, POINTS[:6], Inventing(invented)).reused == 3


def test_an_error_of_ours_keeps_what_was_done(tmp_path: Path) -> None:
    def broken(point: Point) -> dict[str, Any]:
        return invented(point) if point != POINTS[3] else {"no_hits_ok": 1 / 0}

    with pytest.raises(ZeroDivisionError):
        play(tmp_path, POINTS[:6], Inventing(broken))
    assert pq.read_metadata(tmp_path / "s.parquet").num_rows == 3


def test_the_same_bytes_with_one_process_and_with_several(tmp_path: Path) -> None:
    one = base(tmp_path, LAUNCH, "ttft p95 <= 2")
    points = grid(axes_of(("max-num-seqs=2..16", "rate-scale=1,5"), one))
    written = []
    for name, jobs in (("alone", 1), ("together", 3)):
        with Sweep(one, LocalWorkers(jobs), tmp_path / name) as sweep:
            assert len(sweep.play(points, quiet).rows) == 9
        written.append((tmp_path / name).read_bytes())
    assert written[0] == written[1]


def test_the_file_has_the_documented_columns_and_says_what_it_holds(tmp_path: Path) -> None:
    play(tmp_path, POINTS[:1], Inventing(invented))
    schema = pq.read_schema(tmp_path / "s.parquet")
    assert schema.names == list(RESULTS.columns)
    said = json.loads(schema.metadata[b"vramledger"])
    assert said == {"schema": "vramledger.sweep-results/1", "base": identity(base(tmp_path))}
    rows = pq.read_table(tmp_path / "s.parquet").to_pylist()
    assert rows[0]["point"] == POINTS[0].hash(digest(identity(base(tmp_path))))


def test_a_killed_sweep_leaves_what_it_had_and_no_process(tmp_path: Path) -> None:
    workload = base(tmp_path).question.part.workload
    values = ",".join(str(number) for number in range(1, 3001))
    command = (
        sys.executable, "-m", "vramledger", "sweep", LAUNCH, "--gpu", "H100-80GB-SXM", "--workload",
        str(workload), "--set", f"max-num-seqs={values}", "-o", str(tmp_path / "s.parquet"), "--jobs", "2",
    )  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True) as process:
        segments = tmp_path / ".s.parquet.segments"
        waited(lambda: segments.is_dir() and any(segments.glob("[!.]*.parquet")))
        os.kill(process.pid, signal.SIGKILL)
    waited(lambda: not alive(process.pid))
    stated = identity(base(tmp_path)) | {"engine version": "not stated"}
    kept = Store(tmp_path / "s.parquet", stated).rows.values()
    assert 0 < len(kept) < 3000
    assert {row.columns["status"] for row in kept} == {"simulated"}


def waited(done: Any) -> None:
    for _ in range(1200):
        if done():
            return
        time.sleep(0.1)
    pytest.fail("it did not happen within two minutes")


def alive(group: int) -> bool:
    """Whether a process of the group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
