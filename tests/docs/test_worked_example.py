"""The first page of the documents: its arithmetic and its reckoning."""

from itertools import pairwise

import worked_example as example
from vramledger.model.figures import full_bytes_per_token
from vramledger.units import GIB, KIB


def test_a_token_costs_128_kib_and_sixteen_long_sequences_16_gib() -> None:
    assert example.bytes_per_token() == 128 * KIB
    assert full_bytes_per_token(example.example_model()) == 128 * KIB
    assert 8192 * example.bytes_per_token() == GIB
    assert 16 * 8192 * example.bytes_per_token() == 16 * GIB


def test_the_example_takes_24_gib_of_weights() -> None:
    weights = example.example_ledger().ranks[0].row("weights")
    assert 23.9 < weights.value < 24.2


def test_the_reckoning_only_ever_loses_sequences() -> None:
    steps = example.steps()
    assert steps[0].sequences == 24
    assert all(a.sequences >= b.sequences for a, b in pairwise(steps))
    assert all(a.left_gib >= b.left_gib for a, b in pairwise(steps))
    assert steps[-1].sequences < 12


def test_the_pool_rounds_growing_sequences_to_whole_blocks() -> None:
    ledger = example.example_ledger()
    assert ledger.pool is not None
    assert ledger.pool.layout.blocks_at(8192 + 1) == 8192 // 16 + 1
    assert ledger.pool.layout.bytes_per_block == (16 * 128 * KIB,)


def test_the_unequal_mix_keeps_the_mean_prompt() -> None:
    assert sum(prompt * share for prompt, _, share in example.UNEQUAL) == 8192
    assert sum(share for *_, share in example.UNEQUAL) == 1.0


def test_the_rough_formula_is_too_high_for_every_kind_of_cache() -> None:
    factors = {r.model: r.factor for r in example.rough_table()}
    assert factors["meta-llama/Llama-3.1-8B"] == 4.0
    assert factors["Qwen/Qwen2.5-72B-Instruct"] == 8.0
    assert 24 < factors["deepseek-ai/DeepSeek-R1"] < 26
    assert min(factors.values()) >= 4.0
