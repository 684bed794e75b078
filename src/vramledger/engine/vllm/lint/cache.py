"""Settings of the KV cache that cancel each other or surprise."""

from typing import Final

from vramledger.engine.finding import Severity
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.lint.rule import Rule, values_of
from vramledger.engine.vllm.model_traits import traits_of
from vramledger.hardware.accelerator import Vendor

_PACKED: Final = ("turboquant", "ultraquant", "octave")
_FLOATS: Final = ("float16", "bfloat16")
_ESTIMATE: Final = "VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS"
_HIGH_UTILIZATION: Final = 0.9
_KERNEL_BLOCK: Final = 16


def _graphs_unaccounted(d: Deployment) -> str | None:
    off = values_of(d).environment_switch(_ESTIMATE) is False
    high = d.gpu_memory_utilization.value >= _HIGH_UTILIZATION
    if not off or not high or d.cudagraph_mode == "NONE" or not d.rules.graph_in_budget:
        return None
    return (
        f"{_ESTIMATE}=0 leaves CUDA graphs outside the budget, and utilization "
        f"{d.gpu_memory_utilization.value:g} leaves them little of the card: capture can run out "
        "of memory."
    )


def _blocks_override(d: Deployment) -> str | None:
    blocks = d.num_gpu_blocks_override.value
    if blocks is None:
        return None
    return (
        f"--num-gpu-blocks-override {blocks} replaces the measured size of the KV cache: it may "
        "not fit, or leave memory idle. It is meant for tests."
    )


def _nvfp4_latent(d: Deployment) -> str | None:
    name = d.kv_cache_dtype.value
    if not name.startswith("nvfp4") or name.endswith("_ds_mla") or not traits_of(d.model).mla:
        return None
    return (
        f"kv_cache_dtype {name} does not go with latent attention (MLA); vLLM refuses to start. "
        "Use fp8, auto or nvfp4_ds_mla."
    )


def _float_mismatch(d: Deployment) -> str | None:
    name = d.kv_cache_dtype.value
    if name not in _FLOATS or name == d.dtype.value:
        return None
    return (
        f"kv_cache_dtype {name} differs from the model's {d.dtype.value}; vLLM refuses to start. "
        "Use auto."
    )


def _packed_backend(d: Deployment) -> str | None:
    name = d.kv_cache_dtype.value
    if not name.startswith(_PACKED):
        return None
    return (
        f"kv_cache_dtype {name} forces FlashAttention 2 and keeps the first and last layers in "
        "the model's own type, so the cache shrinks by less than the name says."
    )


def _skip_layers(d: Deployment) -> str | None:
    if not d.kv_cache_skip_layers or d.kv_cache_dtype.value == "auto":
        return None
    return (
        "Layers left out of KV quantisation still share one page size: the block grows to theirs "
        "and the quantised layers are padded."
    )


def _mamba_block(d: Deployment) -> str | None:
    if d.mamba_block_size.value is None or d.enable_prefix_caching.value:
        return None
    if d.mamba_block_size.value == d.max_model_len.value:
        return None
    return "--mamba-block-size needs --enable-prefix-caching; vLLM refuses to start."


def _offload_total(d: Deployment) -> str | None:
    size = d.kv_offloading_gib.value
    if not size or d.layout.tp <= 1:
        return None
    return (
        f"--kv-offloading-size {size:g} is the sum over the {d.layout.tp} ranks of the "
        f"tensor-parallel group, {size / d.layout.tp:g} GiB each."
    )


def _offload_ignored(d: Deployment) -> str | None:
    backend = values_of(d).text("kv-offloading-backend")
    if backend != "lmcache" or not d.kv_offloading_gib.value:
        return None
    return "The lmcache offloading backend ignores --kv-offloading-size; size it in LMCache."


def _two_offloaders(d: Deployment) -> str | None:
    group = values_of(d).integer("offload-group-size", least=0)
    if not d.cpu_offload_gib.value or not group:
        return None
    return (
        "--cpu-offload-gb and --offload-group-size ask for two ways of offloading weights, and "
        "vLLM ignores one; choose with --offload-backend."
    )


def _odd_block(d: Deployment) -> str | None:
    size = d.block_size.value
    given = d.block_size.given and size is not None
    if not given or size is None or size % _KERNEL_BLOCK == 0:
        return None
    if not d.rules.v1 or d.accelerator.vendor is not Vendor.NVIDIA:
        return None
    return (
        f"block_size {size} is not a multiple of {_KERNEL_BLOCK}, which the attention kernels for "
        f"NVIDIA GPUs need; vLLM refuses to start. Leave it out or use {_KERNEL_BLOCK}."
    )


RULES: Final = (
    Rule("A17", Severity.ERROR, _odd_block, "v1/attention/backends"),
    Rule("L06", Severity.WARNING, _graphs_unaccounted, "v1/worker/gpu_worker.py", since=20),
    Rule("L15", Severity.SILENT, _blocks_override, "v1/core/kv_cache_planning.py"),
    Rule("L24", Severity.ERROR, _nvfp4_latent, "config/vllm.py", since=21),
    Rule("L25", Severity.ERROR, _float_mismatch, "config/vllm.py", since=33),
    Rule("L26", Severity.WARNING, _packed_backend, "engine/arg_utils.py", since=20),
    Rule("L27", Severity.SILENT, _skip_layers, "platforms/interface.py", since=19),
    Rule("L32", Severity.ERROR, _mamba_block, "config/vllm.py", since=11),
    Rule("L47", Severity.SILENT, _offload_ignored, "config/vllm.py", since=11),
    Rule("L48", Severity.SILENT, _offload_total, "config/cache.py", since=11),
    Rule("L49", Severity.WARNING, _two_offloaders, "config/offload.py", since=17),
)
