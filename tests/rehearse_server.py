"""A rehearsal server in a process of its own, for tests that need a real server on a real socket."""

import csv
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

MODEL = "meta-llama/Llama-3.1-8B-Instruct"
LAUNCH = f"vllm serve {MODEL} --max-model-len 4096"
GPU = "H100-80GB-SXM"
_TIMEOUT_S = 60


@dataclass
class Rehearsed:
    """A server that runs; `address` is its URL."""

    address: str
    port: int
    process: subprocess.Popen[str]
    truth: Path | None

    def get(self, path: str) -> tuple[int, bytes]:
        """Status and body of a GET."""
        return self._exchange("GET", path, None)

    def post(self, path: str, body: dict[str, Any]) -> tuple[int, bytes]:
        """Status and whole body of a POST, the events of a stream included."""
        return self._exchange("POST", path, json.dumps(body).encode())

    def events(self, path: str, body: dict[str, Any]) -> list[dict[str, Any]]:
        """The JSON of every event of a stream, the closing mark left out."""
        status, answer = self.post(path, {"stream": True, **body})
        assert status == 200, answer
        lines = [line[6:] for line in answer.split(b"\n\n") if line.startswith(b"data: ")]
        assert lines[-1] == b"[DONE]"
        return [json.loads(line) for line in lines[:-1]]

    def metrics(self) -> dict[str, float]:
        """Samples of the metrics page by name, those of one name added up."""
        found: dict[str, float] = {}
        for family in text_string_to_metric_families(self.get("/metrics")[1].decode()):
            for sample in family.samples:
                found[sample.name] = found.get(sample.name, 0.0) + sample.value
        return found

    def true_rows(self, least: int = 1) -> list[dict[str, str]]:
        """The lines of the file of true times, once there are so many: a line follows the answer's last byte."""
        assert self.truth is not None
        deadline = time.monotonic() + _TIMEOUT_S
        while True:
            with self.truth.open(encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
            if len(rows) >= least or time.monotonic() > deadline:
                return rows
            time.sleep(0.02)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """End it; its exit code."""
        self.process.send_signal(how)
        return self.process.wait(_TIMEOUT_S)

    def _exchange(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=_TIMEOUT_S)
        try:
            connection.request(method, path, body)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()


@contextmanager
def rehearsal(
    *options: str,
    launch: str = LAUNCH,
    gpu: str | None = GPU,
    truth: Path | None = None,
    port: int = 0,
) -> Iterator[Rehearsed]:
    """A server of `vram rehearse` with these options on a free port of 127.0.0.1, ended on leaving.

    `gpu` is None where a plan names the card.
    """
    command = [
        sys.executable,
        "-m",
        "vramledger",
        "rehearse",
        launch,
        "--port",
        str(port),
        *options,
    ]
    command += ["--gpu", gpu] if gpu is not None else []
    command += ["--truth", str(truth)] if truth is not None else []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        address = process.stdout.readline().strip()
        if not address:
            raise AssertionError(f"The server did not start: {process.stderr.read()}")
        try:
            yield Rehearsed(address, int(address.rpartition(":")[2]), process, truth)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(_TIMEOUT_S)
