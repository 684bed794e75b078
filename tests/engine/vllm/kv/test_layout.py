"""Pages, groups and blocks: worked examples, and what versions and settings change."""

from dataclasses import replace

import pytest

from deployments import (
    CPU,
    Settings,
    alternating,
    deployment_of,
    full,
    gpu,
    latent,
    layout_of,
    model_of,
)
from vramledger.engine.kv import KvLayout
from vramledger.engine.vllm.deployment import Speculation
from vramledger.engine.vllm.kv.layout import layout_for
from vramledger.errors import BadInput, UnknownName
from vramledger.evidence import Basis, Figure
from vramledger.hardware.cpu import cpu_host
from vramledger.model.cache import (
    CacheSpec,
    ChunkedAttention,
    CompressedAttention,
    CrossAttention,
    FullAttention,
    LatentAttention,
    SharedWith,
    SlidingAttention,
)
from vramledger.model.model import Model, Quantization


def bytes_per_token(layout: KvLayout) -> int:
    assert len(layout.groups) == 1
    return layout.bytes_per_block[0] // layout.block_size


@pytest.mark.parametrize(
    ("caches", "kv_dtype", "expected"),
    [
        (full(32, 8, 128), "auto", 131072),
        (full(32, 8, 128), "fp8", 65536),
        (latent(61), "auto", 70272),
        (latent(61), "fp8", 576 * 61),
        (latent(61, indexer=128), "auto", 78324),
        (latent(61, indexer=128), "fp8", 48068),
        (full(1, 1, 128), "nvfp4", 144),
        (full(1, 1, 128), "fp8_per_token_head", 264),
        (full(1, 1, 64), "int8_per_token_head", 136),
        (full(1, 1, 128), "int4_per_token_head", 136),
    ],
)
def test_a_token_takes_what_its_layers_store(
    caches: list[CacheSpec], kv_dtype: str, expected: int
) -> None:
    settings = Settings(version="0.27.0", kv_cache_dtype=kv_dtype)
    assert bytes_per_token(layout_of(caches, settings)) == expected


def test_packed_cache_types_keep_the_first_and_last_layers_whole() -> None:
    settings = Settings(version="0.21.0", kv_cache_dtype="turboquant_k8v4")
    assert bytes_per_token(layout_of(full(32, 8, 128), settings)) == 8 * (28 * 196 + 4 * 512)


def test_a_cache_type_of_another_version_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownName) as refused:
        layout_of(full(2, 8, 128), Settings(version="0.14.0", kv_cache_dtype="nvfp4"))
    assert str(refused.value) == (
        "Unknown --kv-cache-dtype for vLLM 0.14 'nvfp4'; nothing known comes near it. "
        "vLLM 0.14 knows auto, fp8, fp8_e4m3, fp8_e5m2, fp8_inc, bfloat16, fp8_ds_mla."
    )


def test_latent_attention_has_no_fp4_cache() -> None:
    with pytest.raises(BadInput) as refused:
        layout_of(latent(2), Settings(version="0.27.0", kv_cache_dtype="nvfp4"))
    assert str(refused.value) == (
        "--kv-cache-dtype nvfp4 does not exist for MLA attention; use auto or fp8 with this model."
    )


def test_a_checkpoint_that_declares_fp8_changes_what_auto_means() -> None:
    declared = Quantization("fp8", "", 8, 8, kv_dtype="fp8")
    model = replace(model_of(full(4, 8, 128)), quantization=declared)
    assert layout_for(deployment_of(model, Settings(version="0.19.0"))).cache_dtype == "fp8"
    assert layout_for(deployment_of(model, Settings(version="0.11.0"))).cache_dtype == "bfloat16"


def test_kv_heads_repeat_when_ranks_outnumber_them() -> None:
    layout = layout_of(full(32, 8, 128), Settings(tp=16))
    assert bytes_per_token(layout) == 32 * 2 * 128 * 2
    assert layout.replication == 2
    assert layout_of(latent(61), Settings(tp=8)).replication == 8


