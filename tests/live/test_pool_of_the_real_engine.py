"""The engine's own figures, printed by vLLM 0.32 on this machine's CPU, against our prediction.

One command line is given to both: the engine parses it and starts, we read it and plan. Tokens,
blocks, groups and the full-length concurrency must agree exactly.
"""

import json
import shlex
from pathlib import Path

import pytest

from live.prediction import command_of, predict, words
from live.real_engine import Engine

pytestmark = pytest.mark.live


def settings(*pairs: tuple[str, str]) -> list[pytest.ParameterSet]:
    return [pytest.param(model, options, id=f"{model} {options}") for model, options in pairs]


PLAIN = "--kv-cache-memory-bytes 8M --max-model-len 1024"
SMALL_BLOCKS = "--kv-cache-memory-bytes 16M --max-model-len 1000 --block-size 32"
LARGE_BLOCKS = "--kv-cache-memory-bytes 24M --max-model-len 2000 --block-size 64"
FP8 = "--kv-cache-memory-bytes 8M --max-model-len 1024 --kv-cache-dtype fp8"
SHORT_STEPS = (
    "--kv-cache-memory-bytes 12M --max-model-len 2048 --max-num-batched-tokens 256 --max-num-seqs 8"
)
NO_PREFIXES = "--kv-cache-memory-bytes 10M --max-model-len 1024 --no-enable-prefix-caching"
NO_HYBRID = "--kv-cache-memory-bytes 12M --max-model-len 1024 --disable-hybrid-kv-cache-manager"

CASES = settings(
    *[(model, PLAIN) for model in ("llama", "opt", "gpt-bigcode", "qwen3", "phi", "mamba2")],
    *[(model, LARGE_BLOCKS) for model in ("llama", "qwen3", "deepseek-v2", "mamba")],
    *[(model, FP8) for model in ("llama", "gpt-bigcode", "deepseek-v2")],
    *[
        (model, options)
        for model in ("gemma2", "gemma3", "gpt-oss", "mistral", "llama4")
        for options in (PLAIN, SMALL_BLOCKS, FP8, SHORT_STEPS)
    ],
    *[(model, NO_HYBRID) for model in ("gemma3", "gpt-oss", "llama4")],
    *[
        (model, options)
        for model in (
            "jamba",
            "falcon-h1",
            "granite-hybrid",
            "nemotron-h",
            "qwen3-next",
            "lfm2",
        )
        for options in (PLAIN, LARGE_BLOCKS, NO_PREFIXES)
    ],
    ("jamba", FP8),
    ("qwen3-next", FP8),
    ("qwen3-next", PLAIN + " --mamba-ssm-cache-dtype bfloat16"),
    ("whisper", "--kv-cache-memory-bytes 16M --max-model-len 448"),
    ("whisper", "--kv-cache-memory-bytes 9M --max-model-len 300 --block-size 32"),
    ("llama", "--kv-cache-memory-bytes 3M --max-model-len 1024 --num-gpu-blocks-override 11"),
    ("llama", "--kv-cache-memory-bytes 2100000 --max-model-len auto"),
    ("gpt-oss", "--kv-cache-memory-bytes 5M --max-model-len auto --max-num-batched-tokens 256"),
    ("nemotron-h", "--kv-cache-memory-bytes 6M --max-model-len -1"),
)


@pytest.mark.parametrize(("model", "options"), CASES)
def test_the_engine_prints_what_was_predicted(
    engine: Engine, models: dict[str, Path], model: str, options: str
) -> None:
    command = command_of(models[model], options)
    predicted = predict(command)
    outcome = engine.start(words(command))
    pool, answer = predicted.pool, outcome.answer

    assert not outcome.refused
    assert pool.fits_one
    assert (answer["tokens"], answer["blocks"]) == (pool.tokens, pool.num_blocks)
    assert answer["concurrency"] == pool.max_concurrency
    assert answer["max_model_len"] == pool.max_model_len
    assert answer["groups"] == [[g.layers, g.block_size] for g in pool.layout.groups]
    assert outcome.line("KV cache size") == (
        f"CPU KV cache size: {pool.tokens:,} tokens, Maximum concurrency for "
        f"{pool.max_model_len:,} tokens per request: {pool.max_concurrency:.2f}x"
    )


def test_the_layers_of_a_draft_model_join_the_pool(engine: Engine, models: dict[str, Path]) -> None:
    drafter = {"method": "draft_model", "model": str(models["draft"]), "num_speculative_tokens": 3}
    options = f"{PLAIN} --speculative-config {shlex.quote(json.dumps(drafter))}"
    command = command_of(models["llama"], options)
    pool = predict(command).pool
    outcome = engine.start(words(command))
    assert not outcome.refused
    assert [[g.layers, g.block_size] for g in pool.layout.groups] == [[5, 128]]
    assert (outcome.answer["tokens"], outcome.answer["blocks"]) == (pool.tokens, pool.num_blocks)
    assert outcome.answer["groups"] == [[5, 128]]
