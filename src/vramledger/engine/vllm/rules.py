"""What differs between vLLM versions, as one record per version family.

Every field is a rule that changes memory or a printed figure. `versions` and `rule_history` are the only
places that know version numbers; everything else asks for the rule by name.
"""

from enum import StrEnum

from vramledger.frozen import frozen

Release = tuple[int, int, int]


class TokenFigure(StrEnum):
    """What the logged "KV cache size" counts."""

    BLOCKS = "blocks x block size"  # V0
    GROUP_BLOCKS = "blocks // groups x smallest block size"  # V1 up to 0.20
    CONCURRENCY = "concurrency x max_model_len"  # from 0.21


class FitCheck(StrEnum):
    """How many blocks one full-length request is checked for at start."""

    V0_TOKENS = "max_model_len against blocks x block size"
    SUM_OF_LAYERS = "bytes summed over layers, no group padding"  # V1 up to 0.13
    FIRST_GROUP = "the first group's blocks only"  # 0.14 to 0.18
    ALL_GROUPS = "blocks of all groups"  # from 0.19


class SamplerPath(StrEnum):
    """Which kernel picks tokens while profiling; decides the logits work space."""

    SORT = "PyTorch sort"  # up to 0.16
    TRITON = "Triton top-k/top-p"  # 0.17 to 0.20
    FLASHINFER = "FlashInfer"  # from 0.21 on GPUs it supports


class ExpertBuffers(StrEnum):
    """Work space of fused expert kernels."""

    THREE = "three buffers of one pass"  # up to 0.7
    SHARED = "two buffers of one pass, the first used twice"  # 0.8 to 0.13
    KEPT = "two buffers that outlive the pass"  # from 0.14


class RunnerV2(StrEnum):
    """Which models the second model runner serves unless an environment variable says otherwise."""

    NEVER = "never"  # up to 0.21
    PLAIN_QWEN3 = "unquantised Qwen3"  # 0.22 to 0.23
    LISTED = "a short list of classes"  # 0.24 to 0.25
    DENSE = "models without experts or recurrent state, and a list of others"  # 0.26 to 0.29
    ALWAYS = "every model"  # from 0.30


class ProfileRule(StrEnum):
    """What the engine subtracts from the budget before the KV pool."""

    V0_DEVICE = "peak device use"  # V0 up to 0.6.3
    V0_PARTS = "weights + torch peak + non-torch (V0)"  # V0 from 0.6.5
    V1_ALL_NON_TORCH = "torch peak + every non-torch byte on the GPU"  # V0 0.6.4 and V1 up to 0.9.0
    V1_OWN = "weights + torch peak + own non-torch"  # 0.9.1 to 0.26
    V1_DEVICE_DELTA = "device delta + transient peak"  # from 0.27


class BatchTable(StrEnum):
    """How ``max_num_seqs`` and ``max_num_batched_tokens`` default."""

    V0_512 = "256 sequences; max_model_len, or 512 tokens with chunked prefill"  # up to 0.5.5
    V0_512_FLOORS = "as before, more for pooling and multimodal models"  # 0.6.0 to 0.6.3
    V0_2048 = "as before, 2048 tokens with chunked prefill"  # V0 from 0.6.4
    FLAT = "256 sequences, by usage only"  # V1 0.6
    BY_NAME_1024 = "1024 sequences, larger batches on H100 and H200"  # V1 0.7.0 to 0.8.3
    BY_NAME = "larger batches and 1024 sequences on H100 and H200"  # 0.8.4
    BY_MEMORY = "larger batches and 1024 sequences from 70 GiB"  # 0.8.5
    BY_MEMORY_NOT_A100 = "as before, A100 left out"  # 0.9.0 to 0.27
    BY_MEMORY_160 = "as before, and 16384 tokens from 160 GiB"  # 0.28 on


class HybridBlock(StrEnum):
    """How attention blocks of Mamba hybrids are aligned before they are enlarged."""

    SIXTEEN = "always 16"  # up to 0.11
    BY_KIND = "16, 64 for MLA, 128 for CUTLASS MLA, 32 for 256-wide heads on SM100"  # 0.12 to 0.19
    KERNEL = "the kernel's smallest block, at least the block size"  # 0.20 on


