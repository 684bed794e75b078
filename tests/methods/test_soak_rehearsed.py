"""A soak of a rehearsal server behind a proxy: a planted leak is found in its size, a healthy one is not called growing."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from commands import vram_here
from rehearse_server import MODEL, rehearsal
from stored_workloads import request, stored

SEGMENTS, REQUESTS = 13, 10  # a trend takes twelve, and the first is left out
LEAK = 200_000  # bytes a request
LAUNCH = f"vllm serve {MODEL} --max-model-len 512 --kv-cache-memory-bytes {80 * 16 * 131_072}"


@contextmanager
def proxied(address: str, leak: int) -> Iterator[str]:
    """The address of a proxy before a server."""
    program = Path(__file__).parents[1] / "leaking_proxy.py"
    command = [sys.executable, str(program), address.removeprefix("http://"), str(leak)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def soaked(folder: Path, leak: int, *options: str) -> tuple[int, dict[str, Any]]:
    rows = (
        request(row, arrival_s=row * 0.05, input_tokens=60, output_tokens=20)
        for row in range(REQUESTS)
    )
    workload = stored(folder / "w.parquet", rows)
    asked = ["--workload", str(workload), "-o", "r", "--cold", "--for", f"{0.5 * SEGMENTS}s"]
    with rehearsal("--speed", "4", launch=LAUNCH) as server, proxied(server.address, leak) as url:
        done = vram_here(
            [
                "trial",
                "soak",
                "--url",
                url,
                *asked,
                "--segments",
                str(SEGMENTS),
                "--json",
                *options,
            ],
            folder,
        )
    found: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, found


def memory(found: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = next(
        each for each in found["growths"] if each["name"] == "process_bytes"
    )
    return told


def test_a_planted_leak_is_found_in_its_size(tmp_path: Path) -> None:
    code, found = soaked(tmp_path, LEAK, "--no-ramps")
    assert (code, found["verdict"]) == (1, "GROWS")
    grown = memory(found)
    assert grown["standing"] == "grows"
    planted = LEAK * sum(each["requests"] for each in found["segments"][2:])
    assert grown["trend"]["grown"] == pytest.approx(planted, rel=0.3)
    assert found["says"].startswith("The memory of the server's processes, idle grew by ")
    kept = json.loads((tmp_path / "r" / "soak.json").read_text())
    assert kept["result"] == found
    assert len(kept["segments"]) == SEGMENTS
    shown = vram_here(["trial", "show", "r"], tmp_path)
    assert (shown.returncode, shown.stdout.strip()) == (1, f"GROWS: {found['says']}")


def test_a_healthy_server_is_not_called_growing(tmp_path: Path) -> None:
    code, found = soaked(tmp_path, 0, "--most", "2", "--step-for", "1s")
    assert memory(found)["standing"] == "holds"
    open_ones = [each["name"] for each in found["growths"] if each["standing"] != "holds"]
    assert all(name.endswith("_p50_s") for name in open_ones)  # a busy machine tells no times
    assert code == (3 if open_ones else 0)
    assert len(found["safe_loads"]) == 3
    assert found["safe_load_falls"] is not True
