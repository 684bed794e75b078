"""What ``vllm:cache_config_info`` says of a rehearsed deployment."""

from collections.abc import Mapping
from typing import Final

from vramledger.rehearse.metrics.families import Version
from vramledger.rehearse.subject import Subject

_POOL_IN_TOKENS: Final[Version] = (0, 24)  # the first version that prints the pool in tokens


def cache_config(subject: Subject, version: Version) -> Mapping[str, str]:
    """Labels and values, those that memory depends on; vLLM has more of them, another set in nearly every version."""
    deployment, pool, settings = subject.deployment, subject.pool, subject.settings
    found = {
        "block_size": pool.layout.block_size,
        "cache_dtype": deployment.kv_cache_dtype.value,
        "enable_prefix_caching": settings.prefix_caching,
        "gpu_memory_utilization": deployment.gpu_memory_utilization.value,
        "is_attention_free": False,
        "kv_cache_memory_bytes": deployment.kv_cache_memory_bytes.value,
        "num_cpu_blocks": None,
        "num_gpu_blocks": pool.num_blocks,
        "num_gpu_blocks_override": deployment.num_gpu_blocks_override.value,
        "prefix_caching_hash_algo": "sha256",
        "sliding_window": None,
    }
    if version >= _POOL_IN_TOKENS:
        found["kv_cache_size_tokens"] = pool.tokens
        found["kv_cache_max_concurrency"] = round(pool.max_concurrency, 2)
    return {name: str(value) for name, value in found.items()}
