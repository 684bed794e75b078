"""From a version string to its rules: the only place that knows vLLM's version numbers.

`_CHANGES` says in which release each rule took its value, read in vLLM's own sources of 0.4.2 to
0.33.0. A release's rules are the first row overlaid with every later row up to that release. Where
both engine generations exist, each has its own rules.
"""

import re
from dataclasses import replace
from functools import cache
from typing import Any, Final

from vramledger.engine.vllm.rules import (
    BatchTable,
    CaptureTable,
    ExpertBuffers,
    FitCheck,
    HybridBlock,
    ProfileRule,
    Rules,
    RunnerV2,
    SamplerPath,
    StateBlocks,
    TokenFigure,
)
from vramledger.errors import BadInput, UnknownName
from vramledger.frozen import frozen

Release = tuple[int, int, int]

OLDEST_MINOR: Final = 4
NEWEST_MINOR: Final = 33
FAMILIES: Final = tuple(f"0.{minor}" for minor in range(OLDEST_MINOR, NEWEST_MINOR + 1))
_ANY_PATCH: Final = 999  # "0.10" means the last release of the family
_V1_EXISTS: Final[Release] = (0, 6, 5)
_V1_DEFAULT: Final[Release] = (0, 8, 0)
_V0_GONE: Final[Release] = (0, 11, 0)
_MOVING: Final = frozenset({"latest", "nightly", "main", "master", "dev", "head", "stable"})
_VERSION: Final = re.compile(
    r"v?(?P<major>\d{1,9})\.(?P<minor>\d{1,9})(?:\.(?P<patch>\d{1,9}))?"
    r"(?P<between>(?:[.-]?(?:rc|a|b|alpha|beta|dev|pre)\d*)*)"
    r"(?:[.-]?(?:post|dev)\d+)*(?:\.\d+)?(?:[+_-][\w.+-]*)?\Z",
    re.IGNORECASE,
)


@frozen
class VersionMatch:
    """The rules a version string stands for; `note` is one sentence where they are not its own."""

    version: str  # as given, or the newest known release
    release: Release
    rules: Rules
    note: str = ""


@frozen
class _Change:
    """Rules that hold from a release on, for one generation or (None) for both."""

    since: Release
    values: dict[str, Any]
    v1: bool | None = None


_FIRST: Final = Rules(
    family="0.4",
    v1=False,
    utilization_default=0.90,
    profile=ProfileRule.V0_DEVICE,
    token_figure=TokenFigure.BLOCKS,
    fit_check=FitCheck.V0_TOKENS,
    null_block_in_fit_check=False,
    padding_threshold=None,
    hybrid_groups=False,
    unify_page_sizes=False,
    pad_pages_to_largest=False,
    window_in_flight=False,
    graph_estimate_run=False,
    graph_in_budget=False,
    sampler=SamplerPath.SORT,
    nccl_outside_budget=False,
    async_scheduling=False,
    chunked_prefill_default=False,
    hybrid_prefix_caching=False,
    kv_memory_bytes=False,
    auto_fit=False,
    swap_space=True,
    override_in_fit_check=False,
    batch_table=BatchTable.V0_512,
    mamba_checkpoint_blocks=0,
)