def test_gpt_oss_shares_blocks_between_two_groups() -> None:
    settings = Settings(version="0.33.0", max_model_len=131072)
    layout = layout_of(alternating(36, 8, 64, 128), settings)
    assert [(g.kind, g.layers, g.padding) for g in layout.groups] == [
        ("sliding window 128", 18, 0),
        ("full attention", 18, 0),
    ]
    assert layout.bytes_per_block == (589824,)
    assert [g.demand.reserved(131072) for g in layout.groups] == [1033, 8192]


def test_an_uneven_mixture_is_padded_to_groups_of_the_smaller_kind() -> None:
    caches = alternating(62, 8, 128, 1024, every=6)
    layout = layout_of(caches)
    assert [g.layers for g in layout.groups] == [9, 9, 9, 9, 8, 8, 10]
    assert sum(g.padding for g in layout.groups) == 8


@pytest.mark.parametrize(("version", "sizes"), [("0.11.0", [12, 7, 6]), ("0.19.0", [13, 12])])
def test_nearly_equal_kinds_are_padded_to_the_larger_from_0_12(
    version: str, sizes: list[int]
) -> None:
    """gpt-oss-20b with a one-layer drafter: 12 windows and 13 full layers."""
    drafter = model_of(full(1, 8, 64))
    speculation = Speculation("eagle3", 3, drafter, 1)
    settings = Settings(version=version, fields={"speculation": speculation})
    layout = layout_of(alternating(24, 8, 64, 128), settings)
    assert sorted((g.layers for g in layout.groups), reverse=True) == sizes


def test_the_hybrid_manager_off_keeps_every_token_of_window_layers() -> None:
    layout = layout_of(alternating(24, 8, 64, 128), Settings(disable_hybrid=True))
    assert [(g.kind, g.layers) for g in layout.groups] == [("full attention", 24)]


def test_before_the_hybrid_manager_windows_beside_full_layers_kept_every_token() -> None:
    settings = Settings(version="0.8.5")
    assert len(layout_of(alternating(24, 8, 64, 128), settings).groups) == 1
    only_windows: list[CacheSpec] = [SlidingAttention(8, 128, 128, 4096)] * 4
    assert layout_of(only_windows, settings).groups[0].kind == "sliding window 4096"


def test_unequal_layers_share_one_group_from_0_11() -> None:
    caches: list[CacheSpec] = [FullAttention(8, 128, 128), FullAttention(2, 128, 128)]
    layout = layout_of(caches)
    assert (len(layout.groups), layout.bytes_per_block) == (1, (16 * 10 * 512,))
    with pytest.raises(BadInput, match=r"vLLM 0\.10 cannot bring this model's cache pages"):
        layout_of(caches, Settings(version="0.10.2"))


def test_smaller_pages_take_more_tokens_a_block() -> None:
    caches: list[CacheSpec] = [FullAttention(4, 128, 128), SlidingAttention(1, 128, 128, 512)]
    assert [g.block_size for g in layout_of(caches).groups] == [16, 64]
    with pytest.raises(BadInput, match="do not divide"):
        layout_of([FullAttention(5, 128, 128), SlidingAttention(2, 128, 128, 512)])


def test_a_layer_that_reads_another_layers_cache_owns_none() -> None:
    caches: list[CacheSpec] = [*full(3, 8, 128), SharedWith(2)]
    assert layout_of(caches).groups[0].layers == 3


@pytest.mark.parametrize(
    ("version", "major", "kv_dtype", "given", "block"),
    [
        ("0.14.0", 9, "auto", None, 64),
        ("0.14.0", 9, "auto", 128, 128),
        ("0.14.0", 10, "auto", None, 128),
        ("0.14.0", 8, "auto", None, 16),
        ("0.19.0", 9, "auto", None, 16),
        ("0.19.0", 9, "fp8", None, 64),
        ("0.19.0", 10, "auto", None, 32),
        ("0.19.0", 9, "auto", 32, 32),
    ],
)
def test_latent_attention_sets_the_block_size_by_version_and_card(
    version: str, major: int, kv_dtype: str, given: int | None, block: int
) -> None:
    settings = Settings(version=version, kv_cache_dtype=kv_dtype, block_size=given)
    assert layout_of(latent(2), settings, gpu(80, major)).block_size == block


