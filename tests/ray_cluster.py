"""A Ray cluster of one machine, started and ended by the tests."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_PATIENCE_S = 120


@dataclass(frozen=True)
class Cluster:
    """Where it answers: programs on its machine, and clients from outside; its files lie in `home`."""

    inside: str
    outside: str
    home: Path


@contextmanager
def running(home: Path, cores: int) -> Iterator[Cluster]:
    """A cluster, for as long as the block lasts; its files lie in `home`."""
    port, client_port = _free_port(), _free_port()
    command = (
        sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block",
        f"--port={port}", f"--num-cpus={cores}", "--num-gpus=0", "--include-dashboard=false",
        "--node-ip-address=127.0.0.1", f"--temp-dir={home}",
        f"--ray-client-server-port={client_port}",
    )  # fmt: skip
    quiet = os.environ | {"RAY_USAGE_STATS_ENABLED": "0"}
    log = home / "start.log"
    with (
        log.open("wb") as said,
        subprocess.Popen(command, env=quiet, stdout=said, stderr=said) as head,
    ):
        try:
            _wait_for(log, head)
            yield Cluster(f"127.0.0.1:{port}", f"ray://127.0.0.1:{client_port}", home)
        finally:
            head.terminate()
            head.wait(timeout=_PATIENCE_S)


def _wait_for(log: Path, head: "subprocess.Popen[bytes]") -> None:
    for _ in range(_PATIENCE_S * 2):
        if head.poll() is not None:
            break
        if b"Ray runtime started" in log.read_bytes():
            return
        time.sleep(0.5)
    raise RuntimeError(f"the cluster did not start:\n{log.read_text()[-2000:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