_CHANGES: Final = (
    # both generations: the model's configuration
    _Change((0, 9, 1), {"bfloat16_for_float32": True, "falls_back_to_float16": True}),
    _Change((0, 11, 1), {"longrope_starts_short": True}),
    _Change((0, 16, 0), {"backend_from_environment": False}),
    # V0
    _Change((0, 5, 4), {"chunked_prefill_by_length": True}, v1=False),
    _Change((0, 6, 0), {"capture_table": CaptureTable.V0_SEQS}, v1=False),
    _Change((0, 6, 0), {"batch_table": BatchTable.V0_512_FLOORS}, v1=False),
    _Change((0, 5, 0), {"mla_block_forced": True}),
    _Change((0, 6, 4), {"profile": ProfileRule.V1_ALL_NON_TORCH}, v1=False),
    _Change((0, 6, 4), {"batch_table": BatchTable.V0_2048}, v1=False),
    _Change((0, 6, 5), {"profile": ProfileRule.V0_PARTS}, v1=False),
    # V1
    _Change(
        (0, 6, 5),
        {
            "v1": True,
            "profile": ProfileRule.V1_ALL_NON_TORCH,
            "token_figure": TokenFigure.GROUP_BLOCKS,
            "fit_check": FitCheck.SUM_OF_LAYERS,
            "chunked_prefill_default": True,
            "swap_space": False,
            "batch_table": BatchTable.FLAT,
            "capture_table": CaptureTable.EVERY_8,
            "graph_mode": "PIECEWISE",
            "sampler_profiled": False,
        },
        v1=True,
    ),
    _Change((0, 7, 0), {"batch_table": BatchTable.BY_NAME_1024}, v1=True),
    _Change((0, 8, 4), {"batch_table": BatchTable.BY_NAME}, v1=True),
    _Change((0, 7, 4), {"sampler_profiled": True}, v1=True),
    _Change((0, 8, 0), {"expert_buffers": ExpertBuffers.SHARED}),
    _Change((0, 8, 5), {"batch_table": BatchTable.BY_MEMORY}, v1=True),
    _Change((0, 9, 0), {"batch_table": BatchTable.BY_MEMORY_NOT_A100}, v1=True),
    _Change(
        (0, 9, 1),
        {"profile": ProfileRule.V1_OWN, "hybrid_groups": True, "startup_memory_check": True},
        v1=True,
    ),
    _Change((0, 10, 0), {"capture_table": CaptureTable.EVERY_8_SEQS}, v1=True),
    _Change((0, 10, 2), {"kv_memory_bytes": True}, v1=True),
    _Change((0, 11, 0), {"nccl_outside_budget": True, "graph_mode": "FULL_AND_PIECEWISE"}),
    _Change((0, 10, 2), {"dummy_video_alone": True}),
    _Change((0, 11, 0), {"dummy_video_frames": 14}),
    _Change((0, 11, 1), {"capture_table": CaptureTable.EVERY_16}),
    _Change((0, 12, 0), {"padding_threshold": 1.25, "unify_page_sizes": True}),
    _Change((0, 13, 0), {"capture_table": CaptureTable.EVERY_16_QUERY}),
    _Change(
        (0, 14, 0),
        {
            "fit_check": FitCheck.FIRST_GROUP,
            "auto_fit": True,
            "async_scheduling": True,
            "expert_buffers": ExpertBuffers.KEPT,
        },
    ),
    _Change((0, 16, 0), {"async_with_pipeline": True}),
    _Change((0, 17, 0), {"sampler": SamplerPath.TRITON}),
    _Change(
        (0, 18, 0),
        {"padding_threshold": 1.5, "graph_estimate_run": True, "mla_block_forced": False},
    ),
    _Change((0, 19, 0), {"fit_check": FitCheck.ALL_GROUPS}),
    _Change((0, 20, 0), {"utilization_default": 0.92, "graph_in_budget": True}),
    _Change(
        (0, 21, 0),
        {
            "token_figure": TokenFigure.CONCURRENCY,
            "sampler": SamplerPath.FLASHINFER,
            "override_in_fit_check": True,
        },
    ),
    _Change((0, 22, 0), {"runner_v2": RunnerV2.PLAIN_QWEN3}),
    _Change((0, 24, 0), {"runner_v2": RunnerV2.LISTED}),
    _Change((0, 24, 0), {"pad_pages_to_largest": True}),
    _Change(
        (0, 26, 0),
        {
            "runner_v2": RunnerV2.DENSE,
            "runner_v2_logit_bytes": 0,
            "window_in_flight": True,
            "pad_mamba_pages": True,
        },
    ),
    _Change((0, 27, 0), {"profile": ProfileRule.V1_DEVICE_DELTA}),
    _Change((0, 28, 0), {"hybrid_prefix_caching": True, "batch_table": BatchTable.BY_MEMORY_160}),
    _Change((0, 28, 0), {"capture_table": CaptureTable.EVERY_16_BLACKWELL}),
    _Change((0, 29, 0), {"null_block_in_fit_check": True, "runner_v2_tries_graphs": True}),
    _Change((0, 30, 0), {"runner_v2": RunnerV2.ALWAYS}),
    _Change(
        (0, 32, 0),
        {
            "mamba_checkpoint_blocks": 1,
            "runner_v2_logit_bytes": 12,
        },
    ),
    # KV planning
    _Change((0, 8, 0), {"uneven_stages_in_middle": True}),
    _Change(
        (0, 11, 0),
        {
            "mixed_pages_in_group": True,
            "stages_count_mixed_group_whole": True,
            "sparse_auto_packed": True,
        },
    ),
    _Change(
        (0, 12, 0),
        {
            "full_value_width": True,
            "kv_dtype_from_checkpoint": True,
            "hybrid_block": HybridBlock.BY_KIND,
            "state_blocks": StateBlocks.EVERY_BLOCK,
            "pcp_splits_positions": True,
            "cross_counts_batch": True,
        },
    ),
    _Change((0, 13, 0), {"sparse_auto_packed": False}),
    _Change((0, 14, 0), {"fit_check_whole_model": True}),
    _Change((0, 15, 0), {"state_blocks": StateBlocks.ALL_OR_ALIGN}),
    _Change((0, 18, 0), {"fit_check_whole_model": False, "stages_count_mixed_group_whole": False}),
    _Change(
        (0, 20, 0),
        {"window_value_width": True, "hybrid_block": HybridBlock.KERNEL, "layer_tuples": True},
    ),
    _Change((0, 21, 0), {"pcp_splits_positions": False}),
    _Change((0, 26, 0), {"window_own_block": True}),
    _Change((0, 28, 0), {"state_blocks": StateBlocks.ALIGN}),
    _Change((0, 30, 0), {"hybrid_mla_block_128": True}),
    _Change((0, 29, 0), {"capture_table": CaptureTable.EVERY_16_UNIFORM}),
    _Change(
        (0, 32, 0),
        {"packed_pages": True, "window_promotion_shares_block": True, "layer_tuples": False},
    ),
    # Weights
    _Change((0, 6, 2), {"machete": True}),
    _Change((0, 11, 0), {"jamba_mlp_as_expert": False, "bnb_cuts_stored": True}),
    _Change(
        (0, 12, 0), {"lora_experts": True, "lora_extra_vocabulary": 0, "mla_probe_allocates": True}
    ),
    _Change((0, 14, 0), {"turing_fp8": True}),
    _Change((0, 32, 0), {"modelopt_ampere": True, "mxfp4_trtllm_128": True}),
    _Change((0, 9, 0), {"bnb_unfolds_scales": True}),
    _Change((0, 18, 0), {"mxfp4_pads_values": True}),
    _Change((0, 21, 0), {"load_split_mib": 20}),
    _Change(
        (0, 26, 0),
        {
            "mxfp4_pads_values": False,
            "mxfp4_keeps_scales": False,
            "mla_probe_allocates": False,
        },
    ),
)


