"""A vLLM deployment: the launch command after vLLM's own defaults for version, GPU and model."""

from collections.abc import Mapping
from dataclasses import field

from vramledger.engine.launch import Launch, Usage
from vramledger.engine.setting import Layout, Setting
from vramledger.engine.vllm.rules import Rules
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator
from vramledger.model.dtype import DType
from vramledger.model.model import Model


@frozen
class Lora:
    """Pre-allocated adapter slots."""

    max_loras: int
    max_rank: int
    max_cpu_loras: int


@frozen
class Speculation:
    """Speculative decoding; `draft` is None for methods without a draft model."""

    method: str  # "draft_model", "eagle", "eagle3", "mtp", "ngram", ...
    tokens: int
    draft: Model | None
    draft_tp: int
    draft_reference: str | None = None
    uncounted: bool = False  # a draft model is named that could not be read


@frozen
class Deployment:
    """Every value that memory depends on, each remembering whether it was given or defaulted."""

    launch: Launch
    version: str  # as given, or the newest known
    version_note: str  # how the version maps to its rules; empty when it is known as it stands
    rules: Rules
    model: Model
    accelerator: Accelerator
    layout: Layout
    usage: Usage
    dtype: Setting[DType]
    gpu_memory_utilization: Setting[float]
    kv_cache_memory_bytes: Setting[int | None]
    num_gpu_blocks_override: Setting[int | None]
    max_model_len: Setting[int | None]  # None: fit to memory (--max-model-len auto)
    max_num_seqs: Setting[int]
    max_num_batched_tokens: Setting[int]
    block_size: Setting[int | None]  # None: the attention backend's own
    kv_cache_dtype: Setting[str]
    kv_cache_skip_layers: tuple[str, ...]
    enforce_eager: Setting[bool]
    enable_prefix_caching: Setting[bool]
    enable_chunked_prefill: Setting[bool]
    async_scheduling: Setting[bool]
    disable_hybrid_kv_cache_manager: Setting[bool]
    cudagraph_capture_sizes: Setting[tuple[int, ...]]
    quantization: Setting[str | None]
    cpu_offload_gib: Setting[float]
    swap_space_gib: Setting[float]
    kv_offloading_gib: Setting[float]
    mamba_cache_dtype: Setting[str]
    mamba_ssm_cache_dtype: Setting[str]
    mamba_block_size: Setting[int | None]
    limit_mm_per_prompt: Mapping[str, int]
    skip_mm_profiling: Setting[bool]
    lora: Lora | None
    speculation: Speculation | None
    attention_backend: Setting[str | None]
    estimate_cuda_graphs: bool  # VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS after defaults
    ignored: tuple[Setting[str], ...] = ()  # arguments given without effect, `note` says why
    environment: Mapping[str, str] = field(default_factory=dict)
    derived_model_len: int = 0  # what the model's configuration allows; 0 where it does not say
    cudagraph_mode: str = ""  # "FULL_AND_PIECEWISE", "PIECEWISE", "FULL", "NONE", as vLLM says
    encoder_tokens: int = 0  # tokens the multimodal encoder may spend in one step
    executor: str = "mp"  # "uni", "mp", "ray", "external_launcher"
    kv_connector: str | None = None  # KV transfer connector, None where there is none
    neighbours_gib: float = 0.0  # held on each GPU by other processes when this engine starts
    notes: tuple[str, ...] = ()  # what was assumed or could not be known, one sentence each

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader of any figure must know: how the version maps, what was assumed or ignored."""
        ignored = tuple(setting.note for setting in self.ignored if setting.note)
        said = (self.version_note, *self.notes, *ignored)
        return tuple(dict.fromkeys(sentence for sentence in said if sentence))

    @property
    def draft_tokens(self) -> int:
        """Speculative tokens a step verifies for one sequence."""
        return self.speculation.tokens if self.speculation else 0

    @property
    def in_flight_batches(self) -> int:
        """Batches scheduled at once: pipeline stages, plus one with asynchronous scheduling."""
        if self.layout.pp > 1:
            return self.layout.pp + (1 if self.async_scheduling.value else 0)
        return 2 if self.async_scheduling.value else 1
