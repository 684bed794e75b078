"""A tiny pool on a rehearsal server: a trial over a real socket, and what its record says of the cause."""

import json
from pathlib import Path
from typing import Any

from commands import vram_here
from processor_wait import STARVED, ProcessorWait
from rehearse_server import GPU, MODEL, rehearsal
from stored_workloads import request, stored
from trial_command import result_of, trial_run

BLOCKS, LENGTH = 160, 2048  # 2,560 tokens: three requests of those below
LAUNCH = f"vllm serve {MODEL} --max-model-len {LENGTH} --num-gpu-blocks-override {BLOCKS}"
CLIENTS, COUNT = 10, 60


def test_a_tiny_pool_is_named_and_more_memory_helps(tmp_path: Path) -> None:
    rows = (
        request(row, arrival_s=row * 0.1, input_tokens=600 + row % 40, output_tokens=60 + row % 30)
        for row in range(COUNT)
    )
    workload = stored(tmp_path / "w.parquet", rows)
    closed = ("--closed", str(CLIENTS), "--workers", "1", "--cold")
    with rehearsal(launch=LAUNCH) as server:
        waited = ProcessorWait(server.process.pid)
        done = trial_run(server.address, workload, tmp_path / "run", *closed, "--json")
        starved = waited.share() >= STARVED
        counted = server.metrics()["vllm:num_preemptions_total"]
    assert result_of(done)["requests"]["ok"] == COUNT
    assert counted > 0
    diagnosed = vram_here(["diagnose", "run", "--gpu", GPU, "--json"], tmp_path)
    found: dict[str, Any] = json.loads(diagnosed.stdout)
    assert found["more_memory_helps"]["now"] == "yes"
    told = [(each["cause"], each["score"], each["supports"]) for each in found["findings"]]
    assert diagnosed.returncode == 1, told
    if found["verdict"] == "front_end" and starved:
        return  # others had the machine, and the server had no core to answer with
    assert (found["verdict"], told[0][0]) == ("kv_cache", "kv_cache"), told
    assert f"{counted:,.0f} preemptions" in " ".join(told[0][2])
