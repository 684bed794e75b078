"""A ramp of a rehearsal server: the pool's arithmetic, faults, an interrupt and what is resumed."""

import json
import signal
import subprocess
from math import ceil
from pathlib import Path
from typing import Any

import pytest

from commands import VRAM, vram_here
from rehearse_server import MODEL, Rehearsed, rehearsal
from stored_workloads import request, stored
from trial_command import await_event
from vramledger.record.run import read_run
from vramledger.record.soundness import check_sound

BLOCKS, BLOCK = 80, 16  # one of them is no request's
INPUT, OUTPUT = 60, 100
LAUNCH = (
    f"vllm serve {MODEL} --max-model-len 512 --kv-cache-memory-bytes {BLOCKS * BLOCK * 131_072}"
)
FITS = (BLOCKS - 1) // ceil((INPUT + OUTPUT) / BLOCK)
SPEED = ("--speed", "4")


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    rows = (
        request(row, arrival_s=row * 0.05, input_tokens=INPUT, output_tokens=OUTPUT)
        for row in range(200)
    )
    return stored(tmp_path / "w.parquet", rows)


def command(server: Rehearsed, workload: Path, *options: str) -> list[str]:
    asked = ["--url", server.address, "--workload", str(workload), "-o", "r", "--step-for", "2s"]
    return ["trial", "ramp", *asked, "--closed", "--cold", "--json", *options]


def test_preemption_starts_where_the_pool_says(tmp_path: Path, workload: Path) -> None:
    with rehearsal(*SPEED, launch=LAUNCH) as server:
        done = vram_here(command(server, workload, "--start", "4", "--at-least", "4"), tmp_path)
    found = json.loads(done.stdout)
    assert found["schema"] == "vramledger.ramp/1"
    assert found["stopped_by"] == "preemption"
    assert abs(found["last_safe"]["concurrency"] - FITS) <= 1
    assert abs(found["contract_limit"]["failed"]["concurrency"] - (FITS + 1)) <= 1
    safe = found["safe_load"]["held"]["concurrency"]
    assert 4 <= safe <= 0.75 * (FITS + 1)
    assert (done.returncode, found["verdict"]) == (0, "HOLDS")
    assert found["origin"] == "rehearsed"
    _records_are_sound(tmp_path / "r", found)


def _records_are_sound(folder: Path, found: dict[str, Any]) -> None:
    kept = json.loads((folder / "ramp.json").read_text())
    assert kept["result"] == found
    assert [step["folder"] for step in kept["steps"]] == [step["run"] for step in found["steps"]]
    for step in kept["steps"]:
        check_sound(read_run(folder / step["folder"]))


def test_errors_of_the_server_are_told_and_no_load_is_safe(tmp_path: Path, workload: Path) -> None:
    with rehearsal(*SPEED, "--fault", "error:0.3", launch=LAUNCH) as server:
        done = vram_here(command(server, workload, "--most", "2"), tmp_path)
    found = json.loads(done.stdout)
    assert (done.returncode, found["stopped_by"]) == (1, "failures")
    assert found["safe_load"]["held"] is None
    assert any(
        note.endswith("(http_500)") or "http_500" in note for note in found["steps"][0]["notes"]
    )


def test_the_most_that_is_tried_leaves_a_larger_need_open(tmp_path: Path, workload: Path) -> None:
    with rehearsal(*SPEED, launch=LAUNCH) as server:
        done = vram_here(command(server, workload, "--most", "2", "--at-least", "40"), tmp_path)
    found = json.loads(done.stdout)
    assert (done.returncode, found["verdict"], found["stopped_by"]) == (3, "INCONCLUSIVE", "most")
    assert found["says"] == (
        "The safe load is 2 in flight. It was not stopped: the highest load that was to be tried was reached. Whether the "
        "load that was asked for, 40 in flight, is safe is not known."
    )


def test_a_ramp_that_was_interrupted_goes_on_with_its_steps(tmp_path: Path, workload: Path) -> None:
    with rehearsal(*SPEED, launch=LAUNCH) as server:
        asked = command(server, workload, "--start", "2", "--most", "4")
        with subprocess.Popen(
            [*VRAM, *asked], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            await_event(tmp_path / "r" / "step-c4", "worker_started", process)
            process.send_signal(signal.SIGTERM)
            told, _ = process.communicate(timeout=120)
        assert process.returncode == 130
        stopped = json.loads(told)
        assert (stopped["verdict"], stopped["stopped_by"]) == ("STOPPED", "interrupt")
        first = (tmp_path / "r" / "step-c2" / "run.json").read_bytes()
        done = vram_here(["trial", "resume", "r", "--json"], tmp_path)
    found = json.loads(done.stdout)
    assert (done.returncode, found["verdict"]) == (0, "HOLDS")
    assert [step["concurrency"] for step in found["steps"]] == [2, 4]
    assert found["steps"][0]["idle_wait_s"] is None  # it was read and not sent again
    assert (tmp_path / "r" / "step-c2" / "run.json").read_bytes() == first


def test_a_workload_that_was_changed_is_not_gone_on_with(tmp_path: Path, workload: Path) -> None:
    with rehearsal(*SPEED, launch=LAUNCH) as server:
        vram_here(command(server, workload, "--most", "1"), tmp_path)
        stored(workload, (request(0, input_tokens=5, output_tokens=5),))
        done = vram_here(["trial", "resume", "r"], tmp_path)
    assert done.returncode == 2
    assert done.stderr.strip().endswith(f"{workload}, which r sends, was changed since; start another ramp.")  # fmt: skip
