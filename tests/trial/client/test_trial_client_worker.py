"""A worker process from its job to its last row, whatever becomes of its parent."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from adversary import adversary
from stored_workloads import request, stored
from vramledger.record.requests import REQUESTS
from vramledger.record.segments import segments, whole_batches
from vramledger.trial.client.health import Health
from vramledger.trial.client.job import WorkerJob, places_of
from vramledger.trial.client.sketch import Sketch
from vramledger.trial.load.job import LoadJob, PromptSettings
from vramledger.trial.prompts.body import COMPLETIONS, BodyStyle
from vramledger.trial.prompts.lexicon import ids_lexicon
from vramledger.trial.wire.target import Target
from worker_process import await_until, worker

KEY = "sk-planted-0123456789"


def job_for(
    tmp_path: Path, url: str, act: str, count: int, gap_s: float = 0.02, closed: int | None = None
) -> WorkerJob:
    rows = [
        request(row, arrival_s=row * gap_s, input_tokens=5, output_tokens=2) for row in range(count)
    ]
    path = stored(tmp_path / "workload.parquet", rows)
    prompts = PromptSettings(BodyStyle(COMPLETIONS, "m"), ids_lexicon(), salt=7)
    load = LoadJob(str(path), prompts, closed=closed)
    target = Target(url, f"/v1/{act}", key_env="PLANTED_KEY")
    folder = tmp_path / "run"
    folder.mkdir(exist_ok=True)
    return WorkerJob(target, load.to_json(), str(folder), time.monotonic_ns(), closed=closed)


def test_a_worker_waits_for_the_start_sends_all_and_writes_all(tmp_path: Path) -> None:
    with adversary() as server:
        job = job_for(tmp_path, server.url(), "good", 20)
        with worker(job, PLANTED_KEY=KEY) as running:
            running.await_report("ready")
            assert not server.bodies
            start_ns = time.monotonic_ns() + 50_000_000
            running.say(f"start {start_ns}")
            last = running.await_report("ended")
            assert running.end() == 0
    assert last["how"] == "complete"
    assert last["sent"] == 20
    assert last["ended"] == {"ok": 20}
    assert Sketch.from_json(last["ttft_s"]).count == 20
    assert Health.from_json(last["health"]).most_sockets >= 1
    rows = running.rows()
    assert sorted(row["row"] for row in rows) == list(range(20))
    assert {head["authorization"] for head in server.heads} == {f"Bearer {KEY}"}
    first_s = (start_ns - job.zero_ns) / 1e9
    for row in rows:
        assert row["due_s"] == pytest.approx(first_s + row["row"] * 0.02, abs=1e-6)


@pytest.mark.parametrize("words", ["drain", "cancel"])
def test_a_worker_can_be_called_off_before_it_starts(tmp_path: Path, words: str) -> None:
    with (
        adversary() as server,
        worker(job_for(tmp_path, server.url(), "good", 20), PLANTED_KEY=KEY) as running,
    ):
        running.await_report("ready")
        running.say(words)
        last = running.await_report("ended")
        assert running.end() == 0
    assert (last["sent"], last["ended"]) == (0, {})
    assert not server.bodies


def test_two_workers_send_every_request_once(tmp_path: Path) -> None:
    with adversary() as server:
        whole = job_for(tmp_path, server.url(), "good", 15)
        numbers = []
        for part in range(2):
            job = replace(whole, part=part, parts=2, writer=f"worker-{part}", start_ns=0)
            with worker(job, PLANTED_KEY=KEY) as running:
                assert running.end() == 0
        numbers = [row["request_id"] for row in running.rows()]
    assert sorted(numbers) == list(range(15))


@pytest.mark.parametrize("how", ["cancel", "end of input", "SIGTERM"])
def test_a_worker_that_is_called_off_writes_what_it_knows(tmp_path: Path, how: str) -> None:
    with adversary() as server:
        job = job_for(tmp_path, server.url(), "stalled", 50, gap_s=1.0)
        with worker(job, PLANTED_KEY=KEY) as running:
            running.await_report("ready")
            running.say(f"start {time.monotonic_ns()}")
            await_until(lambda: bool(server.bodies))
            if how == "cancel":
                running.say("cancel")
            elif how == "SIGTERM":
                running.process.send_signal(signal.SIGTERM)
            else:
                assert running.process.stdin is not None
                running.process.stdin.close()
            last = running.await_report("ended")
            assert running.end() == 0
    assert last["how"] == "cancelled"
    rows = running.rows()
    assert rows
    assert {(row["outcome"], row["error_class"]) for row in rows} == {("incomplete", "run_ended")}


def test_a_worker_that_is_killed_leaves_what_was_under_way(tmp_path: Path) -> None:
    with adversary() as server:
        job = job_for(tmp_path, server.url(), "stalled", 3)
        with worker(job, PLANTED_KEY=KEY) as running:
            running.await_report("ready")
            running.say(f"start {time.monotonic_ns()}")
            await_until(lambda: begun_rows(tmp_path / "run") == [0, 1, 2])
            running.process.kill()
            running.end()
    assert begun_rows(tmp_path / "run") == [0, 1, 2]
    assert running.rows() == []


def begun_rows(folder: Path) -> list[int]:
    """Of which requests the folder knows that they were sent."""
    begun = whole_batches(REQUESTS, segments(folder, "begun"))
    return sorted(row for batch in begun for row in batch.column("row").to_pylist())


def test_a_closed_loop_ends_at_its_duration(tmp_path: Path) -> None:
    with adversary() as server:
        job = job_for(tmp_path, server.url(), "good", 5, closed=2)
        endless = LoadJob(**{**json.loads(job.load), "prompts": PromptSettings(BodyStyle(COMPLETIONS, "m"), ids_lexicon(), 7), "duration_s": 2.0, "period_s": 1.0})  # fmt: skip
        job = replace(job, load=endless.to_json(), duration_s=2.0)
        with worker(job, PLANTED_KEY=KEY) as running:
            running.await_report("ready")
            began = time.monotonic()
            running.say(f"start {time.monotonic_ns()}")
            last = running.await_report("ended")
            took = time.monotonic() - began
            assert running.end() == 0
    assert last["sent"] == len(running.rows()) > 5
    assert took >= 2.0


def test_the_key_stands_in_no_file_and_in_no_report(tmp_path: Path) -> None:
    with adversary() as server:
        job = job_for(tmp_path, server.url(), "http_401", 5)
        with worker(job, PLANTED_KEY=KEY) as running:
            running.say(f"start {time.monotonic_ns()}")
            last = running.await_report("ended")
            running.end()
    assert last["failures"] == {"http_401": 5}
    assert last["examples"]["http_401"] == '{"error":{"message":"no"}}'
    assert KEY not in json.dumps(job.to_json()) + json.dumps(running.reports)
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes()


@pytest.mark.parametrize(
    ("break_it", "says"),
    [
        (lambda _job: {}, "The worker's standard input begins with no job (KeyError); start it through `vram trial`."),
        (lambda job: job | {"target": job["target"] | {"url": "gopher://h"}}, "'gopher://h' is no address of a server; write it as http://HOST:PORT or https://HOST."),
    ],
)  # fmt: skip
def test_a_worker_that_cannot_work_says_why(tmp_path: Path, break_it: object, says: str) -> None:
    with adversary() as server:
        job = break_it(job_for(tmp_path, server.url(), "good", 2).to_json())  # type: ignore[operator]
        if job:
            job["start_ns"] = 0
        found = subprocess.run(
            [sys.executable, "-m", "vramledger.trial.client.worker"],
            input=json.dumps(job).encode() + b"\n",
            capture_output=True,
            env={"PLANTED_KEY": KEY, "PATH": ""},
            check=False,
        )
    reports = [json.loads(line) for line in found.stdout.splitlines()]
    assert found.returncode == 2
    assert reports[-1] == {"event": "error", "message": says, "exit_code": 2}
    assert found.stderr == b""


def test_a_folder_that_cannot_be_written_ends_the_worker(tmp_path: Path) -> None:
    with adversary() as server:
        job = job_for(tmp_path, server.url(), "good", 500)
        (tmp_path / "run" / "segments").write_text("in the way")
        with worker(job, PLANTED_KEY=KEY) as running:
            running.say(f"start {time.monotonic_ns()}")
            error = running.await_report("error")
            assert running.end() == 2
    assert error["message"] == (
        f"{tmp_path / 'run'} cannot be written: File exists; what was recorded so far stays, so make room and "
        "resume it."
    )


def test_a_job_survives_its_way_through_json(tmp_path: Path) -> None:
    job = job_for(tmp_path, "http://h:1", "good", 1)
    assert WorkerJob.from_json(json.loads(json.dumps(job.to_json()))) == job


def test_places_of_a_closed_loop_are_shared_out_whole() -> None:
    assert [places_of(10, part, 4) for part in range(4)] == [3, 3, 2, 2]
    assert places_of(None, 0, 4) is None
