"""Blocks, printed tokens, concurrency, the fit check and the longest request, by version."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments import Settings, alternating, deployment_of, full, model_of
from vramledger.engine.kv import KvPool
from vramledger.engine.vllm.kv.layout import layout_for
from vramledger.engine.vllm.kv.pool import largest_model_len, longest_held, size_pool
from vramledger.model.cache import CacheSpec, ChunkedAttention
from vramledger.units import GIB

LLAMA_8B = full(32, 8, 128)  # 2 MiB a block of 16 tokens
GPT_OSS = alternating(24, 8, 64, 128)
MIB = 1 << 20


def pool_of(caches: list[CacheSpec], settings: Settings, *available: int) -> KvPool:
    deployment = deployment_of(model_of(caches), settings)
    return size_pool(deployment, layout_for(deployment), available)


def test_eight_gib_of_gpt_oss_120b() -> None:
    settings = Settings(version="0.33.0", max_model_len=131072)
    pool = pool_of(alternating(36, 8, 64, 128), settings, 8 * GIB)
    assert (pool.num_blocks, pool.tokens) == (14563, 206916)
    assert round(pool.max_concurrency, 2) == 1.58
    assert pool.usable_blocks == 14562


@pytest.mark.parametrize(
    ("version", "tokens", "concurrency"),
    [
        ("0.6.6", 8000, 8000 / 3000),
        ("0.8.5", 8000, 8000 / 3000),
        ("0.19.0", 8000, 500 / 188),
        ("0.21.0", 7978, 500 / 188),
    ],
)
def test_what_is_printed_for_500_blocks(version: str, tokens: int, concurrency: float) -> None:
    pool = pool_of(LLAMA_8B, Settings(version=version, max_model_len=3000), 500 * 2 * MIB)
    assert (pool.num_blocks, pool.tokens, pool.max_concurrency) == (500, tokens, concurrency)


def test_the_printed_tokens_divide_by_groups_up_to_0_20() -> None:
    pool = pool_of(GPT_OSS, Settings(version="0.19.0"), GIB)
    assert pool.num_blocks == 2730
    assert pool.tokens == 2730 // 2 * 16


def test_context_parallel_ranks_multiply_the_printed_tokens_up_to_0_20() -> None:
    settings = Settings(version="0.19.0", tp=8, dcp=2)
    one = pool_of(full(4, 1, 128), Settings(version="0.19.0", tp=8), GIB)
    assert pool_of(full(4, 1, 128), settings, GIB).tokens == 2 * one.tokens


def test_an_override_sets_the_blocks_and_enters_the_check_from_0_21() -> None:
    starved = 10 * 2 * MIB
    old = pool_of(LLAMA_8B, Settings(version="0.19.0", override=1000), starved)
    new = pool_of(LLAMA_8B, Settings(version="0.21.0", override=1000), starved)
    assert (old.num_blocks, old.fits_one) == (1000, False)
    assert (new.num_blocks, new.fits_one) == (1000, True)


@pytest.mark.parametrize(("version", "fits"), [("0.27.0", True), ("0.30.0", False)])
def test_the_null_block_enters_the_check_late(version: str, *, fits: bool) -> None:
    pool = pool_of(LLAMA_8B, Settings(version=version, max_model_len=1600), 100 * 2 * MIB)
    assert pool.fits_one is fits


@pytest.mark.parametrize(
    ("version", "fits"), [("0.11.0", False), ("0.14.0", True), ("0.18.0", True), ("0.19.0", False)]
)
def test_only_the_first_group_was_checked_from_0_14_to_0_18(version: str, *, fits: bool) -> None:
    """The first layer is a window, whose share of a long request is small."""
    settings = Settings(version=version, max_model_len=131072)
    pool = pool_of(GPT_OSS, settings, 8200 * 12 * 32768)
    assert pool.fits_one is fits


def test_no_memory_is_no_pool() -> None:
    pool = pool_of(LLAMA_8B, Settings(), -5)
    assert (pool.num_blocks, pool.tokens, pool.fits_one) == (0, 0, False)
    assert pool.capacity(100) == 0


def test_a_model_without_cache_always_fits() -> None:
    pool = pool_of([], Settings(), 0)
    assert (pool.num_blocks, pool.tokens, pool.max_concurrency) == (1, 0, 0.0)
    assert pool.fits_one


def test_auto_takes_the_longest_request_that_fits() -> None:
    settings = Settings(version="0.21.0", max_model_len=None)
    pool = pool_of(LLAMA_8B, settings, 100 * 2 * MIB)
    assert (pool.max_model_len, pool.fits_one, pool.tokens) == (1600, True, 1600)


def test_capacity_counts_what_running_requests_hold() -> None:
    pool = pool_of(LLAMA_8B, Settings(), 101 * 2 * MIB)
    assert pool.capacity(160) == 10
    assert pool.capacity(161) == 9


def test_a_pool_of_a_gemma_like_model_in_0_14_ignores_stages_in_its_check() -> None:
    """Each stage is asked for the bytes of the whole model's groups."""
    settings = Settings(version="0.14.0", pp=2, max_model_len=1600)
    assert not pool_of(LLAMA_8B, settings, 150 * MIB, 150 * MIB).fits_one
    newer = Settings(version="0.18.0", pp=2, max_model_len=1600)
    assert pool_of(LLAMA_8B, newer, 150 * MIB, 150 * MIB).fits_one