@cache
def rules_at(release: Release, *, v1: bool) -> Rules:
    """The rules of a release for one engine generation; `release` must be a known family."""
    values: dict[str, Any] = {"family": f"{release[0]}.{release[1]}"}
    for change in _CHANGES:
        if change.since <= release and change.v1 in (None, v1):
            values.update(change.values)
    return replace(_FIRST, **values)


def runs_v1_by_default(release: Release) -> bool:
    """Whether the release starts the V1 engine when nothing speaks against it."""
    return release >= _V1_DEFAULT


def has_both_generations(release: Release) -> bool:
    """Whether the release can run either engine generation."""
    return _V1_EXISTS <= release < _V0_GONE


def rules_for(version: str | None) -> VersionMatch:
    """The rules of a version string: ``0.19.1``, ``v0.11.0``, ``0.8.5.post1``, ``nightly``.

    A missing or moving version means the newest known one, and a newer version is given the newest
    known rules; both are said in the note.

    Raises:
        UnknownName: the text is not a vLLM version or the family is too old to be known.
    """
    if version is None:
        return _newest("", "No engine version is given; the newest known rules are used")
    text = version.strip()
    word = text.casefold().split("-")[0].split("_")[0]
    if word in _MOVING:
        return _newest("", f"{text!r} moves with time; the newest known rules are used")
    match = _VERSION.match(text)
    if match is None:
        raise UnknownName(
            "vLLM version", text, FAMILIES, hint="Give a release such as 0.19.0 or v0.11.0."
        )
    major, minor = int(match["major"]), int(match["minor"])
    patch = int(match["patch"]) if match["patch"] is not None else _ANY_PATCH
    if (major, minor) > (0, NEWEST_MINOR):
        return _newest(text, f"vLLM {text} is newer than any known version")
    if minor < OLDEST_MINOR:
        raise BadInput(
            f"vLLM {text} is older than any known version; known are {FAMILIES[0]} to "
            f"{FAMILIES[-1]}."
        )
    release = (major, minor, patch)
    note = ""
    if match["between"]:
        note = (
            f"vLLM {text} is a build between releases; the rules of {major}.{minor} are used, and "
            "some of the next release may already hold."
        )
    return VersionMatch(text, release, rules_at(release, v1=runs_v1_by_default(release)), note)


def _newest(version: str, reason: str) -> VersionMatch:
    release = (0, NEWEST_MINOR, _ANY_PATCH)
    note = f"{reason} ({FAMILIES[-1]})."
    return VersionMatch(version or FAMILIES[-1], release, rules_at(release, v1=True), note)
