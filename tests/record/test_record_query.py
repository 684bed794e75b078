"""Many runs are one database."""

import os
import shutil
from pathlib import Path

import duckdb
import pytest

from recorded_runs import described, measured_run, simulated_run, steps_of
from vramledger.record.computed_run import ComputedRun
from vramledger.record.document import Deployment
from vramledger.record.query import connect
from vramledger.record.run import read_run

RUNS = 1_000


def views(connection: duckdb.DuckDBPyConnection) -> set[str]:
    found = connection.sql("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
    return {name for (name,) in found}


def test_a_thousand_runs_answer_one_query(tmp_path: Path) -> None:
    folder = measured_run(tmp_path / "run-0").path
    copies = [
        shutil.copytree(folder, tmp_path / f"run-{number}", copy_function=os.link)
        for number in range(1, RUNS)
    ]
    runs = [read_run(Path(path)) for path in (folder, *copies)]
    with connect(runs) as connection:
        rows = connection.view("latencies").aggregate("run, count(*), max(ttft_s)").fetchall()
    assert {run for run, _, _ in rows} == {
        str(tmp_path / f"run-{number}") for number in range(RUNS)
    }
    assert {(count, round(ttft, 6)) for _, count, ttft in rows} == {(20, 0.501)}


def test_runs_with_different_tables_are_asked_together(tmp_path: Path) -> None:
    measured = measured_run(tmp_path / "measured")
    simulated = simulated_run(tmp_path / "simulated", [], steps_of([1.0, 2.0]))
    with connect([measured, simulated]) as connection:
        assert views(connection) == {"requests", "server", "gpu", "steps", "latencies", "runs"}
        assert connection.sql("SELECT run, count(*) FROM steps GROUP BY run").fetchall() == [
            (str(simulated.path), 2)
        ]
        assert connection.sql(
            "SELECT origin, count(*) FROM requests JOIN runs USING (run) GROUP BY origin"
        ).fetchall() == [("measured", 20)]


def test_a_run_says_what_served_it(tmp_path: Path) -> None:
    about = described(
        asked=Deployment(engine="vllm", model="tiny"),
        in_effect=Deployment(engine="vllm", engine_version="0.32.0"),
    )
    with ComputedRun(tmp_path / "run", about):
        pass
    with connect([read_run(tmp_path / "run")]) as connection:
        assert connection.sql("SELECT * FROM runs").fetchall() == [
            (
                str(tmp_path / "run"),
                "simulated",
                "a run",
                None,
                7,
                "complete",
                "vllm",
                "0.32.0",
                "tiny",
            )
        ]


@pytest.mark.parametrize("name", ["a=1", "[ab]", "every*", "what?", "with ' quote"])
def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    run = measured_run(tmp_path / name)
    assert run.requests.read().column_names == list(run.requests.names)
    with connect([run]) as connection:
        found = connection.view("requests")
        assert found.columns == [*run.requests.names, "run"]
        assert found.aggregate("run, count(*)").fetchall() == [(str(run.path), 20)]


def test_no_runs_have_no_tables() -> None:
    with connect([]) as connection:
        assert views(connection) == {"runs"}
        assert connection.view("runs").fetchall() == []
