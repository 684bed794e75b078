"""What differs between vLLM versions, as one record per version family.

Every field is a rule that changes memory or a printed figure. `rules_for` is the only place that
knows version numbers; everything else asks for the rule by name.
"""

from dataclasses import dataclass
from enum import StrEnum


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


class ProfileRule(StrEnum):
    """What the engine subtracts from the budget before the KV pool."""

    V0_DEVICE = "peak device use"  # V0 up to 0.5.5
    V0_PARTS = "weights + torch peak + non-torch (V0)"
    V1_ALL_NON_TORCH = "torch peak + every non-torch byte on the GPU"  # V1 0.7 to 0.9
    V1_OWN = "weights + torch peak + own non-torch"  # 0.10 to 0.26
    V1_DEVICE_DELTA = "device delta + transient peak"  # from 0.27


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one version family (see the fields' comments for units)."""

    family: str  # "0.19"
    v1: bool  # engine generation the version uses by default
    utilization_default: float
    profile: ProfileRule
    token_figure: TokenFigure
    fit_check: FitCheck
    null_block_in_fit_check: bool
    padding_threshold: (
        float | None
    )  # group size = max bucket if max < threshold * min; None: always min
    hybrid_groups: bool  # the hybrid KV cache manager exists (0.10.0 on)
    unify_page_sizes: bool  # smaller pages get more tokens per block (0.12 on)
    pad_pages_to_largest: bool  # indivisible pages are padded (0.26 on)
    window_in_flight: bool  # window reservation counts batches in flight (0.26 on)
    graph_estimate_run: bool  # the graph trial runs (0.18 on)
    graph_in_budget: bool  # the graph estimate is deducted by default (0.20 on)
    sampler: SamplerPath
    nccl_outside_budget: bool  # distributed init precedes the baseline (0.11 on)
    async_scheduling: bool  # on by default (0.14 on)
    chunked_prefill_default: bool  # always on (V1), else by length
    hybrid_prefix_caching: bool  # prefix caching on by default for Mamba hybrids (0.30 on)
    kv_memory_bytes: bool  # --kv-cache-memory-bytes exists (0.10.2 on)
    auto_fit: bool  # --max-model-len auto (0.14 on)
    swap_space: bool  # still acted on (V0)
    override_in_fit_check: bool  # 0.21 on
    batch_rows_160: bool  # the >= 160 GiB row of batch defaults exists (0.30 on)
    batch_a100_split: bool  # the >= 70 GiB row exists (0.8.5 on)
    mamba_checkpoint_blocks: (
        int  # extra state blocks per request in "align" mode for Mamba-2 (0.32: 1)
    )
