"""What we say is refused, the real engine refuses."""

from pathlib import Path

import pytest

from live.prediction import command_of, deployment_of, predict, words
from live.real_engine import Engine
from vramledger.engine.vllm.kv.pool import largest_model_len
from vramledger.errors import BadInput

pytestmark = pytest.mark.live


def test_sparse_attention_has_no_cpu_kernel(engine: Engine, models: dict[str, Path]) -> None:
    command = command_of(models["deepseek-v32"], "--kv-cache-memory-bytes 8M --max-model-len 1024")
    with pytest.raises(BadInput, match="vLLM has no sparse attention on CPU"):
        predict(command)
    outcome = engine.start(words(command))
    assert outcome.refused == "NotImplementedError: Sparse Attention is not supported on CPU."


def test_an_fp8_cache_needs_heads_of_32_on_cpu(engine: Engine, models: dict[str, Path]) -> None:
    options = "--kv-cache-memory-bytes 8M --max-model-len 1024 --kv-cache-dtype fp8"
    command = command_of(models["phi"], options)
    with pytest.raises(BadInput, match="needs heads of a multiple of 32"):
        predict(command)
    assert "FP8 KV cache requires head_size divisible by 32" in engine.start(words(command)).refused


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("llama", "--kv-cache-memory-bytes 1500K --max-model-len 1024"),
        ("gpt-oss", "--kv-cache-memory-bytes 3M --max-model-len 4000"),
        ("nemotron-h", "--kv-cache-memory-bytes 2300K --max-model-len 2048"),
        ("gemma2", "--kv-cache-memory-bytes 4M --max-model-len 4096 --block-size 32"),
    ],
)
def test_a_pool_too_small_for_one_request_is_refused_with_the_same_length(
    engine: Engine, models: dict[str, Path], model: str, options: str
) -> None:
    command = command_of(models[model], options)
    predicted = predict(command)
    pool = predicted.pool
    longest = largest_model_len(predicted.deployment, pool.layout, pool.available_bytes)
    refused = engine.start(words(command)).refused
    assert not pool.fits_one
    assert f"the model's max seq len ({pool.max_model_len})" in refused
    assert f"the estimated maximum model length is {longest}." in refused


def test_memory_of_one_block_is_no_memory(engine: Engine, models: dict[str, Path]) -> None:
    """One block is the engine's own null block, so nothing is left for a request."""
    command = command_of(models["llama"], "--kv-cache-memory-bytes 256K --max-model-len 128")
    pool = predict(command).pool
    assert (pool.num_blocks, pool.usable_blocks, pool.fits_one) == (1, 0, False)
    assert "No available memory for the cache blocks" in engine.start(words(command)).refused


def test_utilization_above_what_is_free_is_refused(engine: Engine, models: dict[str, Path]) -> None:
    command = command_of(models["llama"], "--max-model-len 1024 --gpu-memory-utilization 1.0")
    deployment = deployment_of(command)
    budget = deployment.accelerator.total_bytes * deployment.gpu_memory_utilization.value
    assert budget > _available_bytes()
    refused = engine.start(words(command)).refused
    assert "on startup is less than desired CPU memory utilization" in refused


def test_a_stated_pool_larger_than_what_is_free_is_refused(
    engine: Engine, models: dict[str, Path]
) -> None:
    command = command_of(models["llama"], "--max-model-len 1024 --kv-cache-memory-bytes 2048G")
    assert predict(command).pool.available_bytes[0] > _available_bytes()
    assert "Available memory on node" in engine.start(words(command)).refused


def _available_bytes() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    pytest.skip("needs a kernel that says how much memory is available")
