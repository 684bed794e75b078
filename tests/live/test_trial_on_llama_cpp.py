"""A trial on llama.cpp's own server, which fails all running requests when the pool that they share is full."""

import hashlib
import json
import subprocess
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stored_workloads import request, stored
from trained_tokenizers import byte_level
from trial_command import result_of, trial_run
from vramledger.record.run import read_run
from vramledger.record.soundness import check_sound

pytestmark = pytest.mark.live

HERE = Path(__file__).parent
POOL, SLOTS = 1024, 8  # tokens that the slots share
INPUT, OUTPUT = 60, 400  # two requests fit, three do not
FULL = (
    "The server's KV cache was full and it ended the answer, having no preemption; give it a larger context (llama.cpp: -c) "
    "or fewer requests at once."
)


@dataclass
class LlamaCpp:
    """A server that runs, and its model's file."""

    address: str
    model: Path

    def post(self, path: str, **fields: object) -> dict[str, Any]:
        body = json.dumps(fields).encode()
        with urllib.request.urlopen(f"{self.address}{path}", body) as response:  # noqa: S310 - our own server
            found: dict[str, Any] = json.loads(response.read())
        return found


@pytest.fixture(scope="module")
def served(llama_cpp_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaCpp]:
    folder = tmp_path_factory.mktemp("llama-cpp")
    tokenizer, model = folder / "tokenizer.json", folder / "tiny.gguf"
    byte_level().save(str(tokenizer))
    python = str(llama_cpp_python)
    subprocess.run([python, str(HERE / "make_gguf.py"), str(tokenizer), str(model)], check=True)
    command = [python, str(HERE / "llama_cpp_worker.py"), str(model), str(POOL), str(SLOTS)]
    with (
        (folder / "server.log").open("wb") as log,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://"), (folder / "server.log").read_text()[-2000:]
        try:
            yield LlamaCpp(address, model)
        finally:
            process.stdin.close()  # its end
            process.terminate()
            process.wait(timeout=30)


def _workload(path: Path, count: int, gap_s: float, output: int) -> Path:
    return stored(
        path,
        (
            request(row, arrival_s=row * gap_s, input_tokens=INPUT + row % 7, output_tokens=output)
            for row in range(count)
        ),
    )


def test_requests_that_fit_are_answered_with_exact_lengths(
    served: LlamaCpp, tmp_path: Path
) -> None:
    workload = _workload(tmp_path / "w.parquet", 30, 0.1, 40)
    found = result_of(trial_run(served.address, workload, tmp_path / "run", "--json", "--cold"))
    assert found["requests"]["ok"] == 30
    assert found["prompts"] == (
        "Prompts are counted by the server's own tokenizer. The server's usage agrees."
    )
    assert found["lengths"]["max_error_tokens"] == 0
    rows = read_run(tmp_path / "run").requests.read().to_pylist()
    assert all(row["output_tokens_got"] == row["output_tokens_asked"] == 40 for row in rows)
    assert {row["tokens_basis"] for row in rows} == {"usage"}
    check_sound(read_run(tmp_path / "run"))


def test_what_the_server_tells_of_itself_is_in_the_record(served: LlamaCpp, tmp_path: Path) -> None:
    workload = _workload(tmp_path / "w.parquet", 20, 0.1, 40)
    options = ("--json", "--cold", "--api", "completions")
    found = result_of(trial_run(served.address, workload, tmp_path / "run", *options))
    seen = found["in_effect"]
    assert (seen["engine"], seen["arguments"]["parallel"]) == ("llama.cpp", SLOTS)
    assert seen["model"] == str(served.model)
    assert seen["weights_sha256"] == hashlib.sha256(served.model.read_bytes()).hexdigest()
    assert found["unjudgeable"] == []
    assert not [
        each for each in found["warnings"] if "drafts" in each
    ]  # /slots says that none is made
    run = read_run(tmp_path / "run")
    assert "clock" not in " ".join(found["unseen"])
    assert abs(run.description.clock.offsets_s["target-0"]) < 0.1
    assert run.description.clock.offset_errors_s["target-0"] < 0.1
    assert found["running"]["max"] is not None
    assert found["preemptions"] is None  # it has none


def test_a_full_pool_fails_all_that_run_and_each_is_told_as_that(
    served: LlamaCpp, tmp_path: Path
) -> None:
    workload = _workload(tmp_path / "w.parquet", 24, 0.002, OUTPUT)
    options = ("--json", "--cold", "--api", "completions")
    done = trial_run(served.address, workload, tmp_path / "run", *options)
    found = result_of(done)
    counts = found["requests"]
    assert counts["offered"] == 24
    assert counts["failed"] >= 3
    assert counts["ok"] + counts["failed"] == 24
    assert [(each["class"], each["message"]) for each in found["errors"]] == [("kv_cache_full", FULL)]  # fmt: skip
    run = read_run(tmp_path / "run")
    check_sound(run)
    failed = [row for row in run.requests.read().to_pylist() if row["outcome"] == "failed"]
    assert all(row["http_status"] == 200 for row in failed)
    assert any(row["first_content_s"] is not None for row in failed)  # in mid-stream
    assert "The server on kv_cache_full: Context size has been exceeded." in done.stderr
    after = served.post("/v1/completions", prompt="the", max_tokens=4)
    assert after["usage"]["completion_tokens"] == 4  # it serves on
