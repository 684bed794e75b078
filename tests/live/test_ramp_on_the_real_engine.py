"""A ramp and a soak of the real engine with a tiny KV pool: preemption where the pool says, a planted leak found."""

import json
import subprocess
import sys
from collections.abc import Iterator
from math import ceil
from pathlib import Path
from typing import Any

import pytest

from commands import vram_here
from live.served_engine import Served
from live.tiny_models import TINY, write_model
from stored_workloads import request, stored

pytestmark = pytest.mark.live

TOKENS, BLOCK = 2048, 32  # of the pool; one block is no request's
OPTIONS = f"--kv-cache-memory-bytes 4M --max-model-len 512 --block-size {BLOCK} --max-num-seqs 32"
LETTERS = list(range(67, 93))
SENT = ("--api", "completions", "--token-ids", "--body", json.dumps({"allowed_token_ids": LETTERS}))
INPUT, OUTPUT = 60, 200
FITS = (TOKENS // BLOCK - 1) // ceil((INPUT + OUTPUT) / BLOCK)
SEGMENTS, LEAK = 13, 4_000_000


@pytest.fixture(scope="module")
def served(engine_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    model = write_model(
        tmp_path_factory.mktemp("model") / "m", TINY["llama"] | {"vocab_size": 4096}
    )
    log = tmp_path_factory.mktemp("served") / "server.log"
    running = Served(engine_python, model, OPTIONS, log)
    try:
        running.await_healthy()
        yield running
    finally:
        running.close()


def workload(folder: Path, output: int, count: int = 200) -> Path:
    rows = (
        request(row, arrival_s=row * 0.2, input_tokens=INPUT, output_tokens=output)
        for row in range(count)
    )
    return stored(folder / "w.parquet", rows)


def test_preemption_starts_within_one_step_of_the_pool(served: Served, tmp_path: Path) -> None:
    asked = ["--url", served.address, "--workload", str(workload(tmp_path, OUTPUT)), "-o", "r"]
    done = vram_here(
        ["trial", "ramp", *asked, "--closed", "--step-for", "4s", "--start", "2", "--json", *SENT],
        tmp_path,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["stopped_by"] == "preemption", found["says"]
    assert abs(found["contract_limit"]["failed"]["concurrency"] - (FITS + 1)) <= 1
    assert abs(found["last_safe"]["concurrency"] - FITS) <= 1
    assert found["engine_version"].startswith("0.32.0")


@pytest.mark.parametrize("leak", [0, LEAK])
def test_a_soak_finds_a_planted_leak_and_passes_a_healthy_server(
    served: Served, tmp_path: Path, leak: int
) -> None:
    program = Path(__file__).parents[1] / "leaking_proxy.py"
    command = [sys.executable, str(program), served.address.removeprefix("http://"), str(leak)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        asked = ["--url", url, "--workload", str(workload(tmp_path, 8)), "-o", "r", "--cold"]
        spans = ["--for", f"{SEGMENTS}s", "--segments", str(SEGMENTS), "--no-ramps"]
        done = vram_here(["trial", "soak", *asked, *spans, "--json", *SENT], tmp_path)
        process.terminate()
    found: dict[str, Any] = json.loads(done.stdout)
    memory = next(each for each in found["growths"] if each["name"] == "process_bytes")
    assert memory["standing"] == ("grows" if leak else "holds")
    assert (done.returncode == 1) is bool(leak)
    if leak:
        planted = leak * sum(each["requests"] for each in found["segments"][2:])
        assert (
            0.8 * planted < memory["trend"]["grown"] < 1.8 * planted
        )  # requests that count tokens leak too
