"""Many runs are one database."""

import shutil
from pathlib import Path

from recorded_runs import measured_run, simulated_run, steps_of
from vramledger.record.query import connect
from vramledger.record.run import read_run

RUNS = 1_000


def test_a_thousand_runs_answer_one_query(tmp_path: Path) -> None:
    folder = measured_run(tmp_path / "run-0").path
    copies = [shutil.copytree(folder, tmp_path / f"run-{number}") for number in range(1, RUNS)]
    runs = [read_run(Path(path)) for path in (folder, *copies)]
    with connect(runs) as connection:
        rows = connection.view("latencies").aggregate("run, count(*), max(ttft_s)").fetchall()
    assert {run for run, _, _ in rows} == {f"run-{number}" for number in range(RUNS)}
    assert {(count, round(ttft, 6)) for _, count, ttft in rows} == {(20, 0.501)}


def test_runs_with_different_tables_are_asked_together(tmp_path: Path) -> None:
    measured = measured_run(tmp_path / "measured")
    simulated = simulated_run(tmp_path / "simulated", [], steps_of([1.0, 2.0]))
    with connect([measured, simulated]) as connection:
        tables = {
            name
            for (name,) in connection.sql(
                "SELECT view_name FROM duckdb_views() WHERE NOT internal"
            ).fetchall()
        }
        assert tables == {"requests", "server", "gpu", "steps", "latencies"}
        assert connection.sql("SELECT run, count(*) FROM steps GROUP BY run").fetchall() == [
            ("simulated", 2)
        ]


def test_no_runs_have_no_tables() -> None:
    with connect([]) as connection:
        assert (
            connection.sql("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
            == []
        )