VERSIONS = st.sampled_from(["0.6.6", "0.8.5", "0.11.0", "0.14.0", "0.19.0", "0.26.0", "0.33.0"])
MODELS = st.sampled_from([LLAMA_8B, GPT_OSS, alternating(34, 4, 256, 1024, every=6)])


@given(version=VERSIONS, caches=MODELS, memory=st.integers(0, 40 * GIB))
def test_the_longest_request_fits_and_one_token_more_does_not(
    version: str, caches: list[CacheSpec], memory: int
) -> None:
    limit = model_of(caches).text.max_positions
    deployment = deployment_of(model_of(caches), Settings(version=version))
    layout = layout_for(deployment)
    longest = largest_model_len(deployment, layout, (memory,))

    def fits(tokens: int) -> bool:
        settings = Settings(version=version, max_model_len=tokens)
        return size_pool(deployment_of(model_of(caches), settings), layout, (memory,)).fits_one

    assert longest == 0 or fits(longest)
    assert longest == limit or not fits(longest + 1)


@given(
    version=VERSIONS, caches=MODELS, memory=st.integers(0, 40 * GIB), tokens=st.integers(1, 9000)
)
def test_blocks_never_take_more_than_there_is_and_uses_never_exceed_reservations(
    version: str, caches: list[CacheSpec], memory: int, tokens: int
) -> None:
    deployment = deployment_of(model_of(caches), Settings(version=version))
    layout = layout_for(deployment)
    pool = size_pool(deployment, layout, (memory,))
    assert pool.num_blocks * layout.bytes_per_block[0] <= memory
    assert layout.blocks_at(tokens) <= layout.blocks_reserved(tokens)
    assert layout.blocks_at(tokens) <= layout.blocks_at(tokens + 1)


@pytest.mark.parametrize(
    ("version", "held"), [("0.8.5", 48), ("0.9.2", 48), ("0.10.0", 12), ("0.19.0", 12)]
)
def test_chunked_local_layers_are_planned_as_such_from_0_10_0(version: str, held: int) -> None:
    caches: list[CacheSpec] = [ChunkedAttention(8, 128, 128, 8192)] * 36 + full(12, 8, 128)
    settings = Settings(version, max_model_len=131072, max_num_batched_tokens=2048)
    layout = layout_for(deployment_of(model_of(caches), settings))
    growing = sum(g.layers for g in layout.groups if g.kind == "full attention")
    assert growing == held
    whole = len(caches) * 131072 * 2 * 8 * 128 * 2
    needed = pool_of(caches, settings, 40 * GIB).needed_bytes
    assert (needed == whole) is (held == 48)


def test_a_pool_that_passes_the_check_may_hold_less_than_a_request() -> None:
    settings = Settings("0.14.0", max_model_len=131072, max_num_batched_tokens=2048)
    caches = alternating(48, 8, 128, 1024, every=6)
    pool = pool_of(caches, settings, 2 * GIB)
    assert pool.fits_one
    assert pool.held_of_one < 1.0
    longest = longest_held(pool.layout, pool.num_blocks, 131072)
    assert pool.layout.blocks_at(longest) <= pool.num_blocks < pool.layout.blocks_at(longest + 1)
