"""A trial whose workers are on a Ray cluster: one workload, one clock, and what is left when something goes."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from commands import VRAM, vram_here
from ray_cluster import Cluster
from rehearse_server import rehearsal
from trial_command import (
    SECONDS,
    _heed_interrupts,
    await_phase,
    entries,
    interrupt,
    steady_workload,
)
from vramledger.record.run import read_run

pytestmark = pytest.mark.scale
COUNT = 60
KEY = "sk-planted-Vq81xxz77"


@contextmanager
def started(
    folder: Path, url: str, place: str, *options: str, **env: str
) -> Iterator[subprocess.Popen[str]]:
    command = [*VRAM, "trial", "run", "--url", url, "--workload", "w.parquet", "--cold"]
    with subprocess.Popen(
        [*command, "--workers", "2", "--ray", place, "-o", "run", "--json", *options],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | env,
        preexec_fn=_heed_interrupts,  # noqa: PLW1509 - it calls the system and nothing else
    ) as process:
        yield process
        if process.poll() is None:
            process.kill()


def pids(folder: Path) -> list[int]:
    return [e.details["pid"] for e in entries(folder) if e.event == "worker_started"]


def due(folder: Path) -> dict[int, float]:
    found = read_run(folder).requests.numbers("row", "due_s")
    zero = min(found["due_s"])
    return {int(row): at - zero for row, at in zip(found["row"], found["due_s"], strict=True)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    steady_workload(tmp_path / "w.parquet", COUNT, 0.1)
    return tmp_path


def test_a_load_is_split_and_its_arrivals_stay(folder: Path, cluster: Cluster) -> None:
    with rehearsal() as server:
        for place in (cluster.inside, cluster.outside):
            with started(
                folder, server.address, place, "--key-env", "MY_KEY", MY_KEY=KEY
            ) as process:
                out, said = process.communicate(timeout=SECONDS)
            assert process.returncode in (0, 3), said
            found: dict[str, Any] = json.loads(out)
            assert found["requests"]["offered"] == COUNT
            at = due(folder / "run")
            assert at == {row: pytest.approx(row * 0.1, abs=1e-6) for row in range(COUNT)}
            clock = json.loads((folder / "run" / "run.json").read_text())["clock"]
            assert {"worker-0", "worker-1"} <= set(clock["offsets_s"])
            (clocks,) = (each for each in found["events"] if each["event"] == "client_clocks")
            for name, each in clocks["workers"].items():
                assert abs(each["ahead_s"]) <= each["error_s"]  # it is the same clock here
                assert clock["offset_errors_s"][name] <= each["error_s"] < 1
            begun = [e for e in entries(folder / "run") if e.event == "worker_started"]
            assert len({e.details["pid"] for e in begun}) == 2
            for path in (folder / "run").rglob("*"):
                assert path.is_dir() or KEY.encode() not in path.read_bytes()
            (folder / "run").rename(folder / f"kept-{len(place)}")


def test_the_key_is_in_no_file_of_the_cluster(folder: Path, cluster: Cluster) -> None:
    keyed = ("--key-env", "MY_KEY")
    with (
        rehearsal() as server,
        started(folder, server.address, cluster.inside, *keyed, MY_KEY=KEY) as process,
    ):
        process.communicate(timeout=SECONDS)
    looked_at = [path for path in cluster.home.rglob("*") if path.is_file()]
    assert len(looked_at) > 5
    for path in looked_at:
        assert KEY.encode() not in path.read_bytes(), path


def test_a_lost_worker_leaves_what_it_had_recorded(folder: Path, cluster: Cluster) -> None:
    with rehearsal() as server, started(folder, server.address, cluster.inside) as process:
        await_phase(folder / "run", "measured", process)
        time.sleep(2.5)
        os.kill(pids(folder / "run")[0], signal.SIGKILL)
        out, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 3, said
    found = json.loads(out)
    assert any("went before its end" in why for why in found["inconclusive"])
    rows = read_run(folder / "run").requests.numbers("row", "dispatched_s")
    of_lost = [row for row in rows["row"] if int(row) % 2 == 0]
    assert 5 <= len(of_lost) < COUNT / 2
    assert len(rows["row"]) - len(of_lost) == COUNT / 2  # the other one did all of its share


def test_a_killed_recorder_has_all_but_the_last_second_and_goes_on(
    folder: Path, cluster: Cluster
) -> None:
    with rehearsal() as server:
        with started(folder, server.address, cluster.inside) as process:
            measured = await_phase(folder / "run", "measured", process)
            time.sleep(3.0)
            process.kill()
            killed_ns = time.monotonic_ns()
            process.communicate(timeout=SECONDS)
        zero_ns = json.loads((folder / "run" / "run.json").read_text())["trial"]["zero_ns"]
        seconds = (killed_ns - zero_ns) / 1e9 - measured.details["load_zero_s"]
        done = vram_here(["trial", "resume", "run", "--json"], folder)
    assert done.returncode in (0, 3), done.stderr
    assert json.loads(done.stdout)["requests"]["offered"] == COUNT
    (resumed,) = (e for e in entries(folder / "run") if e.event == "resumed")
    assert resumed.details["sent"] >= (seconds - 1.5) / 0.1  # a second, and what this test took
    at = read_run(folder / "run").requests.numbers("row")["row"]
    assert sorted(map(int, at)) == list(range(COUNT))


def test_an_interruption_drains_and_closes(folder: Path, cluster: Cluster) -> None:
    with rehearsal() as server, started(folder, server.address, cluster.inside) as process:
        await_phase(folder / "run", "measured", process)
        time.sleep(1.5)
        interrupt(process)
        out, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, said
    found = json.loads(out)
    assert found["ended"] == "interrupted"
    assert found["requests"]["offered"] == found["requests"]["ok"] > 0


def test_more_workers_than_cores_are_refused(folder: Path, cluster: Cluster) -> None:
    many = ("--workers", "9")
    with rehearsal() as server, started(folder, server.address, cluster.inside, *many) as process:
        _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 2
    assert said.endswith(
        f"vram: The Ray cluster at {cluster.inside} has 2 cores, and 9 workers need one each; take fewer with --workers.\n"
    )
