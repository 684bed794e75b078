"""Prompts made for a served engine: their lengths and their prefix hits, as the engine counts them."""

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from live.real_engine import QUIET
from live.tiny_models import TINY
from stored_workloads import request, reused_share, rows, stored
from trained_tokenizers import begins_marked
from vramledger.record.outcome import Outcome
from vramledger.trial.client.single import fetch_all, fetch_one
from vramledger.trial.load import open_load
from vramledger.trial.load.job import PromptSettings
from vramledger.trial.load.prepare import LoadAsked, prepare_load
from vramledger.trial.planned import PlannedRequest
from vramledger.trial.prompts.body import CHAT, COMPLETIONS, BodyStyle
from vramledger.trial.prompts.lengths import length_control
from vramledger.trial.prompts.numbering import fresh_salt
from vramledger.trial.prompts.settle import Counters, settle
from vramledger.trial.prompts.verification import verify
from vramledger.trial.server.asking import Asker
from vramledger.trial.wire.target import Target
from vramledger.workload.operators.prepared import Part

pytestmark = pytest.mark.live

BLOCK = 32  # tokens; the smallest that the engine takes on CPUs
START_LIMIT_S = 240
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<|user|>\n{{ message['content'] | trim }}<|end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|answer|>\n{% endif %}"
)
OPTIONS = (
    f"--served-model-name tiny --load-format dummy --dtype bfloat16 --enforce-eager --block-size {BLOCK} "
    "--max-model-len 2048 --gpu-memory-utilization 0.1 --kv-cache-memory-bytes 64M --host 127.0.0.1 --port"
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model with a tokenizer of words and a chat template."""
    folder = tmp_path_factory.mktemp("model")
    config: dict[str, Any] = {
        **TINY["llama"],
        "vocab_size": 2048,
        "bos_token_id": 0,
        "eos_token_id": 2,
    }
    (folder / "config.json").write_text(json.dumps(config))
    begins_marked().save(str(folder / "tokenizer.json"))
    said = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<|begin|>",
        "eos_token": "<|end|>",
        "chat_template": TEMPLATE,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(said))
    return folder


@pytest.fixture(scope="module")
def server(
    engine_python: Path, model: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Its address; the process ends with the tests."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "server.log"
    command = [engine_python, "-m", "vllm.entrypoints.cli.main", "serve", model, *OPTIONS.split()]
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [*map(str, command), str(port)],
            stdout=sink,
            stderr=subprocess.STDOUT,
            env=os.environ | QUIET | {"VLLM_ENABLE_V1_MULTIPROCESSING": "1"},
        )
        try:
            end = time.monotonic() + START_LIMIT_S
            while not _is_healthy(port):
                ended = process.poll() is not None or time.monotonic() > end
                assert not ended, f"the server did not start: {log.read_text()[-2000:]}"
                time.sleep(1)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(timeout=60)


def _is_healthy(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def prefix_hits(address: str) -> float:
    with urlopen(f"{address}/metrics") as page:  # noqa: S310 - the server of this test
        families = text_string_to_metric_families(page.read().decode())
    return sum(
        sample.value
        for family in families
        for sample in family.samples
        if sample.name == "vllm:prefix_cache_hits_total"
    )


def talks() -> list[dict[str, Any]]:
    """Eight conversations behind one system prompt; each turn grows by a block."""
    found: list[dict[str, Any]] = []
    for session in range(8):
        blocks = [0, 1]
        for turn in range(4):
            blocks = [*blocks, 10 * (session + 1) + turn]
            tokens = len(blocks) * BLOCK + 10 + session
            found.append(
                request(
                    len(found),
                    arrival_s=float(len(found)),
                    input_tokens=tokens,
                    output_tokens=5,
                    prefix_blocks=blocks,
                )
            )
    return found


@pytest.mark.parametrize(
    ("way", "endpoint"),
    [
        ("tokenizer", CHAT),
        ("tokenizer", COMPLETIONS),
        ("file", CHAT),
        ("file", COMPLETIONS),
        ("usage", CHAT),
        ("usage", COMPLETIONS),
        ("ids", COMPLETIONS),
    ],
)
def test_lengths_and_hits_are_those_of_the_log(
    server: str, model: Path, tmp_path: Path, way: str, endpoint: str
) -> None:
    style = BodyStyle(endpoint, "tiny", length=length_control("vllm").fields(endpoint))
    target = Target(server, style.path)

    def fetch(body: bytes) -> int | None:
        return fetch_one(target, PlannedRequest(0, None, None, body, None, 1)).input_tokens_got

    counters = Counters(
        style,
        fetch,
        ask=Asker(server) if way == "tokenizer" else None,
        tokenizer=model / "tokenizer.json" if way == "file" else None,
        ids=way == "ids",
    )
    settings = PromptSettings(style, settle(counters), fresh_salt())
    path = stored(tmp_path / "talks.parquet", talks(), block_tokens=BLOCK)
    job = prepare_load(LoadAsked(Part(path), settings, closed=1), tmp_path).job
    before = prefix_hits(server)
    records = fetch_all(target, open_load(job, 0, 1), closed=1)
    hits = prefix_hits(server) - before
    assert {record.outcome for record in records} == {Outcome.OK}
    report = verify(records)
    assert report.max_error == 0
    assert all(each.exact for each in report.outputs)
    log = rows(path)
    blocks = sum(row["input_tokens"] // BLOCK for row in log)
    assert hits == round(reused_share(log, BLOCK) * blocks) * BLOCK
