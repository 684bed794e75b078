"""Starts that failed for memory in published logs: refused here too, or warned of by name."""

from collections.abc import Callable
from typing import Any

import pytest

Ask = Callable[..., Any]

WARNINGS = {"A01", "A02"}  # room outside the budget; recurrent state outside the pool
FAILED = {
    "obs-008": ("openai/gpt-oss-120b --max-num-batched-tokens 5120", "H100-80GB-SXM", "0.14.1"),
    "obs-055": (
        "openai/gpt-oss-20b --gpu-memory-utilization 0.95 --max-model-len 8192",
        "H100-80GB-SXM",
        "0.19.0",
    ),
    "obs-056": (
        "openai/gpt-oss-20b -tp 2 --gpu-memory-utilization 0.95 --max-model-len 8192",
        "H100-80GB-SXM",
        "0.19.0",
    ),
    "obs-089": (
        "RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic --max-model-len 16000",
        "H100-80GB-SXM",
        "0.11.0",
    ),
    "obs-105": (
        "meta-llama/Llama-3.1-70B-Instruct -tp 2 --dtype float16 --max-model-len 131072",
        "H100-80GB-SXM",
        "0.5.4",
    ),
    "obs-106": (
        "meta-llama/Llama-3.1-70B-Instruct -tp 2 --dtype float16 --max-model-len 24000",
        "H100-80GB-SXM",
        "0.5.4",
    ),
    "obs-107": (
        "meta-llama/Llama-3.1-70B-Instruct -tp 2 --dtype float16 --max-model-len 20000",
        "H100-80GB-SXM",
        "0.5.4",
    ),
    "obs-115": (
        "Qwen/Qwen2.5-7B --gpu-memory-utilization 0.95 --max-model-len 512 --cpu-offload-gb 12",
        "RTX-3070",
        "0.7.3",
    ),
    "obs-141": (
        (
            "ai21labs/AI21-Jamba-1.5-Mini --quantization experts_int8 --kv-cache-dtype fp8"
            " --max-model-len 16384"
        ),
        "A100-80GB-PCIe",
        "0.5.5",
    ),
    "obs-226": (
        (
            "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B -tp 2 --gpu-memory-utilization 0.98"
            " --max-model-len 131072"
        ),
        "RTX-4090",
        "0.7.1",
    ),
}


@pytest.mark.parametrize("row", FAILED)
def test_a_start_that_failed_for_memory_does_not_pass_in_silence(ledger: Ask, row: str) -> None:
    arguments, gpu, version = FAILED[row]
    said = ledger(f"vllm serve {arguments}", gpu, version, "--json")
    named = {finding["id"] for finding in said.json["findings"]} & WARNINGS
    assert not said.json["fits"] or named
