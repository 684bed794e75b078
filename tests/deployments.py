"""vLLM deployments for tests, written out field by field so that no default is borrowed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from vramledger.engine.kv import KvLayout
from vramledger.engine.launch import Launch, Usage
from vramledger.engine.setting import Layout, Origin, Setting
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.kv.layout import layout_for
from vramledger.engine.vllm.versions import rules_for
from vramledger.evidence import Basis, Figure
from vramledger.hardware.accelerator import Accelerator, Vendor
from vramledger.hardware.cpu import cpu_host
from vramledger.model.cache import (
    CacheLayer,
    CacheSpec,
    FullAttention,
    LatentAttention,
    SlidingAttention,
)
from vramledger.model.dtype import DType
from vramledger.model.model import Model, ModelKind, TextShape


def gpu(total_gib: float, major: int = 9, minor: int = 0) -> Accelerator:
    """An NVIDIA card of that compute capability."""
    return Accelerator(
        name="test card",
        vendor=Vendor.NVIDIA,
        architecture="Hopper",
        compute_capability=(major, minor),
        nominal_gb=total_gib,
        total=Figure.sharp(total_gib, Basis.ASSUMED, "test"),
    )


H100 = gpu(79.19)
CPU = cpu_host(Figure.sharp(24.0, Basis.ASSUMED, "test"), frozenset({"BF16"}))


def model_of(
    caches: Sequence[CacheSpec],
    *,
    dtype: DType = DType.BFLOAT16,
    max_positions: int = 131072,
    model_type: str = "test",
    head_dim: int = 128,
) -> Model:
    """A model that is nothing but its caches, one a layer."""
    return Model(
        id="test/model",
        architecture="TestForCausalLM",
        model_type=model_type,
        kind=ModelKind.DECODER,
        dtype=dtype,
        text=TextShape(
            hidden=64,
            layers=len(caches),
            heads=8,
            kv_heads=8,
            head_dim=head_dim,
            intermediate=64,
            vocab=1000,
            max_positions=max_positions,
        ),
        tensors=(),
        cache_layers=tuple(CacheLayer(i, spec) for i, spec in enumerate(caches)),
        tied_embeddings=False,
    )


def full(layers: int, heads: int, width: int) -> list[CacheSpec]:
    return [FullAttention(heads, width, width)] * layers


def alternating(
    layers: int, heads: int, width: int, window: int, every: int = 2
) -> list[CacheSpec]:
    """Sliding layers with a full one at the end of every `every`."""
    whole = FullAttention(heads, width, width)
    sliding = SlidingAttention(heads, width, width, window)
    return [whole if i % every == every - 1 else sliding for i in range(layers)]


def latent(layers: int, indexer: int = 0) -> list[CacheSpec]:
    return [LatentAttention(512, 64, indexer)] * layers


@dataclass(frozen=True)
class Settings:
    """What a test may say about a deployment; everything else is vLLM's plainest value."""

    version: str = "0.19.0"
    tp: int = 1
    pp: int = 1
    dcp: int = 1
    pcp: int = 1
    max_model_len: int | None = 8192
    max_num_batched_tokens: int = 8192
    max_num_seqs: int = 1024
    kv_cache_dtype: str = "auto"
    block_size: int | None = None
    prefix_caching: bool = True
    asynchronous: bool = True
    disable_hybrid: bool = False
    override: int | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)


def _captured(settings: Settings) -> tuple[int, ...]:
    """1, 2, 4, every 8 up to 256 and every 16 from there, at most 512."""
    top = min(2 * settings.max_num_seqs, settings.max_num_batched_tokens, 512)
    sizes = (1, 2, 4, *range(8, 256, 8), *range(256, 513, 16))
    return tuple(size for size in sizes if size <= top)


def deployment_of(model: Model, settings: Settings, accelerator: Accelerator = H100) -> Deployment:
    """A deployment of that model with those settings."""
    match = rules_for(settings.version)
    default = Origin.DEFAULT
    made = Deployment(
        launch=Launch("vllm", model.id),
        version=match.version,
        version_note=match.note,
        rules=match.rules,
        model=model,
        accelerator=accelerator,
        layout=Layout(settings.tp, settings.pp, dcp=settings.dcp, pcp=settings.pcp),
        usage=Usage.SERVE,
        dtype=Setting(model.dtype),
        gpu_memory_utilization=Setting(0.9),
        kv_cache_memory_bytes=Setting(None),
        num_gpu_blocks_override=Setting(settings.override),
        max_model_len=Setting(settings.max_model_len),
        max_num_seqs=Setting(settings.max_num_seqs),
        max_num_batched_tokens=Setting(settings.max_num_batched_tokens),
        block_size=Setting(settings.block_size),
        kv_cache_dtype=Setting(settings.kv_cache_dtype),
        kv_cache_skip_layers=(),
        enforce_eager=Setting(False),
        enable_prefix_caching=Setting(settings.prefix_caching),
        enable_chunked_prefill=Setting(True),
        async_scheduling=Setting(settings.asynchronous),
        disable_hybrid_kv_cache_manager=Setting(settings.disable_hybrid),
        cudagraph_capture_sizes=Setting(_captured(settings)),
        cudagraph_mode=match.rules.graph_mode,
        quantization=Setting(None),
        cpu_offload_gib=Setting(0.0, default),
        swap_space_gib=Setting(0.0),
        kv_offloading_gib=Setting(0.0),
        mamba_cache_dtype=Setting("auto"),
        mamba_ssm_cache_dtype=Setting("auto"),
        mamba_block_size=Setting(None),
        limit_mm_per_prompt={},
        skip_mm_profiling=Setting(False),
        lora=None,
        speculation=None,
        attention_backend=Setting(None),
        estimate_cuda_graphs=False,
        environment=settings.environment,
    )
    return replace(made, **settings.fields)


def layout_of(
    caches: list[CacheSpec], settings: Settings | None = None, accelerator: Accelerator = H100
) -> KvLayout:
    """The cache layout of a model that is nothing but these caches."""
    return layout_for(deployment_of(model_of(caches), settings or Settings(), accelerator))