def test_sparse_attention_runs_at_64_and_says_what_it_overrides() -> None:
    layout = layout_of(latent(2, indexer=128), Settings(version="0.14.0", block_size=16))
    assert layout.block_size == 64
    assert layout.notes == ("vLLM overrides --block-size 16 with 64 for this model.",)


@pytest.mark.parametrize(
    ("version", "asynchronous", "blocks"),
    [("0.24.0", True, 577), ("0.26.0", True, 1089), ("0.26.0", False, 577)],
)
def test_windows_are_counted_for_batches_in_flight_from_0_26(
    version: str, *, asynchronous: bool, blocks: int
) -> None:
    settings = Settings(version=version, asynchronous=asynchronous, max_model_len=131072)
    layout = layout_of(alternating(4, 8, 128, 1025), settings)
    assert layout.groups[0].demand.reserved(131072) == blocks


def test_a_running_request_holds_its_window_not_its_reservation() -> None:
    layout = layout_of(alternating(24, 8, 64, 128), Settings(version="0.33.0"))
    assert layout.blocks_reserved(8192) == 512 + 513
    assert layout.blocks_at(8192) == 512 + 9
    assert layout.blocks_at(40) == 3 + 3


def test_chunks_are_counted_for_a_batch_beside_them() -> None:
    caches: list[CacheSpec] = [ChunkedAttention(8, 128, 128, 8192)] * 3 + full(1, 8, 128)
    layout = layout_of(caches, Settings(version="0.19.0", max_model_len=131072))
    assert [g.kind for g in layout.groups] == ["chunked attention 8192"] * 3 + ["full attention"]
    assert layout.groups[0].demand.reserved(131072) == 1024
    assert layout.groups[0].demand.at(131072) == 512


def test_cross_attention_is_counted_for_a_batch_from_0_12() -> None:
    caches: list[CacheSpec] = [FullAttention(4, 64, 64), CrossAttention(4, 64, 64, 1500)]
    old = layout_of(caches, Settings(version="0.11.0", max_num_batched_tokens=2048))
    new = layout_of(caches, Settings(version="0.19.0", max_num_batched_tokens=2048))
    assert [g.demand.reserved(448) for g in old.groups] == [28, 94]
    assert [g.demand.reserved(448) for g in new.groups] == [28, 128]
    assert [g.demand.at(448) for g in new.groups] == [28, 94]


def test_context_parallel_ranks_split_a_requests_positions() -> None:
    layout = layout_of(full(4, 1, 128), Settings(tp=4, dcp=4, max_model_len=8200))
    assert layout.blocks_reserved(8200) == 129
    assert layout.replication == 1
    both = layout_of(full(4, 1, 128), Settings(version="0.14.0", tp=4, dcp=2, pcp=2))
    assert both.blocks_reserved(8192) == 128
    newer = layout_of(full(4, 1, 128), Settings(version="0.33.0", tp=4, dcp=2, pcp=2))
    assert newer.blocks_reserved(8192) == 256