class StateBlocks(StrEnum):
    """How many state blocks a request is counted for with prefix caching on."""

    ONE = "one; prefix caching is off for these models"  # up to 0.11
    EVERY_BLOCK = "one for each block where the class declares it, else one"  # 0.12 to 0.14
    ALL_OR_ALIGN = "one for each block where declared, else two"  # 0.15 to 0.27
    ALIGN = "two and checkpoints"  # 0.28 on


class WindowAdmission(StrEnum):
    """How many blocks a sliding-window group asks for when a whole prompt must fit."""

    WHOLE = "the whole prompt's"  # 0.19
    ALWAYS = "its most, for running requests too"  # 0.20
    AT_ADMISSION = "its most"  # from 0.21


class CaptureTable(StrEnum):
    """Batch sizes for which CUDA graphs are captured by default."""

    V0_256 = "1, 2, 4, then every 8 up to max_num_seqs, at most 256"  # up to 0.5.5
    V0_SEQS = "1, 2, 4, then every 8 up to max_num_seqs"  # V0 from 0.6.0
    EVERY_8 = "1, 2, 4, then every 8 up to 512"  # V1 up to 0.9.2
    EVERY_8_SEQS = "as before, up to twice max_num_seqs"  # 0.10.0 to 0.11.0
    EVERY_16 = "every 16 from 256, up to twice max_num_seqs, at most 512"  # 0.11.1 to 0.12
    EVERY_16_QUERY = "as before, max_num_seqs times tokens a decode step"  # from 0.13
    EVERY_16_BLACKWELL = "as before, at most 1024 on data-centre Blackwell"  # 0.28
    EVERY_16_UNIFORM = "as before, and full decode batches exactly"  # from 0.29


