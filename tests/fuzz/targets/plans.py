"""Plan files."""

import json
from pathlib import Path
from random import Random
from typing import Any

from fuzz.driver import Target, is_a_sentence
from fuzz.mutation import HOSTILE, damaged_bytes, damaged_text, damaged_tree
from vramledger.plan.check import check_plan
from vramledger.plan.document import ContractPart, PlanPart, ScenarioPart, WorkloadPart
from vramledger.plan.read import read_plan
from vramledger.plan.template import template

KEYS = sorted(
    {
        key
        for part in (PlanPart, ScenarioPart, WorkloadPart, ContractPart)
        for key in part.model_fields
    }
    | {"p50", "p99", "max", "min", "up_to", "share", "input", "output", "total_gib"}
)
WORDS = ("auto", "fp8", "chat", "latency", "A100", "L4", "1/h", "06:00", "x.json", "9.0", "10%")
FILLED = (
    template()
    .replace("model:\n", "model: Qwen/Qwen3-8B\n")
    .replace("workload:\n", "workload:\n  profile: chat\n  users: 6\n", 1)
)
TREE: dict[str, Any] = {
    "name": "x", "model": "Qwen/Qwen3-8B", "weights": ["as-stored", "fp8"], "kv_dtype": ["auto", "fp8"],
    "engine": {"name": "vllm", "version": "0.33", "args": {"max-model-len": 32768}},
    "workload": {"input_tokens": {"p50": 900, "p95": 4000, "max": 9000},
                 "output_tokens": {"p50": 100, "p95": 400}, "concurrent": 60},
    "scenarios": {
        "daily": {"kind": "latency", "workload": {"profile": "chat", "users": 6},
                  "contract": {"ttft_s": [{"input_max": 4096, "p95": 2.0}], "itl_s": {"p99": 0.2},
                               "success": 0.995, "queue_must_drain": True}},
        "nightly": {"kind": "throughput", "contract": {"done_by": "06:00"}},
    },
    "headroom": "auto", "gpus": ["L40S", "A100-80GB-SXM"], "prices": {"L40S": "1.10/h"},
    "hardware": [{"name": "own", "total_gib": 90, "vendor": "NVIDIA", "compute_capability": "9.0",
                  "architecture": "Hopper", "basis": "quoted", "source": "s"}],
}  # fmt: skip
MARKS = (
    *":-[]{}#&*!|>'\"%@`,?~",
    "\n",
    "  ",
    "\t",
    "&a ",
    "*a",
    "!!python/object:x ",
    "<<: ",
    "---\n",
)


def value(random: Random, depth: int = 0) -> Any:
    kind = random.randrange(5 if depth < 3 else 3)
    if kind == 0:
        return random.choice(HOSTILE)
    if kind <= 2:
        return random.choice((*WORDS, 5, 0.5, random.randint(-3, 10**6)))
    if kind == 3:
        return [value(random, depth + 1) for _ in range(random.randrange(3))]
    return {random.choice(KEYS): value(random, depth + 1) for _ in range(random.randrange(4))}


def yaml_text(tree: Any) -> str:
    """The tree as YAML, floats that JSON lacks included."""
    text = json.dumps(tree, indent=1)
    for word, name in (("-Infinity", "-.inf"), ("Infinity", ".inf"), ("NaN", ".nan")):
        text = text.replace(word, name)
    return text


def make(random: Random) -> bytes:
    kind = random.randrange(5)
    if kind == 0:
        text = damaged_text(FILLED, random, MARKS)
    elif kind == 1:
        changed = {random.choice(KEYS): value(random) for _ in range(random.randrange(4))}
        text = yaml_text({**TREE, **changed})
    elif kind == 2:
        text = "".join(
            random.choice((*MARKS, "a", "b", "0", ".")) for _ in range(random.randrange(90))
        )
    elif kind == 3:
        return damaged_bytes(FILLED.encode(), random)
    else:
        text = yaml_text(damaged_tree(TREE, random, [*HOSTILE, *WORDS]))
    return text.encode("utf-8", "surrogatepass")


def read(content: bytes, folder: Path) -> None:
    path = folder / "plan.yaml"
    path.write_bytes(content)
    outcome = check_plan(str(path))
    if outcome.requirement is None:
        assert outcome.problems
        assert all(
            is_a_sentence(problem) and "pydantic" not in problem for problem in outcome.problems
        )
        read_plan(str(path))  # refuses, with the first of them
    else:
        assert outcome.requirement.scenarios


TARGETS = (Target("plan", 10_000, make, read),)
