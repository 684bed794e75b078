"""A served engine: its start-up log and its metrics page, read by our readers, against prediction."""

import http.client
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from live.prediction import command_of, predict, words
from live.real_engine import QUIET
from vramledger.engine.vllm.log.startup import read_startup
from vramledger.engine.vllm.metrics_page import read_cache_configs

pytestmark = pytest.mark.live

OPTIONS = "--kv-cache-memory-bytes 8M --max-model-len 1024 --kv-cache-dtype fp8 --block-size 64"
START_LIMIT_S = 240


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
    return number


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "server.log"


@pytest.fixture
def server(engine_python: Path, models: dict[str, Path], port: int, log: Path) -> Iterator[str]:
    """The address of a served gpt-oss-like model; the process ends with the test."""
    arguments = words(command_of(models["gpt-oss"], f"{OPTIONS} --host 127.0.0.1 --port {port}"))
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [str(engine_python), "-m", "vllm.entrypoints.cli.main", "serve", *arguments],
            stdout=sink,
            stderr=subprocess.STDOUT,
            env=os.environ | QUIET | {"VLLM_ENABLE_V1_MULTIPROCESSING": "1"},
        )
        try:
            _wait(process, port, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=60)


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + START_LIMIT_S
    while time.monotonic() < end:
        assert process.poll() is None, f"the server ended: {log.read_text()[-2000:]}"
        if _is_healthy(port):
            return
        time.sleep(1)
    pytest.fail(f"the server did not start in {START_LIMIT_S} s: {log.read_text()[-2000:]}")


def _is_healthy(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == http.HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()


def test_log_and_metrics_of_a_server_hold_what_was_predicted(
    server: str, models: dict[str, Path], log: Path
) -> None:
    pool = predict(command_of(models["gpt-oss"], OPTIONS)).pool
    (page,) = read_cache_configs(f"{server}/metrics")
    assert (page.num_blocks, page.block_size) == (pool.num_blocks, pool.layout.block_size)
    assert (page.kv_tokens, page.max_concurrency) == (pool.tokens, pool.max_concurrency)
    printed = read_startup(log)
    assert printed.value("kv_tokens") == pool.tokens
    assert printed.value("max_concurrency") == round(pool.max_concurrency, 2)
