"""In which release each rule took its value, read in vLLM's own sources of 0.4.2 to 0.33.0."""

from typing import Any, Final

from vramledger.engine.vllm.rules import (
    BatchTable,
    CaptureTable,
    ExpertBuffers,
    FitCheck,
    HybridBlock,
    ProfileRule,
    Release,
    Rules,
    RunnerV2,
    SamplerPath,
    StateBlocks,
    TokenFigure,
    WindowAdmission,
)
from vramledger.frozen import frozen


@frozen
class Change:
    """Rules that hold from a release on, for one generation or (None) for both."""

    since: Release
    values: dict[str, Any]
    v1: bool | None = None


FIRST: Final = Rules(
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

CHANGES: Final = (
    # both generations: the model's configuration
    Change((0, 9, 1), {"bfloat16_for_float32": True, "falls_back_to_float16": True}),
    Change((0, 11, 1), {"longrope_starts_short": True}),
    Change((0, 16, 0), {"backend_from_environment": False}),
    # V0
    Change((0, 5, 4), {"chunked_prefill_by_length": True}, v1=False),
    Change((0, 6, 0), {"capture_table": CaptureTable.V0_SEQS}, v1=False),
    Change((0, 6, 0), {"batch_table": BatchTable.V0_512_FLOORS}, v1=False),
    Change((0, 5, 0), {"mla_block_forced": True}),
    Change((0, 6, 4), {"profile": ProfileRule.V1_ALL_NON_TORCH}, v1=False),
    Change((0, 6, 4), {"batch_table": BatchTable.V0_2048}, v1=False),
    Change((0, 6, 5), {"profile": ProfileRule.V0_PARTS}, v1=False),
    # V1
    Change(
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
    Change((0, 7, 0), {"batch_table": BatchTable.BY_NAME_1024}, v1=True),
    Change((0, 8, 4), {"batch_table": BatchTable.BY_NAME}, v1=True),
    Change((0, 7, 4), {"sampler_profiled": True}, v1=True),
    Change((0, 8, 0), {"expert_buffers": ExpertBuffers.SHARED}),
    Change((0, 8, 5), {"batch_table": BatchTable.BY_MEMORY}, v1=True),
    Change((0, 9, 0), {"batch_table": BatchTable.BY_MEMORY_NOT_A100}, v1=True),
    Change(
        (0, 9, 1),
        {"profile": ProfileRule.V1_OWN, "hybrid_groups": True, "startup_memory_check": True},
        v1=True,
    ),
    Change((0, 10, 0), {"capture_table": CaptureTable.EVERY_8_SEQS}, v1=True),
    Change((0, 10, 2), {"kv_memory_bytes": True}, v1=True),
    Change((0, 11, 0), {"nccl_outside_budget": True, "graph_mode": "FULL_AND_PIECEWISE"}),
    Change((0, 10, 2), {"dummy_video_alone": True}),
    Change((0, 11, 0), {"dummy_video_frames": 14}),
    Change((0, 11, 1), {"capture_table": CaptureTable.EVERY_16}),
    Change((0, 12, 0), {"padding_threshold": 1.25, "unify_page_sizes": True}),
    Change((0, 13, 0), {"capture_table": CaptureTable.EVERY_16_QUERY}),
    Change(
        (0, 14, 0),
        {
            "fit_check": FitCheck.FIRST_GROUP,
            "auto_fit": True,
            "async_scheduling": True,
            "expert_buffers": ExpertBuffers.KEPT,
        },
    ),
    Change((0, 16, 0), {"async_with_pipeline": True}),
    Change((0, 17, 0), {"sampler": SamplerPath.TRITON}),
    Change(
        (0, 18, 0),
        {"padding_threshold": 1.5, "graph_estimate_run": True, "mla_block_forced": False},
    ),
    Change((0, 19, 0), {"fit_check": FitCheck.ALL_GROUPS}),
    Change((0, 20, 0), {"utilization_default": 0.92, "graph_in_budget": True}),
    Change(
        (0, 21, 0),
        {
            "token_figure": TokenFigure.CONCURRENCY,
            "sampler": SamplerPath.FLASHINFER,
            "override_in_fit_check": True,
        },
    ),
    Change((0, 22, 0), {"runner_v2": RunnerV2.PLAIN_QWEN3}),
    Change((0, 24, 0), {"runner_v2": RunnerV2.LISTED}),
    Change((0, 24, 0), {"pad_pages_to_largest": True}),
    Change(
        (0, 26, 0),
        {
            "runner_v2": RunnerV2.DENSE,
            "runner_v2_logit_bytes": 0,
            "window_in_flight": True,
            "pad_mamba_pages": True,
        },
    ),
    Change((0, 27, 0), {"profile": ProfileRule.V1_DEVICE_DELTA}),
    Change((0, 28, 0), {"hybrid_prefix_caching": True, "batch_table": BatchTable.BY_MEMORY_160}),
    Change((0, 28, 0), {"capture_table": CaptureTable.EVERY_16_BLACKWELL}),
    Change((0, 29, 0), {"null_block_in_fit_check": True, "runner_v2_tries_graphs": True}),
    Change((0, 30, 0), {"runner_v2": RunnerV2.ALWAYS}),
    Change(
        (0, 32, 0),
        {
            "mamba_checkpoint_blocks": 1,
            "runner_v2_logit_bytes": 12,
        },
    ),
    # KV planning
    Change((0, 8, 0), {"uneven_stages_in_middle": True}),
    Change((0, 10, 0), {"chunked_specs": True}, v1=True),
    Change(
        (0, 11, 0),
        {
            "mixed_pages_in_group": True,
            "stages_count_mixed_group_whole": True,
            "sparse_auto_packed": True,
        },
    ),
    Change(
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
    Change((0, 13, 0), {"sparse_auto_packed": False}),
    Change((0, 14, 0), {"fit_check_whole_model": True}),
    Change((0, 15, 0), {"state_blocks": StateBlocks.ALL_OR_ALIGN}),
    Change((0, 18, 0), {"fit_check_whole_model": False, "stages_count_mixed_group_whole": False}),
    Change(
        (0, 20, 0),
        {"window_value_width": True, "hybrid_block": HybridBlock.KERNEL, "layer_tuples": True},
    ),
    Change((0, 21, 0), {"pcp_splits_positions": False}),
    Change((0, 26, 0), {"window_own_block": True}),
    Change((0, 28, 0), {"state_blocks": StateBlocks.ALIGN}),
    Change((0, 30, 0), {"hybrid_mla_block_128": True}),
    Change((0, 29, 0), {"capture_table": CaptureTable.EVERY_16_UNIFORM}),
    Change(
        (0, 32, 0),
        {"packed_pages": True, "window_promotion_shares_block": True, "layer_tuples": False},
    ),
    # Weights
    Change((0, 6, 2), {"machete": True}),
    Change((0, 11, 0), {"jamba_mlp_as_expert": False, "bnb_cuts_stored": True}),
    Change(
        (0, 12, 0), {"lora_experts": True, "lora_extra_vocabulary": 0, "mla_probe_allocates": True}
    ),
    Change((0, 14, 0), {"turing_fp8": True}),
    Change((0, 32, 0), {"modelopt_ampere": True, "mxfp4_trtllm_128": True}),
    Change((0, 9, 0), {"bnb_unfolds_scales": True}),
    Change((0, 18, 0), {"mxfp4_pads_values": True}),
    Change((0, 21, 0), {"load_split_mib": 20}),
    Change(
        (0, 26, 0),
        {
            "mxfp4_pads_values": False,
            "mxfp4_keeps_scales": False,
            "mla_probe_allocates": False,
        },
    ),
    # the scheduler
    Change((0, 19, 0), {"whole_prompt_admission": True}),
    Change((0, 20, 0), {"window_admission": WindowAdmission.ALWAYS}),
    Change((0, 21, 0), {"window_admission": WindowAdmission.AT_ADMISSION}),
    Change((0, 24, 0), {"uncached_blocks_first": True, "lookahead_at_admission": True}),
    Change((0, 32, 0), {"lone_prefill_uncapped": True}),
    Change((0, 33, 0), {"own_preemption_ends_running": False}),
)