def test_stages_hold_only_their_own_layers() -> None:
    layout = layout_of(full(30, 8, 128), Settings(pp=4))
    assert [size // (16 * 4096) for size in layout.bytes_per_block] == [7, 8, 8, 7]
    old = layout_of(full(30, 8, 128), Settings(version="0.7.3", pp=4))
    assert [size // (16 * 4096) for size in old.bytes_per_block] == [7, 7, 7, 9]


def test_the_partition_of_stages_can_be_given() -> None:
    environment = {"VLLM_PP_LAYER_PARTITION": "10,20"}
    layout = layout_of(full(30, 8, 128), Settings(pp=2, environment=environment))
    assert layout.bytes_per_block == (10 * 65536, 20 * 65536)
    with pytest.raises(BadInput) as refused:
        layout_of(full(31, 8, 128), Settings(pp=2, environment=environment))
    assert str(refused.value) == (
        "VLLM_PP_LAYER_PARTITION gives 2 stages with 30 layers in all; the deployment has "
        "2 stages and the model 31 layers."
    )


def test_a_stage_without_any_cache_is_refused() -> None:
    caches: list[CacheSpec] = [*full(2, 8, 128), SharedWith(1), SharedWith(1)]
    with pytest.raises(BadInput) as refused:
        layout_of(caches, Settings(pp=2))
    assert str(refused.value) == (
        "Pipeline stage 1 of 2 has no layer with a cache of its own, and vLLM fails to start with "
        "such a stage; choose a smaller --pipeline-parallel-size."
    )


def deepseek_v4(layers: int) -> list[CacheSpec]:
    """Alternating layers of ratio 4 (with an indexer) and 128."""
    return [
        CompressedAttention(512, 128, 4 if i % 2 else 128, 128 if i % 2 else 0)
        for i in range(layers)
    ]


def test_compressed_layers_pack_unequal_pages_into_one_block() -> None:
    """Two layers of ratio 4 with indexers, two of ratio 128: 584-byte states, pages of 576 bytes."""
    layout = layout_of(deepseek_v4(4), Settings(version="0.33.0"))
    grown = next(g for g in layout.groups if g.block_size == 256)
    assert layout.cache_dtype == "fp8_ds_mla"
    assert grown.layers == 6
    assert layout.bytes_per_block == (2 * 37440 + 2 * 8640 + 2 * 1728,)
    assert sum(g.layers for g in layout.groups if g.block_size == 64) == 4


def test_compressed_layers_need_0_20() -> None:
    with pytest.raises(BadInput) as refused:
        layout_of(deepseek_v4(4), Settings(version="0.19.0"))
    assert str(refused.value) == (
        "vLLM 0.19 has no compressed sparse attention; serve this model with vLLM 0.20 or newer."
    )


def test_cpu_blocks_are_128_tokens_and_16_for_latent_attention() -> None:
    settings = Settings(version="0.32.0", block_size=None)
    assert layout_of(full(2, 8, 128), settings, CPU).block_size == 128
    assert layout_of(latent(2), replace(settings, block_size=64), CPU).block_size == 16
    with_amx = cpu_host(Figure.sharp(24.0, Basis.ASSUMED, "test"), frozenset({"AMX"}))
    assert layout_of(latent(2), settings, with_amx).block_size == 128


def test_cpu_has_no_sparse_attention() -> None:
    with pytest.raises(BadInput) as refused:
        layout_of(latent(2, indexer=128), Settings(version="0.32.0"), CPU)
    assert str(refused.value) == "vLLM has no sparse attention on CPU; this model needs a GPU."


def test_a_model_without_any_cache_has_no_groups() -> None:
    model: Model = model_of([])
    layout = layout_for(deployment_of(model, Settings()))
    assert (layout.groups, layout.bytes_per_block) == ((), (0,))


def test_a_block_sparse_indexer_keeps_one_key_a_token() -> None:
    caches: list[CacheSpec] = [FullAttention(4, 128, 128, index_dim=128)]
    layout = layout_of(caches, Settings(version="0.33.0"))
    assert bytes_per_token(layout) == 4 * 256 * 2 + 128 * 2


def test_an_mtp_module_adds_a_layer_like_the_last_one() -> None:
    speculation = Speculation("mtp", 1, None, 1)
    settings = Settings(fields={"speculation": speculation})
    assert bytes_per_token(layout_of(latent(61), settings)) == 62 * 1152
    assert isinstance(latent(1)[0], LatentAttention)
