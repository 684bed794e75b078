"""Start-up logs, metrics pages and saved ledgers."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from deployments import H100, full, model_of
from fuzz.driver import Target
from fuzz.mutation import damaged_bytes, damaged_text, damaged_tree, noise
from vramledger.engine.read import read_launch
from vramledger.engine.vllm.log.launch import launch_from_log
from vramledger.engine.vllm.log.startup import read_startup
from vramledger.engine.vllm.metrics_page import read_cache_configs
from vramledger.ledger.case import Case
from vramledger.ledger.gate import gate, read_baseline
from vramledger.ledger.ledger import Ledger
from vramledger.ledger.measured import compare_log, compare_page
from vramledger.report.ledger_json import ledger_json
from vramledger.report.measured import measured_json, measured_text

_DATA = Path(__file__).parents[2] / "data"
MARKS = (
    "inf", "nan", "-1", "0", "9" * 400, ",,,", ".", "..", "1.2.3", "(", ")", "{", "}", "'", "None",
    "\x1b[31m", "GiB", "non-default args: {", "args: Namespace(", "rank=9999999999999", "TP", "\n",
    '{"message": "Model loading took 1 GiB"}', "(EngineCore_DP99 pid=1)", "\x00", "\u2028", "'a': ",
    "Initializing a V1 LLM engine (v", "KV cache size: , tokens", "Model loading took . GiB", "\ud800",
    "Maximum concurrency for 0 tokens per request: 0x", "{'a': " * 40, "[" * 300,
)  # fmt: skip


@cache
def logs() -> Sequence[Sequence[str]]:
    """The lines of real start-up logs that carry figures, with a few of their neighbours."""
    found = []
    for path in sorted((_DATA / "logs").glob("*.log")):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        told = [
            line[:2_000] for line in lines if "GiB" in line or "version" in line or "arg" in line
        ]
        found.append(told + [line for line in lines if "KV cache" in line or "oncurrency" in line])
    return found


@cache
def ledger() -> Ledger:
    return Case(
        read_launch("vllm serve m --max-model-len 4096"), model_of(full(8, 8, 128)), H100
    ).ledger()


def make_log(random: Random) -> bytes:
    if random.randrange(20) == 0:
        return noise(random, 2_000)
    lines = list(random.choice(logs()))
    chosen = [random.choice(lines) for _ in range(random.randint(1, 12))]
    text = damaged_text("\n".join(chosen), random, MARKS, most=8)
    return text.encode("utf-8", "surrogatepass")


def read_log(content: bytes, folder: Path) -> None:
    path = folder / "start.log"
    path.write_bytes(content)
    log = read_startup(path)
    launch_from_log(log, str(path))
    compared = compare_log(ledger(), log)
    assert measured_text(compared, log.failures)
    json.dumps(measured_json(compared, log.failures), allow_nan=False)


@cache
def pages() -> Sequence[str]:
    texts = [path.read_text(encoding="utf-8") for path in sorted((_DATA / "metrics").glob("*.txt"))]
    return [
        "\n".join(line for line in text.splitlines() if "cache" in line or "running" in line)
        for text in texts
    ]


def make_page(random: Random) -> bytes:
    if random.randrange(20) == 0:
        return noise(random, 2_000)
    page = random.choice(pages())
    if random.randrange(3) == 0:
        return damaged_bytes(page.encode(), random)
    marks = (
        *MARKS,
        '"',
        "\\",
        "vllm:cache_config_info{",
        "} 1.0",
        "# TYPE",
        "# HELP",
        "=",
        "1e999",
    )
    return damaged_text(page, random, marks, most=6).encode("utf-8", "surrogatepass")


def read_page(content: bytes, folder: Path) -> None:
    path = folder / "page.txt"
    path.write_bytes(content)
    compared = compare_page(ledger(), read_cache_configs(str(path)))
    assert measured_text(compared, ())
    json.dumps(measured_json(compared, ()), allow_nan=False)


@cache
def saved() -> dict[str, Any]:
    found: dict[str, Any] = ledger_json(ledger())
    return {**found, "findings": [], "levers": [], "host": []}


def make_baseline(random: Random) -> bytes:
    if random.randrange(20) == 0:
        return noise(random)
    text = json.dumps(damaged_tree(saved(), random)).encode()
    return damaged_bytes(text, random) if random.randrange(4) == 0 else text


def read_saved(content: bytes, folder: Path) -> None:
    path = folder / "kv.json"
    path.write_bytes(content)
    found = gate(ledger(), read_baseline(path), 0.05)
    assert found.sentence.endswith(".")


TARGETS = (
    Target("start-up log", 8_000, make_log, read_log),
    Target("metrics page", 6_000, make_page, read_page),
    Target("baseline", 5_000, make_baseline, read_saved),
)
