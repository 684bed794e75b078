"""Questions to ``vram simulate`` and ``vram predict``: random launches, loads and options."""

import io
import json
import shutil
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from typing import Any

from fuzz.driver import Target, is_a_sentence
from fuzz.mutation import HOSTILE, damaged_tree
from stored_workloads import Row, request, stored
from timing_questions import case
from vramledger.cli.main import run
from vramledger.errors import BadInput

MODELS = (
    "meta-llama/Llama-3.1-8B", "Qwen/Qwen3-0.6B", "google/gemma-3-1b-it", "openai/gpt-oss-20b",
    "ibm-granite/granite-4.0-h-tiny", "deepseek-ai/DeepSeek-V2-Lite", "x",
)  # fmt: skip
CARDS = ("H100-80GB-SXM", "L4", "H200-141GB-SXM", "MI300X", "L40S")
VERSIONS = ("0.8.5", "0.11.0", "0.19.0", "0.33.0", "x")
FLAGS: dict[str, tuple[str, ...]] = {
    "--max-num-seqs": ("0", "1", "2", "7", "256", "1000000"),
    "--max-num-batched-tokens": ("1", "16", "17", "2048", "9000", "100000000"),
    "--max-model-len": ("1", "2", "17", "4096", "8192", "auto"),
    "--block-size": ("1", "16", "64", "256"),
    "--num-gpu-blocks-override": ("1", "2", "3", "257", "513", "5000"),
    "--long-prefill-token-threshold": ("0", "1", "100", "-1"),
    "--scheduling-policy": ("fcfs", "priority", "x"),
    "--gpu-memory-utilization": ("0", "0.3", "0.9", "1", "nan"),
    "-dp": ("1", "2", "9"),
    "-tp": ("1", "2", "3"),
}
SWITCHES = (
    "--no-enable-prefix-caching", "--enable-prefix-caching", "--no-enable-chunked-prefill",
    "--no-async-scheduling", "--enforce-eager", "--disable-hybrid-kv-cache-manager",
)  # fmt: skip
OPTIONS: dict[str, tuple[str, ...]] = {
    "--rate-scale": ("0", "-1", "nan", "1e9", "1e-9", "0.5", "3"),
    "--replicas": ("0", "1", "2", "1024", "99999"),
    "--router": ("round-robin", "least-loaded", "prefix-aware", "x"),
    "--closed": ("0", "1", "3", "100000"),
    "--scenario": ("daily", "peak", "tail", "x", "long-burst"),
    "--limit": ("ttft_s p95 <= 2", "ttft_s p95 <= nan", "success >= 200%", "x", "", "the queue drains"),
    "--headroom": ("0", "0.5", "1", "-1", "nan"),
    "--policy": ("vllm", "static", "transformers", "x"),
    "--end": ("low", "expected"),
    "--seed": ("0", "1", "-1", "9" * 30),
    "--acceptance": ("0", "0.5", "1", "2", "nan"),
}  # fmt: skip
TOKENS = (None, 0, 1, 2, 16, 17, 100, 4_000, 8_191, 8_192, 2**31 - 1)
SECONDS = (0.0, 1e-9, 0.001, 1.0, 7.5, 86_400.0, 3e7)

Asked = tuple[list[str], list[Row]]


def words(random: Random, known: dict[str, tuple[str, ...]], most: int) -> list[str]:
    chosen = random.sample(list(known), random.randint(0, most))
    return [word for name in chosen for word in (name, random.choice(known[name]))]


def launch(random: Random) -> str:
    flags = words(random, FLAGS, 3) + random.sample(SWITCHES, random.randint(0, 2))
    if "--max-model-len" not in flags and random.randrange(5):
        flags += ["--max-model-len", "8192"]
    return " ".join(["vllm serve", random.choice(MODELS), *flags])


def row(random: Random, number: int) -> Row:
    shared = [random.randrange(4) for _ in range(random.randrange(4))]
    return request(
        number,
        arrival_s=random.choice(SECONDS),
        input_tokens=random.choice(TOKENS),
        output_tokens=random.choice((*TOKENS[:7], 300)),
        prefix_blocks=random.choice((None, shared)),
        cancel_after_s=random.choice((None, None, None, *SECONDS)),
    )


def rows(random: Random) -> list[Row]:
    found = [row(random, number) for number in range(random.randrange(30))]
    found.sort(key=lambda each: each["arrival_s"])
    start = found[0]["arrival_s"] if found else 0.0
    return [
        each | {"row": number, "arrival_s": each["arrival_s"] - start}
        for number, each in enumerate(found)
    ]


def make(random: Random) -> Asked:
    asked = ["simulate", launch(random), "--gpu", random.choice(CARDS)]
    asked += ["--engine-version", random.choice(VERSIONS), *words(random, OPTIONS, 3)]
    return asked, rows(random)


def read(asked: Asked, folder: Path) -> None:
    stated, requests = asked
    workload, out = folder / "w.parquet", folder / "run"
    workload.unlink(missing_ok=True)
    stored(workload, requests)
    try:
        said = told([*stated, "--workload", str(workload), "-o", str(out), "--json"])
        assert_sound(json.loads(said))
        assert not list(folder.glob(".run-*"))
    finally:
        shutil.rmtree(out, ignore_errors=True)


def assert_sound(found: Any) -> None:
    """Every request ended in one way, and the shares of time add up."""
    if found["run"] is None:
        assert found["reason"]
        return
    ends = dict(found["requests"])
    assert ends.pop("offered") == sum(ends.values())
    assert abs(sum(found["binding"].values()) - 1) < 1e-6
    assert 0 <= found["kv_usage"]["max"] <= 1


def told(arguments: list[str]) -> str:
    """What the command prints.

    Raises:
        BadInput: its own sentence where it refuses.
    """
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(arguments)
    assert code in {0, 1, 2, 3}
    assert "defect of its own" not in err.getvalue(), err.getvalue()
    if code >= 2:
        assert not out.getvalue()
        raise BadInput(err.getvalue().strip().splitlines()[-1])
    return out.getvalue()


def make_case(random: Random) -> bytes:
    plain = case(
        model=random.choice(MODELS),
        gpu=random.choice(CARDS),
        tp=random.choice((1, 2, 8)),
        precision=random.choice((None, "fp8", "fp4", "int4")),
        concurrency=random.choice((1, 2, 63.5, 512, 5_000)),
        requests=random.choice((None, 1, 300, 1e12)),
        input_tokens=random.choice((1, 900, 20_000)),
        output_tokens=random.choice((1, 2, 900)),
    )
    return json.dumps(damaged_tree(plain, random, HOSTILE)).encode()


def read_case(content: bytes, folder: Path) -> None:
    file = folder / "cases.jsonl"
    file.write_bytes(content)
    out = io.StringIO()
    with redirect_stdout(out):
        code = run(["predict", "--cases", str(file), "--json"])
    (answer,) = (json.loads(line) for line in out.getvalue().splitlines())
    assert (code == 3) == ("error" in answer)
    if "error" in answer:
        assert is_a_sentence(answer["error"])
        raise BadInput(answer["error"])
    for name in ("ttft_s", "tpot_s"):
        assert 0 <= answer[name]["low"] <= answer[name]["value"] <= answer[name]["high"]


_MEMORY_BYTES = 8 << 30  # DuckDB, Arrow and numba reserve space for their threads

TARGETS = (
    Target("simulation", 2_000, make, read, few=25, memory_bytes=_MEMORY_BYTES),
    Target("prediction", 2_000, make_case, read_case, few=40),
)
