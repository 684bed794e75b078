"""A trial on the real engine with a tiny KV pool: what we record is what its own counters say."""

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from live.served_engine import Served
from live.tiny_models import TINY, write_model
from stored_workloads import request, stored
from trial_command import await_phase, entries, result_of, started, trial_run
from vramledger.record.run import Run, read_run
from vramledger.record.soundness import check_sound
from vramledger.trial.sampling.history import read_histories

pytestmark = pytest.mark.live

POOL = "4M"  # 2,048 tokens
OPTIONS = f"--kv-cache-memory-bytes {POOL} --max-model-len 512 --block-size 32 --max-num-seqs 32"
COUNT = 80
LETTERS = list(range(67, 93))  # a to z in the tiny tokenizer: answers that can be seen
SENT = ("--api", "completions", "--token-ids", "--body", json.dumps({"allowed_token_ids": LETTERS}))
INPUT, OUTPUT = 60, 200  # tokens; ten requests at once want more than the pool has


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model that knows the token ids of prompts, of which its tokenizer of bytes has none."""
    return write_model(tmp_path_factory.mktemp("model") / "m", TINY["llama"] | {"vocab_size": 4096})


@pytest.fixture(scope="module")
def served(
    engine_python: Path, model: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    running = Served(
        engine_python, model, OPTIONS, tmp_path_factory.mktemp("served") / "server.log"
    )
    try:
        running.await_healthy()
        yield running
    finally:
        running.close()


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    rows = (
        request(row, arrival_s=row * 0.02, input_tokens=INPUT + row % 7, output_tokens=OUTPUT)
        for row in range(COUNT)
    )
    return stored(tmp_path / "w.parquet", rows)


def test_counters_and_tokens_are_the_servers_own(
    served: Served, workload: Path, tmp_path: Path
) -> None:
    done = trial_run(
        served.address, workload, tmp_path / "run", "--json", "--server-log", str(served.log), *SENT
    )  # fmt: skip
    found = result_of(done)
    assert found["requests"]["ok"] == COUNT
    assert found["basis"] == "measured"
    run = read_run(tmp_path / "run")
    check_sound(run)
    assert found["preemptions"] > 0
    assert found["preemptions"] == _grown(run, "vllm:num_preemptions_total", served)
    assert found["server_generation_tokens"] == COUNT * OUTPUT
    rows = run.requests.read().to_pylist()
    for row in rows:
        assert (row["input_tokens_got"], row["tokens_basis"]) == (
            row["input_tokens_asked"],
            "usage",
        )
        assert row["output_tokens_got"] == row["output_tokens_asked"]
        known = row["chunk_tokens"]  # unknown where the server put several tokens into a chunk
        assert known is None or sum(known) == row["output_tokens_got"]
    assert found["kv_capacity_tokens"] == 2048
    assert found["in_effect"]["engine_version"].startswith("0.32.0")
    assert found["kv_usage"]["max"] > 0.9
    clock = run.description.clock
    assert abs(clock.offsets_s["target-0"]) <= clock.offset_errors_s["target-0"] + 0.01 < 0.1
    assert any(each.startswith("the hash of the weights: no weights lie at") for each in found["unseen"])  # fmt: skip
    _levels_line_up(run)


def _grown(run: Run, name: str, served: Served) -> float:
    """By how much a counter is above what it was when the measured part began."""
    measured = next(e for e in run.journal().entries if e.details.get("name") == "measured")
    (history,) = read_histories(run, "preemptions", "target-0")
    before = history.values[history.t_s <= measured.t_s][-1]
    return served.counters()[name] - float(before)


def _levels_line_up(run: Run) -> None:
    """At each page, the server has about as many requests as we have under way then."""
    rows = run.requests.numbers("dispatched_s", "done_s")
    (running,) = read_histories(run, "running", "target-0")
    (waiting,) = read_histories(run, "waiting", "target-0")
    (usage,) = read_histories(run, "kv_usage", "target-0")
    ours = np.array(
        [((rows["dispatched_s"] <= t) & (rows["done_s"] > t)).sum() for t in running.t_s]
    )
    theirs = running.values + waiting.values
    busy = ours > 0
    assert busy.sum() > 5
    assert np.corrcoef(ours, theirs)[0, 1] > 0.9
    idle = (running.values == 0) & (waiting.values == 0)
    assert (usage.values[idle] < 0.05).all()
    assert np.nanmax(usage.values) <= 1.0


def test_a_server_that_stalls_is_seen_on_all_clocks(
    served: Served, workload: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    options = ("--json", "--cold", *SENT)
    with started(served.address, workload, folder, *options) as process:
        await_phase(folder, "measured", process)
        time.sleep(1.0)
        served.signal_all(signal.SIGSTOP)
        time.sleep(6.0)
        served.signal_all(signal.SIGCONT)
        out, said = process.communicate(timeout=180)
    assert process.returncode in (0, 3), said
    found = json.loads(out)
    assert found["requests"]["ok"] == COUNT
    assert found["itl_s"]["max"] > 5
    gaps = [each for each in entries(folder) if each.event == "gap_began"]
    assert any(each.details["source"] == "target-0" for each in gaps)


def test_a_server_that_is_killed_and_started_again_is_told_as_it_was(
    engine_python: Path, model: Path, tmp_path: Path
) -> None:
    rows = (
        request(row, arrival_s=row * 0.5, input_tokens=INPUT, output_tokens=OUTPUT)
        for row in range(240)
    )
    workload = stored(tmp_path / "long.parquet", rows)
    folder = tmp_path / "run"
    served = Served(engine_python, model, OPTIONS, tmp_path / "server.log")
    try:
        served.await_healthy()
        options = ("--json", "--cold", *SENT, "--for", "90s")
        with started(served.address, workload, folder, *options) as process:
            await_phase(folder, "measured", process)
            time.sleep(3.25)
            served.signal_all(signal.SIGKILL)
            served.restart()
            served.await_healthy()
            out, said = process.communicate(timeout=300)
    finally:
        served.close()
    assert process.returncode in (0, 3), said
    found = json.loads(out)
    counts = found["requests"]
    assert counts["offered"] == sum(counts[name] for name in counts if name != "offered") == 180
    assert counts["ok"] > 10  # before and after
    classes = {each["class"] for each in found["errors"]}
    assert "connect_refused" in classes
    assert classes <= {"connect_refused", "reset", "closed_early", "reset_mid_stream", "closed_mid_stream", "http_503"}  # fmt: skip
    events = {each.event for each in entries(folder)}
    assert "gap_began" in events
    assert events & {"server_restarted", "counters_fell"}
    check_sound(read_run(folder))
