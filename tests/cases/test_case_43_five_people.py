"""Five people, 128k tokens each, Llama 3.3 70B at 8 bit: weights, cache and concrete GPUs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Ask = Callable[..., Any]
PLAN = """\
name: five-people
form: self-hosted
model: meta-llama/Llama-3.3-70B-Instruct
weights: [fp8]
kv_dtype: [{kv}]
gpus: [L40S, A100-80GB-SXM, H100-80GB-SXM, H200-141GB-SXM, B300, MI300X]
workload:
  requests: [{{input: 129024, output: 2048, share: 1}}]
  concurrent: 5
"""


@pytest.mark.parametrize(("kv", "each"), [("auto", 40), ("fp8", 20)])
def test_five_requests_of_128k_take_forty_or_twenty_gib_each(
    ledger: Ask, kv: str, each: int
) -> None:
    said = ledger(
        f"vllm serve meta-llama/Llama-3.3-70B-Instruct -tp 8 --kv-cache-dtype {kv}",
        "H100-80GB-SXM", "0.19.0", "--solve", "kv-cache-memory-bytes", "--concurrent", "5", "--json",
    )  # fmt: skip
    block = each * 2**30 // 8192 // 8
    assert said.json["value"] == 5 * each * 2**30 // 8 + block  # a rank of eight, one null block


def test_the_weights_at_eight_bits_are_those_measured(ledger: Ask) -> None:
    said = ledger(
        "vllm serve RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic --max-model-len 8192",
        "H100-80GB-SXM", "0.19.0", "--json",
    )  # fmt: skip
    assert said.json["ranks"][0]["weights_gib"]["value"] == pytest.approx(67.7, rel=0.005)


@pytest.mark.parametrize(("kv", "needed_gib"), [("auto", 67.7 + 200), ("fp8", 67.7 + 100)])
def test_the_options_are_concrete_and_large_enough(
    ask: Ask, tmp_path: Path, kv: str, needed_gib: float
) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN.format(kv=kv))
    said = ask("size", str(plan), "--json")
    assert said.code == 0
    fitting = [c for c in said.json["candidates"] if c["fits"]]
    assert {c["gpu"] for c in fitting} >= {"H100-80GB-SXM", "H200-141GB-SXM", "MI300X"}
    sizes = {"L40S": 44.5, "A100-80GB-SXM": 79.3, "H100-80GB-SXM": 79.2, "H200-141GB-SXM": 139.9,
             "B300": 268.0, "MI300X": 192.0}  # fmt: skip
    for candidate in fitting:
        whole = candidate["gpus"] * sizes[candidate["gpu"]]
        copies = candidate["replicas"]
        assert whole > needed_gib + 67.7 * (copies - 1)
        assert (
            f"-tp {candidate['tp']}" in candidate["launch"]
            or candidate["tp"] == 1
            or (f"--tensor-parallel-size {candidate['tp']}" in candidate["launch"])
        )
    smallest = {c["gpu"]: c["gpus"] for c in reversed(fitting)}
    assert smallest["H100-80GB-SXM"] == (8 if kv == "auto" else 4)
