"""A recorder that is killed at any moment: workers end, at most a second is lost, and the run goes on or is closed."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from commands import vram
from rehearse_server import Rehearsed, rehearsal
from trial_command import (
    SECONDS,
    await_gone,
    await_phase,
    await_requests,
    entries,
    result_of,
    started,
    steady_workload,
    trial_run,
    worker_pids,
)
from vramledger.record.description import read_description
from vramledger.record.document import Ended
from vramledger.record.merging import BEGUN
from vramledger.record.requests import REQUESTS
from vramledger.record.run import read_run
from vramledger.record.segments import segments, whole_batches
from vramledger.record.soundness import check_sound
from vramledger.trial.conduct.resume import known
from vramledger.trial.conduct.summary import trial_of

COUNT = 80
GAP_S = 0.05


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsed]:
    with rehearsal(truth=tmp_path_factory.mktemp("truth") / "truth.csv") as running:
        yield running


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    return steady_workload(tmp_path / "w.parquet", COUNT, GAP_S)


def killed(server: Rehearsed, workload: Path, folder: Path, after: int, *options: str) -> float:
    """Run a trial and kill it once so many requests are on disk; the moment of that."""
    with started(server.address, workload, folder, *options) as process:
        await_phase(folder, "measured", process)
        await_requests(folder, after, process)
        moment = time.monotonic()
        process.kill()
        process.wait()
    pids = worker_pids(folder)
    assert pids
    for pid in pids:
        await_gone(pid)
    return moment


def zero_of(folder: Path) -> float:
    """Second 0 of the run on this machine's clock."""
    about: Any = read_description(folder).model_extra
    return float(about["trial"]["zero_ns"] / 1e9)


