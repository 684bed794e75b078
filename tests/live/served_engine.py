"""A served engine as a process that tests may stop, kill and start again."""

import http.client
import os
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from live.prediction import command_of, words
from live.real_engine import QUIET

START_LIMIT_S = 600


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
    return number


class Served:
    """A server of a tiny model on a port of its own."""

    def __init__(self, python: Path, model: Path, options: str, log: Path) -> None:
        self.port, self.log = free_port(), log
        self._command = [
            str(python), "-m", "vllm.entrypoints.cli.main", "serve",
            *words(command_of(model, f"{options} --host 127.0.0.1 --port {self.port}")),
        ]  # fmt: skip
        self.address = f"http://127.0.0.1:{self.port}"
        self.process = self._started()

    def await_healthy(self) -> None:
        """Wait until it serves."""
        end = time.monotonic() + START_LIMIT_S
        while time.monotonic() < end:
            assert self.process.poll() is None, f"the server ended: {self.log.read_text()[-2000:]}"
            if self._is_healthy():
                return
            time.sleep(0.5)
        pytest.fail(
            f"the server did not start in {START_LIMIT_S} s: {self.log.read_text()[-2000:]}"
        )

    def counters(self) -> dict[str, float]:
        """Its own metrics by name, those of one name added up."""
        with urllib.request.urlopen(f"{self.address}/metrics") as response:  # noqa: S310 - our own server
            page = response.read().decode()
        found: dict[str, float] = {}
        for family in text_string_to_metric_families(page):
            for sample in family.samples:
                found[sample.name] = found.get(sample.name, 0.0) + sample.value
        return found

    def signal_all(self, how: signal.Signals) -> None:
        """To the server and all its processes."""
        os.killpg(self.process.pid, how)

    def restart(self) -> None:
        """Another server on the same port."""
        self.process.wait(timeout=60)
        self.process = self._started()

    def close(self) -> None:
        """End it, whatever state it is in."""
        if self.process.poll() is None:
            self.signal_all(signal.SIGCONT)
            self.process.terminate()
            try:
                self.process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.signal_all(signal.SIGKILL)
                self.process.wait()

    def _started(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as sink:
            return subprocess.Popen(
                self._command,
                stdout=sink,
                stderr=subprocess.STDOUT,
                env=os.environ | QUIET | {"VLLM_ENABLE_V1_MULTIPROCESSING": "1"},
                process_group=0,
            )

    def _is_healthy(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == http.HTTPStatus.OK
        except OSError:
            return False
        finally:
            connection.close()
