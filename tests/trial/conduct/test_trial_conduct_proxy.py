"""A proxy that cannot be used is said before anything is sent."""

import os
from pathlib import Path

import pytest

from commands import vram
from trial_command import steady_workload

SENTENCE = (
    "vram: The proxy https://127.0.0.1:9 wants TLS to itself, and proxies are spoken to in plain HTTP only; give its http:// "
    "address, or name the server in $NO_PROXY.\n"
)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_behind_tls_is_refused_in_a_sentence(tmp_path: Path, scheme: str) -> None:
    workload = steady_workload(tmp_path / "w.parquet", 3)
    settings = os.environ | {f"{scheme}_proxy": "https://127.0.0.1:9", "no_proxy": ""}
    for command in (["run", "--workload", str(workload)], ["warm", "--no-record"]):
        options = ["trial", *command, "--url", f"{scheme}://192.0.2.1:8000"]
        done = vram(options, tmp_path, env=settings)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.endswith(SENTENCE)
