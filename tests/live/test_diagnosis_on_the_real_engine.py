"""Real servers with a known cause: a small pool, a low cap, a starved front end, and one without any.

Loads are closed, so that how fast the machine is decides nothing: so many clients always want an answer. Each cause is made twice, with other clients and lengths.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from commands import vram_here
from live.served_engine import Served
from live.tiny_models import TINY, write_model
from processor_wait import STARVED, ProcessorWait
from stored_workloads import request, stored
from trial_command import result_of, trial_run

pytestmark = pytest.mark.live

COMMON = "--max-model-len 512 --block-size 32"
SMALL_POOL = "--kv-cache-memory-bytes 4M --max-num-seqs 64"  # 2,048 tokens
FEWER_PLACES = "--kv-cache-memory-bytes 4M --max-num-seqs 6"
PREEMPTIONS = "vllm:num_preemptions_total"
LOW_CAP = "--kv-cache-memory-bytes 64M --max-num-seqs 2"
ROOMY = "--kv-cache-memory-bytes 64M --max-num-seqs 64"  # 32,768 tokens
LETTERS = json.dumps({"allowed_token_ids": list(range(67, 93))})
SENT = ("--api", "completions", "--token-ids", "--body", LETTERS, "--workers", "1", "--json")
TRIES = 3
NO_PACE = "Tokens took "  # so much longer than simulated that no play says anything: a machine that others have
CORES = os.sched_getaffinity(0)


@dataclass(frozen=True)
class Load:
    """So many clients, and the requests that they send one after the other; tokens are the fewest of each."""

    clients: int
    count: int
    inputs: int
    outputs: int

    def workload(self, path: Path) -> Path:
        """Lengths that differ, in the same order each time."""
        rows = (
            request(
                row,
                arrival_s=row * 0.1,
                input_tokens=self.inputs + 7 * row % 40,
                output_tokens=self.outputs + 11 * row % 50,
            )
            for row in range(self.count)
        )
        return stored(path, rows)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("model") / "m", TINY["llama"] | {"vocab_size": 4096})


@pytest.fixture(scope="module")
def roomy(
    engine_python: Path, model: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """One with room and places for all that is sent to it."""
    with serving(engine_python, model, ROOMY, tmp_path_factory.mktemp("roomy")) as served:
        yield served


@contextmanager
def serving(python: Path, model: Path, options: str, folder: Path) -> Iterator[Served]:
    """A server with such options, until the block ends."""
    running = Served(python, model, f"{options} {COMMON}", folder / "server.log")
    try:
        running.await_healthy()
        yield running
    finally:
        running.close()


def recorded(served: Served, load: Load, folder: Path, *options: str) -> dict[str, Any]:
    """A trial of that load, its record in `folder`/run."""
    folder.mkdir(exist_ok=True)
    workload = load.workload(folder / "w.parquet")
    sent = ("--closed", str(load.clients), *SENT, *options)
    found = result_of(trial_run(served.address, workload, folder / "run", *sent))
    assert found["requests"]["ok"] == load.count
    return found


def judged(folder: Path, *options: str) -> dict[str, Any]:
    """What the diagnosis makes of the record there, with its exit code."""
    done = vram_here(["diagnose", "run", "--gpu", "cpu", *options, "--json"], folder)
    assert done.stdout, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer | {"code": done.returncode}


def diagnosed(served: Served, load: Load, folder: Path) -> dict[str, Any]:
    """Both."""
    found = recorded(served, load, folder)
    return judged(folder) | {"preemptions": found["preemptions"]}


def assert_cause(found: dict[str, Any], cause: str, *, more_memory: str) -> None:
    """That cause is first and an error, and whether more memory helps is as it should be."""
    told = [(each["cause"], each["score"], each["supports"]) for each in found["findings"]]
    assert (found["verdict"], found["findings"][0]["cause"]) == (cause, cause), told
    assert found["code"] == 1
    assert found["findings"][0]["severity"] == "error"
    helps = found["more_memory_helps"]
    reason = helps["proof"]["now"]["reason"]
    assert helps["now"] == ("unknown" if reason.startswith(NO_PACE) else more_memory), reason


def test_a_small_pool_is_named_and_more_memory_helps(
    engine_python: Path, model: Path, tmp_path: Path
) -> None:
    loads = (Load(24, 120, 60, 180), Load(16, 100, 150, 120))
    with serving(engine_python, model, SMALL_POOL, tmp_path) as served:
        for place, load in enumerate(loads):
            found = diagnosed(served, load, tmp_path / str(place))
            assert_cause(found, "kv_cache", more_memory="yes")
            assert found["preemptions"] > 0
            supports = " ".join(found["findings"][0]["supports"])
            assert f"{found['preemptions']:,} preemptions" in supports


def test_fewer_places_are_the_controlled_test_of_preemption(
    engine_python: Path, model: Path, tmp_path: Path
) -> None:
    load = Load(20, 100, 60, 180)
    counted: list[float] = []
    for options in (SMALL_POOL, FEWER_PLACES):
        folder = tmp_path / str(len(counted))
        folder.mkdir()
        with serving(engine_python, model, options, folder) as served:
            log = ("--server-log", str(served.log))
            before = served.counters()[PREEMPTIONS]
            found = recorded(served, load, folder, *log, "--cold")
            counted.append(served.counters()[PREEMPTIONS] - before)
            assert found["preemptions"] == counted[-1]
    assert counted[0] > 5
    first = judged(tmp_path / "0", "--against", str(tmp_path / "1" / "run"))
    assert_cause(first, "kv_cache", more_memory="yes")
    assert first["findings"][0]["next_change"]["flag"] == "max-num-seqs"
    test = first["controlled_test"]
    sides = [test[side] for side in ("before", "after")]
    assert [each["max_num_seqs"] for each in sides] == [64, 6]
    assert [each["preemptions"] for each in sides] == counted
    assert test["fell"] is True
    assert test["reason"] == (
        f"With max_num_seqs 6 in place of 64, preemptions fell: from {counted[0]:,.0f} to {counted[1]:,.0f}."
    )


def test_a_low_cap_that_nobody_stated_is_named_and_more_memory_does_not_help(
    engine_python: Path, model: Path, tmp_path: Path
) -> None:
    loads = (Load(8, 100, 60, 60), Load(5, 80, 30, 100))
    with serving(engine_python, model, LOW_CAP, tmp_path) as served:
        for place, load in enumerate(loads):
            found = diagnosed(served, load, tmp_path / str(place))
            assert_cause(found, "sequence_cap", more_memory="no")
            assert found["findings"][0]["next_change"]["text"] == "Raise max_num_seqs to 3."


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """Nine tenths of the time that process alone stands still; the engine behind it does not."""
    over = threading.Event()

    def beat() -> None:
        while not over.is_set():
            os.kill(pid, signal.SIGSTOP)
            over.wait(0.18)
            os.kill(pid, signal.SIGCONT)
            over.wait(0.02)

    beating = threading.Thread(target=beat)
    beating.start()
    try:
        yield
    finally:
        over.set()
        beating.join()


@contextmanager
def crowded(pid: int) -> Iterator[None]:
    """That process alone, in the background of one core that two others are busy on; it stays there."""
    one, hogs = {min(CORES)}, []
    for thread in [int(each.name) for each in Path(f"/proc/{pid}/task").iterdir()]:
        os.sched_setaffinity(thread, one)
        os.setpriority(os.PRIO_PROCESS, thread, 12)
    try:
        for _ in range(2):
            hogs.append(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            os.sched_setaffinity(hogs[-1].pid, one)
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


LIGHT = (Load(3, 80, 60, 60), Load(6, 120, 30, 40))


@pytest.mark.parametrize("load", LIGHT)
def test_a_front_end_that_stands_still_is_named_and_more_memory_does_not_help(
    roomy: Served, load: Load, tmp_path: Path
) -> None:
    with stopped(roomy.process.pid):
        found = diagnosed(roomy, load, tmp_path)
    assert_cause(found, "front_end", more_memory="no")


def test_a_front_end_without_a_processor_is_named_and_more_memory_does_not_help(
    engine_python: Path, model: Path, tmp_path: Path
) -> None:
    with (
        serving(engine_python, model, ROOMY, tmp_path) as served,
        crowded(served.process.pid),
    ):
        for place, load in enumerate(LIGHT):
            found = diagnosed(served, load, tmp_path / str(place))
            assert_cause(found, "front_end", more_memory="no")


@pytest.mark.parametrize("load", LIGHT)
def test_a_server_that_keeps_up_is_healthy_and_more_memory_does_not_help(
    roomy: Served, load: Load, tmp_path: Path
) -> None:
    for attempt in range(TRIES):
        waited = ProcessorWait(roomy.process.pid)
        found = diagnosed(roomy, load, tmp_path / str(attempt))
        assert found["more_memory_helps"]["now"] == "no"
        if found["verdict"] == "healthy":
            assert found["code"] == 0
            return
        told = [(each["cause"], each["score"], each["supports"]) for each in found["findings"]]
        share = waited.share()
        assert share >= STARVED, (share, told)
        assert found["verdict"] == "front_end", told  # it has no core of its own, and is told so
    pytest.skip(
        f"others had the machine: the front end had no core {share:.0%} of the time it wanted one"
    )
