"""Ctrl-C: what is under way ends or is given up, the record is closed, and the exit code is 130."""

import json
import shlex
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands import VRAM
from rehearse_server import Rehearsed, rehearsal
from stored_workloads import request, stored
from trial_command import (
    SECONDS,
    await_event,
    await_phase,
    await_requests,
    entries,
    interrupt,
    started,
    steady_workload,
)
from vramledger.record.document import Ended
from vramledger.record.run import read_run
from vramledger.record.soundness import check_sound


@pytest.fixture(scope="module")
def server() -> Iterator[Rehearsed]:
    with rehearsal() as running:
        yield running


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    """A request a tenth of a second, each of which takes about two seconds."""
    rows = (
        request(row, arrival_s=row * 0.1, input_tokens=50, output_tokens=300) for row in range(200)
    )
    return stored(tmp_path / "long.parquet", rows)


@pytest.mark.parametrize(
    ("options", "signals", "how", "finishes"),
    [
        ((), [signal.SIGINT], "drained", True),
        (("--on-interrupt", "cancel"), [signal.SIGINT], "cancelled", False),
        ((), [signal.SIGINT, signal.SIGINT], "cancelled", False),
        ((), [signal.SIGTERM, signal.SIGTERM], "cancelled", False),
        ((), [signal.SIGHUP], "drained", True),
    ],
)
def test_an_interrupted_run_is_closed(
    server: Rehearsed,
    workload: Path,
    tmp_path: Path,
    options: tuple[str, ...],
    signals: list[signal.Signals],
    how: str,
    *,
    finishes: bool,
) -> None:
    folder = tmp_path / "run"
    with started(server.address, workload, folder, "--json", "--cold", *options) as process:
        await_phase(folder, "measured", process)
        await_requests(folder, 8, process)
        for number, each in enumerate(signals, 1):
            interrupt(process, each)
            await_event(folder, "interrupted", process, number)
        out, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    found = json.loads(out)
    assert found["ended"] == "interrupted"
    offered, ok = found["requests"]["offered"], found["requests"]["ok"]
    assert 8 <= offered < 200
    assert found["requests"]["incomplete"] == offered - ok
    assert (ok == offered) is finishes
    if not finishes:
        assert [each["class"] for each in found["errors"]] == ["run_ended"]
    (drained,) = [each for each in entries(folder) if each.details.get("name") == "drained"]
    assert drained.details["how"] == how
    run = read_run(folder)
    check_sound(run)
    assert run.description.ended is Ended.INTERRUPTED


def test_ctrl_c_in_the_warm_up_closes_what_there_is(
    server: Rehearsed, workload: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    with started(server.address, workload, folder) as process:
        await_phase(folder, "warm_up", process)
        interrupt(process)
        _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert "vram: interrupted." in said
    assert read_run(folder).description.ended is Ended.INTERRUPTED


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_in_the_warm_up_ends_it_as_ctrl_c_does(
    server: Rehearsed, workload: Path, tmp_path: Path, how: signal.Signals
) -> None:
    folder = tmp_path / "run"
    with started(server.address, workload, folder) as process:
        await_phase(folder, "warm_up", process)
        interrupt(process, how)
        _, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert err.endswith("vram: interrupted.\n")
    assert read_run(folder).description.ended is Ended.INTERRUPTED
    assert not (folder / "load").exists()
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_a_terminal_that_goes_away_stops_the_showing_and_not_the_run(
    server: Rehearsed, tmp_path: Path
) -> None:
    folder, workload = tmp_path / "run", steady_workload(tmp_path / "w.parquet", 20, 0.05)
    with started(server.address, workload, folder, "--cold", "--json") as process:
        await_phase(folder, "measured", process)
        assert process.stderr is not None
        process.stderr.close()
        process.stderr = None
        out, _ = process.communicate(timeout=SECONDS)
    assert json.loads(out)["requests"]["ok"] == 20
    assert read_run(folder).description.ended is Ended.COMPLETE


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_trial_needs_none_of_the_standard_streams(
    server: Rehearsed, tmp_path: Path, closed: str
) -> None:
    workload = steady_workload(tmp_path / "w.parquet", 5, 0.02)
    command = shlex.join([*VRAM, "trial", "run", "--url", server.address, "--workload", str(workload), "-o", "run", "--cold"])  # fmt: skip
    done = subprocess.run(
        ["/bin/sh", "-c", f"{command} {closed}"], cwd=tmp_path, timeout=SECONDS, capture_output=True, check=False
    )  # fmt: skip
    assert done.returncode in (0, 3)
    run = read_run(tmp_path / "run")
    check_sound(run)
    assert run.requests.rows == 5