def resumed(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    done = vram(["trial", "resume", str(folder), *options, "--json"], folder.parent)
    result_of(done)
    return done


def test_a_killed_run_goes_on_with_what_is_left(
    server: Rehearsed, workload: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    moment = killed(server, workload, folder, 20)
    zero_s = zero_of(folder)
    received = [float(each["received_s"]) for each in server.true_rows()]
    assert known(folder).to_s > max(each for each in received if each < moment) - zero_s - 1.0
    resumed(folder)
    run = read_run(folder)
    check_sound(run)
    table = run.requests.read(("row", "request_id", "due_s", "dispatched_s", "outcome")).to_pylist()
    rows = [row for row in table if row["row"] is not None]
    assert sorted(row["row"] for row in rows) == list(range(COUNT))  # each once
    (note,) = [each for each in entries(folder) if each.event == "resumed"]
    cut = [row for row in rows if row["outcome"] != "ok" and row["dispatched_s"] is not None]
    under_way = [
        each
        for each in server.true_rows()
        if float(each["received_s"]) < note.t_s + zero_s and float(each["done_s"]) > moment
    ]
    assert len(cut) <= len(under_way)  # when it died
    again = [row["dispatched_s"] - row["due_s"] for row in rows if row["due_s"] > note.t_s]
    assert again
    assert median(again) < 1  # the clock went on
    assert run.description.ended is Ended.COMPLETE


def test_a_run_that_is_not_resumed_is_closed_honestly(
    server: Rehearsed, workload: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    killed(server, workload, folder, 10, "--cold")
    shown = vram(["trial", "show", str(folder)], tmp_path)
    assert shown.returncode == 2
    assert "was never closed" in shown.stderr
    done = vram(["trial", "resume", str(folder), "--close"], tmp_path)
    assert done.returncode == 3
    assert (
        "INCONCLUSIVE: The recorder was stopped before the load was over; what was offered until then is whole but for its "
        "last second." in done.stdout
    )
    run = read_run(folder)
    check_sound(run)
    assert run.description.ended is Ended.KILLED
    again = vram(["trial", "resume", str(folder)], tmp_path)
    assert again.returncode == 2
    assert "is closed (killed) and takes no more records" in again.stderr


def test_a_run_whose_server_is_gone_is_closed_with_the_reason(
    workload: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    with rehearsal() as short_lived:
        killed(short_lived, workload, folder, 1, "--cold")
    done = vram(["trial", "resume", str(folder)], tmp_path)
    assert done.returncode == 2
    assert "gives no list of models" in done.stderr
    assert read_run(folder).description.ended is Ended.KILLED


def test_a_run_whose_workload_is_gone_is_closed_with_the_reason(
    server: Rehearsed, workload: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    killed(server, workload, folder, 1, "--cold")
    workload.unlink()
    done = vram(["trial", "resume", str(folder)], tmp_path)
    assert done.returncode == 3
    assert "is gone or was changed; the run is closed as it is, so start another." in done.stderr
    assert read_run(folder).description.ended is Ended.KILLED


def test_a_worker_that_is_killed_is_an_event_and_decides_nothing(
    server: Rehearsed, workload: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    with started(server.address, workload, folder, "--workers", "2", "--json", "--cold") as process:
        await_phase(folder, "measured", process)
        await_requests(folder, 4, process)
        os.kill(worker_pids(folder)[0], signal.SIGKILL)
        out, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 3
    assert (
        "The client's worker-0 went before its end, and its share of the load was not offered"
        in out
    )
    (lost,) = [each for each in entries(folder) if each.event == "worker_lost"]
    assert lost.details == {"writer": "worker-0", "why": "signal 9"}
    run = read_run(folder)
    check_sound(run)
    assert run.description.ended is Ended.FAILED
    rows = [row for row in run.requests.read(("row",))["row"].to_pylist() if row is not None]
    assert len(rows) < COUNT
    assert set(rows) >= set(range(1, COUNT, 2))  # the other worker's share is whole


def _on_disk(folder: Path) -> tuple[dict[str, dict[str, Any]], int]:
    """Requests that ended, by the server's name for them, and how many were sent."""
    ended: dict[str, dict[str, Any]] = {}
    sent: set[int] = set()
    for name in (REQUESTS.name, BEGUN):
        for batch in whole_batches(REQUESTS, segments(folder, name)):
            for row in batch.to_pylist():
                sent.add(row["request_id"])
                if name == REQUESTS.name and row["server_request_id"] is not None:
                    ended[row["server_request_id"]] = row
    return ended, len(sent)


def _loses_less_than_a_second(server: Rehearsed, folder: Path, died_s: float) -> None:
    """All that the server had done a second before is on disk, to the token, and all that it had been sent by then."""
    zero_s = trial_of(read_description(folder))["zero_ns"] / 1e9
    ended, sent = _on_disk(folder)
    true = [row for row in server.true_rows(0) if float(row["received_s"]) > zero_s]
    for row in true:
        if float(row["done_s"]) < died_s - 1.0 and row["ending"] == "ok":
            mine = ended[row["request_id"]]
            assert mine["output_tokens_got"] == int(row["output_tokens"])
            assert zero_s + mine["done_s"] == pytest.approx(float(row["done_s"]), abs=0.5)
    assert sent >= sum(float(row["received_s"]) < died_s - 1.0 for row in true)


def _killed_at_any_moment(server: Rehearsed, folder: Path, seed: int) -> None:
    """Kill it some time after its start, whatever it does then: the recorder alone, or its workers with it."""
    workload = steady_workload(folder.parent / "w.parquet", COUNT, GAP_S)
    draw = random.Random(seed)
    with started(server.address, workload, folder) as process:
        time.sleep(draw.uniform(0.5, 12.0))
        ended = process.poll() is not None
        with_it = worker_pids(folder) if seed % 2 else []
        died_s = time.monotonic()
        for pid in with_it:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.kill()
        process.wait()
    for pid in worker_pids(folder):
        await_gone(pid)
    if not (folder / "run.json").exists():  # it had not begun to record
        assert trial_run(server.address, workload, folder, "--json").returncode in (0, 3)
    elif not ended and read_description(folder).ended is None:  # else it was closed already
        _loses_less_than_a_second(server, folder, died_s)
        done = vram(["trial", "resume", str(folder)], folder.parent)
        assert done.returncode in (0, 3), done.stderr
    run = read_run(folder)
    check_sound(run)
    rows = [row for row in run.requests.read(("row",))["row"].to_pylist() if row is not None]
    assert sorted(rows) == list(range(COUNT))


@pytest.mark.parametrize("seed", range(3))
def test_killed_at_any_moment_a_run_loses_less_than_a_second_and_can_be_brought_to_its_end(
    server: Rehearsed, tmp_path: Path, seed: int
) -> None:
    _killed_at_any_moment(server, tmp_path / "run", seed)


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(3, 23))
def test_killed_at_twenty_more_moments(server: Rehearsed, tmp_path: Path, seed: int) -> None:
    _killed_at_any_moment(server, tmp_path / "run", seed)