@frozen
class Rules:
    """The rules of one version family (see the fields' comments for units)."""

    family: str  # "0.19"
    v1: bool  # the engine generation these rules are for
    utilization_default: float
    profile: ProfileRule
    token_figure: TokenFigure
    fit_check: FitCheck
    null_block_in_fit_check: bool
    padding_threshold: (
        float | None
    )  # group size = max bucket if max < threshold * min; None: always min
    hybrid_groups: bool  # the hybrid KV cache manager exists (0.9.1 on)
    unify_page_sizes: bool  # smaller pages get more tokens per block (0.12 on)
    pad_pages_to_largest: bool  # indivisible attention pages are padded (0.24 on)
    window_in_flight: bool  # window reservation counts batches in flight (0.26 on)
    graph_estimate_run: bool  # the graph trial runs (0.18 on)
    graph_in_budget: bool  # the graph estimate is deducted by default (0.20 on)
    sampler: SamplerPath
    nccl_outside_budget: bool  # distributed init precedes the baseline (0.11 on)
    async_scheduling: bool  # on by default (0.14 on)
    chunked_prefill_default: bool  # always on (V1), else by length
    hybrid_prefix_caching: bool  # prefix caching on by default for Mamba hybrids (0.28 on)
    kv_memory_bytes: bool  # --kv-cache-memory-bytes exists (0.10.2 on)
    auto_fit: bool  # --max-model-len auto (0.14 on)
    swap_space: bool  # still acted on (V0)
    override_in_fit_check: bool  # 0.21 on
    batch_table: BatchTable
    mamba_checkpoint_blocks: (
        int  # extra state blocks per request in "align" mode for Mamba-2 (0.32: 1)
    )
    sampler_profiled: bool = True  # the profile run samples (V1 0.7: logits only)
    expert_buffers: ExpertBuffers = ExpertBuffers.THREE
    runner_v2: RunnerV2 = RunnerV2.NEVER
    runner_v2_logit_bytes: int = 4  # per logit, that its profile holds beside the logits
    runner_v2_tries_graphs: bool = False  # it estimates graph memory by a trial too (0.29 on)
    pad_mamba_pages: bool = False  # a Mamba page smaller than the largest is padded (0.26 on)
    mla_block_forced: bool = False  # the MLA backend overrides --block-size (up to 0.17)
    startup_memory_check: bool = False  # refuses to start when less than the budget is free (0.9.1)
    dummy_video_frames: int = 16  # most frames of the video that Qwen-VL is profiled with
    dummy_video_alone: bool = False  # which may fill a prompt, else beside an image (0.10.2 on)
    mixed_pages_in_group: bool = False  # one group may hold layers of unequal pages (0.11 on)
    chunked_specs: bool = False  # chunked local attention is planned as such, else full (0.10.0 on)
    full_value_width: bool = False  # full-attention pages know the value width (0.12 on)
    window_value_width: bool = False  # sliding-window pages know it too (0.20 on)
    window_own_block: bool = False  # window layers choose their own block size (0.26 on)
    kv_dtype_from_checkpoint: bool = False  # "auto" follows a declared KV type (0.12 on)
    sparse_auto_packed: bool = False  # "auto" means fp8_ds_mla for sparse MLA (0.11 to 0.12)
    hybrid_block: HybridBlock = HybridBlock.SIXTEEN
    hybrid_mla_block_128: bool = False  # blocks of MLA hybrids are a multiple of 128 (0.30 on)
    state_blocks: StateBlocks = StateBlocks.ONE
    packed_pages: bool = False  # block-outermost layouts pack unequal pages (0.32 on)
    uneven_stages_in_middle: bool = False  # layers left over go to middle stages (0.8 on)
    pcp_splits_positions: bool = (
        False  # prefill context parallelism splits the cache (0.12 to 0.20)
    )
    capture_table: CaptureTable = CaptureTable.V0_256
    graph_mode: str = "FULL"  # graphs captured by default, in vLLM's own words
    bfloat16_for_float32: bool = False  # "auto" turns float32 weights into bfloat16 (0.9.1 on)
    falls_back_to_float16: bool = False  # "auto" avoids bfloat16 where the GPU lacks it (0.9.1 on)
    longrope_starts_short: bool = False  # LongRoPE defaults to the original length (0.11.1 on)
    async_with_pipeline: bool = False  # asynchronous scheduling stays on with stages (0.16 on)
    chunked_prefill_by_length: bool = False  # V0 turns it on above 32768 tokens (0.5.4 on)
    backend_from_environment: bool = True  # VLLM_ATTENTION_BACKEND is read (up to 0.15)
    load_split_mib: int = 0  # blocks of this size are not split while loading (20 from 0.21)
    mxfp4_pads_values: bool = False  # Triton pads MXFP4 values to 64 x 64 bytes (0.18 to 0.25)
    mxfp4_keeps_scales: bool = True  # and leaves the first scales in memory (up to 0.25)
    bnb_unfolds_scales: bool = False  # doubly quantised scales become float32 (0.9 on)
    fit_check_whole_model: bool = False  # a stage is checked against every stage's layers (0.14)
    window_promotion_shares_block: bool = (
        False  # windows kept whole take full attention's block (0.32)
    )
    layer_tuples: bool = False  # DeepSeek-V4 pages padded to each other (0.20 to 0.31)
    machete: bool = False  # Hopper runs GPTQ on Machete, which keeps zeros and index (0.6.2 on)
    jamba_mlp_as_expert: bool = True  # Jamba's dense MLPs are mixtures of one expert (up to 0.10)
    turing_fp8: bool = False  # FP8 and NVFP4 weights run on capability 7.5 (0.14 on)
    bnb_cuts_stored: bool = False  # stored bitsandbytes weights may be cut over ranks (0.11 on)
    modelopt_ampere: bool = False  # ModelOpt FP8 weights run on capability 8.0 (0.32 on)
    lora_experts: bool = False  # adapters reach fused experts (0.12 on)
    lora_extra_vocabulary: int = 256  # tokens an adapter may add (up to 0.11)
    mla_probe_allocates: bool = False  # choosing an MLA back end allocates 128 MiB (0.12 to 0.25)
    mxfp4_trtllm_128: bool = False  # TRT-LLM rounds an expert's width to 128, not 256 (0.32 on)
    cross_counts_batch: bool = False  # cross attention is counted for a whole batch (0.12 on)
    stages_count_mixed_group_whole: bool = (
        False  # a stage pays for every stage's layers (0.11 to 0.17)
    )
    whole_prompt_admission: bool = False  # a prompt starts when all of it fits (0.19 on)
    window_admission: WindowAdmission = WindowAdmission.WHOLE
    uncached_blocks_first: bool = False  # free blocks without a prefix go out first (0.24 on)
    lookahead_at_admission: bool = False  # drafts' slots are taken at admission too (0.24 on)
    lone_prefill_uncapped: bool = False  # the long-prefill cap spares a lone request (0.32 on)
    own_preemption_ends_running: bool = True  # by priority, nobody behind it runs (up to 0.32)
