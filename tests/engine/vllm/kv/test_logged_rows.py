"""Start-up logs of vLLM 0.19 that people published, against the planner.

The log prints the KV memory to 0.01 GiB, so each row allows a small band of blocks; tokens must
lie inside it, and the concurrency must follow from the printed tokens to the last digit.
"""

from dataclasses import dataclass

import pytest

from deployments import Settings, alternating, deployment_of, full, latent, model_of
from vramledger.engine.vllm.kv.layout import layout_for
from vramledger.engine.vllm.kv.pool import size_pool
from vramledger.model.cache import CacheSpec
from vramledger.model.dtype import DType
from vramledger.units import GIB

CODELLAMA = full(32, 32, 128)
LLAMA_8B = full(32, 8, 128)
LLAMA_70B = full(80, 8, 128)
QWEN25_7B = full(28, 4, 128)
GEMMA2_27B = alternating(46, 16, 128, 4096)
GEMMA2_9B = alternating(42, 8, 256, 4096)
GEMMA3_12B = alternating(48, 8, 256, 1024, every=6)
GEMMA3_4B = alternating(34, 4, 256, 1024, every=6)
PHI2 = full(32, 32, 80)
PHI4 = full(40, 10, 128)
MISTRAL_24B = full(40, 8, 128)
KIMI_VL = latent(27)
GPT_OSS_20B = alternating(24, 8, 64, 128)
QWEN3_30B = full(48, 4, 128)
GLM_51 = latent(78, indexer=128)


@dataclass(frozen=True)
class Row:
    """One log: what was served, the memory it printed, and what it made of it."""

    name: str
    caches: list[CacheSpec]
    kv_gib: float
    tokens: int
    concurrency: float
    tp: int = 1
    max_model_len: int = 8192
    dtype: DType = DType.BFLOAT16
    kv_dtype: str = "auto"


ROWS = [
    Row("015 CodeLlama-7b", CODELLAMA, 61.66, 126256, 15.41),
    Row("017 Llama-3.3-70B TP2", LLAMA_70B, 37.28, 244304, 29.82, tp=2),
    Row("018 Llama-3.3-70B TP4", LLAMA_70B, 54.09, 708992, 86.55, tp=4),
    Row("019 Qwen2.5-7B fp8 weights", QWEN25_7B, 64.64, 1210304, 147.74),
    Row("020 gemma-2-27b", GEMMA2_27B, 20.59, 58672, 7.16),
    Row("022 gemma-2-9b", GEMMA2_9B, 54.12, 168880, 20.6),
    Row("023 gemma-3-12b", GEMMA3_12B, 47.72, 130304, 15.88),
    Row("025 gemma-3-4b", GEMMA3_4B, 62.51, 468144, 57.05),
    Row("031 Llama-3.1-8B fp8 cache", LLAMA_8B, 58.11, 952032, 116.21, kv_dtype="fp8"),
    Row("032 Llama-3.1-8B", LLAMA_8B, 58.11, 476000, 58.11),
    Row("033 Llama-3.1-8B", LLAMA_8B, 64.61, 529248, 64.61),
    Row("034 Llama-3.1-8B float16", LLAMA_8B, 58.11, 476016, 58.11, dtype=DType.FLOAT16),
    Row("035 Llama-3.1-8B float32", LLAMA_8B, 42.8, 175296, 21.4, dtype=DType.FLOAT32),
    Row("036 Llama-3.1-8B 2k", LLAMA_8B, 58.11, 476016, 232.43, max_model_len=2048),
    Row("042 Llama-3.1-8B TP2", LLAMA_8B, 63.76, 1044688, 127.53, tp=2),
    Row("043 Llama-3.1-8B TP4", LLAMA_8B, 67.44, 2209792, 269.75, tp=4),
    Row("044 Llama-3.1-8B 16k", LLAMA_8B, 58.11, 476016, 29.05, max_model_len=16384),
    Row("045 Llama-3.1-8B 32k", LLAMA_8B, 58.11, 476016, 14.53, max_model_len=32768),
    Row("047 phi-2", PHI2, 69.0, 226112, 110.41, max_model_len=2048, dtype=DType.FLOAT16),
    Row("048 phi-4", PHI4, 46.08, 241568, 29.49),
    Row("049 Mistral-Small-3.1-24B", MISTRAL_24B, 28.19, 184752, 22.55),
    Row("053 Kimi-VL-A3B", KIMI_VL, 41.32, 1426368, 174.12),
    Row("054 Kimi-VL-A3B TP2", KIMI_VL, 54.78, 1890896, 230.82, tp=2),
    Row("055 gpt-oss-20b", GPT_OSS_20B, 58.47, 1277184, 155.75),
    Row("056 gpt-oss-20b TP2", GPT_OSS_20B, 63.28, 2764768, 337.17, tp=2),
    Row("057 gpt-oss-20b TP2", GPT_OSS_20B, 59.32, 2591776, 316.07, tp=2),
    Row("061 Qwen2.5-7B", QWEN25_7B, 58.53, 1096000, 133.79),
    Row("062 Qwen2.5-7B 16k", QWEN25_7B, 58.53, 1095968, 66.89, max_model_len=16384),
    Row("063 Qwen2.5-7B 32k", QWEN25_7B, 58.53, 1096000, 33.45, max_model_len=32768),
    Row("069 Qwen3-30B-A3B", QWEN3_30B, 15.41, 168288, 20.54),
    Row("072 Llama-3.1-8B w4a16", LLAMA_8B, 67.71, 554704, 67.71, dtype=DType.FLOAT16),
    Row("073 Mistral-Small w8a8", MISTRAL_24B, 48.73, 319344, 38.98),
    Row("074 Mistral-Small w8a8 TP2", MISTRAL_24B, 59.02, 773584, 94.43, tp=2),
    Row("075 Llama-3.1-8B w8a8", LLAMA_8B, 64.6, 529200, 64.6, dtype=DType.FLOAT16),
    Row("251 GLM-5.1-FP8 TP8", GLM_51, 32.11, 344192, 1.7, tp=8, max_model_len=202752),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_tokens_lie_in_the_rounding_band_and_concurrency_follows(row: Row) -> None:
    model = model_of(row.caches, dtype=row.dtype, max_positions=row.max_model_len)
    settings = Settings(tp=row.tp, max_model_len=row.max_model_len, kv_cache_dtype=row.kv_dtype)
    deployment = deployment_of(model, settings)
    layout = layout_for(deployment)
    lowest = size_pool(deployment, layout, (int((row.kv_gib - 0.005) * GIB),))
    highest = size_pool(deployment, layout, (int((row.kv_gib + 0.005) * GIB),))
    assert lowest.tokens <= row.tokens <= highest.tokens

    groups = len(layout.groups)
    blocks = row.tokens // layout.block_size * groups
    pools = [
        size_pool(deployment, layout, ((blocks + spare) * layout.bytes_per_block[0],))
        for spare in range(groups)
    ]
    assert all(pool.tokens == row.tokens for pool in pools)
    assert row.concurrency in {round(pool.max_concurrency, 2) for pool in pools}


def test_the_smallest_pipeline_stage_decides() -> None:
    """Row 040: two stages; the log's 66.54 GiB is the first one's, the last has 65.63."""
    deployment = deployment_of(model_of(LLAMA_8B), Settings(pp=2))
    layout = layout_for(deployment)
    pool = size_pool(deployment, layout, (int(66.54 * GIB), 1075312 * 65536))
    assert layout.bytes_per_block == (1 << 20, 1 << 20)
    assert pool.tokens == 1075312
    assert round(pool.max_concurrency, 2) == 131.26
