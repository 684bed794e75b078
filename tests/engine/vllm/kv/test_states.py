"""Blocks of models with recurrent states: their size, their pages, what a request is counted for."""

import pytest

from deployments import CPU, Settings, alternating, deployment_of, layout_of, model_of
from vramledger.engine.vllm.kv.layout import layout_for
from vramledger.model.cache import (
    CacheSpec,
    FullAttention,
    RecurrentState,
    StateKind,
    StatePart,
)
from vramledger.model.dtype import DType

MAMBA2 = RecurrentState(
    StateKind.MAMBA2,
    (
        StatePart((512 + 2 * 64, 3), recurrent=False, groups=1, group_width=64),
        StatePart((8, 64, 64), recurrent=True),
    ),
    heads=8,
)
GATED_DELTA = RecurrentState(
    StateKind.GATED_DELTA,
    (StatePart((512, 3), recurrent=False), StatePart((4, 64, 64), recurrent=True)),
    heads=2,
)
SMALL = FullAttention(2, 64, 64)


@pytest.mark.parametrize(
    ("caches", "kv_dtype", "given", "block", "page"),
    [
        ([MAMBA2, MAMBA2, SMALL] * 2, "auto", None, 384, 196608),
        ([MAMBA2, MAMBA2, SMALL] * 2, "auto", 64, 320, 163840),
        ([MAMBA2, MAMBA2, SMALL] * 2, "fp8", None, 640, 163840),
        ([GATED_DELTA] * 3 + [SMALL], "auto", None, 256, 131072),
        ([GATED_DELTA] * 3 + [SMALL], "auto", 64, 192, 98304),
        ([GATED_DELTA] * 3 + [SMALL], "fp8", None, 384, 98304),
    ],
)
def test_hybrids_enlarge_the_block_until_a_page_holds_a_state(
    caches: list[CacheSpec], kv_dtype: str, given: int | None, block: int, page: int
) -> None:
    """Figures that vLLM 0.32 resolved on a CPU with bfloat16 instructions, for tiny models."""
    settings = Settings(version="0.32.0", kv_cache_dtype=kv_dtype, block_size=given)
    layout = layout_of(caches, settings, CPU)
    assert {(g.block_size, g.page_bytes) for g in layout.groups} == {(block, page)}


@pytest.mark.parametrize(
    ("version", "caching", "blocks"),
    [
        ("0.11.0", False, 1),
        ("0.14.0", False, 1),
        ("0.19.0", False, 1),
        ("0.19.0", True, 2),
        ("0.30.0", True, 2),
        ("0.32.0", True, 3),
        ("0.32.0", False, 1),
    ],
)
def test_a_request_is_counted_for_states_by_version_and_prefix_caching(
    version: str, *, caching: bool, blocks: int
) -> None:
    settings = Settings(version=version, prefix_caching=caching)
    layout = layout_of([MAMBA2, SMALL], settings)
    state = next(g for g in layout.groups if "state" in g.kind)
    assert state.demand.reserved(8192) == blocks


def test_states_of_declared_classes_were_kept_for_every_block() -> None:
    model = model_of([MAMBA2, SMALL], model_type="bamba")
    layout = layout_for(deployment_of(model, Settings(version="0.19.0")))
    state = next(g for g in layout.groups if "state" in g.kind)
    assert state.block_size % 256 == 0
    assert state.demand.reserved(8192) == -(-8192 // state.block_size)


def test_a_state_pads_its_groups_up_to_the_ranks() -> None:
    """One B/C group over 4 ranks becomes four, one on each rank."""
    whole = layout_of([MAMBA2], Settings(version="0.19.0"))
    split = layout_of([MAMBA2], Settings(version="0.19.0", tp=4))
    assert whole.bytes_per_block[0] == 2 * (640 * 3 + 8 * 64 * 64)
    assert split.bytes_per_block[0] == 2 * ((512 + 2 * 4 * 64) // 4 * 3 + 2 * 64 * 64)


def test_nemotron_keeps_its_state_in_float32_from_0_20() -> None:
    sizes = {}
    for version in ("0.12.0", "0.19.0", "0.20.0"):
        model = model_of([MAMBA2], model_type="nemotron_h", dtype=DType.BFLOAT16)
        layout = layout_for(deployment_of(model, Settings(version=version)))
        sizes[version] = layout.bytes_per_block[0]
    assert sizes["0.12.0"] == sizes["0.19.0"]
    assert sizes["0.20.0"] - sizes["0.19.0"] == 2 * 8 * 64 * 64


def test_v0_keeps_states_outside_the_pool_and_every_token_of_windows() -> None:
    settings = Settings(version="0.6.6")
    assert layout_of([MAMBA2, SMALL, MAMBA2], settings).groups[0].layers == 1
    layout = layout_of(alternating(4, 8, 128, 1024), settings)
    assert layout.bytes_per_block == (16 * 4 * 8 * 256 * 2,)
