"""From a launch to a deployment: every default that vLLM would fill in, for version, GPU and model.

What vLLM would refuse at start is kept as given; the lint rules name it. Only values that vLLM's
argument parser itself rejects raise here.
"""

from collections.abc import Mapping
from typing import Any, Final

from vramledger.engine.launch import Launch, opening
from vramledger.engine.setting import Layout, Origin, Setting
from vramledger.engine.vllm.batching import Batch, BatchAsked, resolve_batch
from vramledger.engine.vllm.command import parse
from vramledger.engine.vllm.connectors import connector_name, resolve_hybrid_manager
from vramledger.engine.vllm.deployment import Deployment, Speculation
from vramledger.engine.vllm.element_type import resolve_dtype
from vramledger.engine.vllm.features import (
    read_capture_sizes,
    read_limits,
    read_lora,
    read_speculation,
)
from vramledger.engine.vllm.flags import choices
from vramledger.engine.vllm.generation import Candidate, choose_generation
from vramledger.engine.vllm.graphs import CaptureAsked, capture_sizes
from vramledger.engine.vllm.ignored import ignored_settings
from vramledger.engine.vllm.lengths import Length, resolve_length
from vramledger.engine.vllm.model_traits import Traits, asks_for_pooling, traits_of
from vramledger.engine.vllm.rules import Release, Rules
from vramledger.engine.vllm.scheduling import (
    resolve_async,
    resolve_chunked_prefill,
    resolve_prefix_caching,
)
from vramledger.engine.vllm.values import Values, given_or
from vramledger.engine.vllm.versions import VersionMatch, rules_at, rules_for
from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.hardware.accelerator import Accelerator, Vendor
from vramledger.model.model import Model

_ENGINE: Final = "vllm"
_MOST_RANKS: Final = 1 << 16
_MOST_HOST_GIB: Final = 100_000.0
_SMALL_ALL2ALL: Final = frozenset({"deepep_low_latency", "nixl_ep"})
_GRAPH_ESTIMATE: Final = "VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS"


@frozen
class _Setup:
    """What every later step draws on."""

    launch: Launch
    values: Values
    match: VersionMatch
    release: Release
    rules: Rules
    model: Model
    traits: Traits
    gpu: Accelerator
    layout: Layout
    notes: tuple[str, ...]


def resolve(
    launch: Launch, model: Model, accelerator: Accelerator, *, version: str | None = None
) -> Deployment:
    """The deployment a launch makes of a model on that accelerator.

    `version` wins over the version the launch states; without either the newest known one holds.

    Raises:
        BadInput: a value is out of the range its flag has, or its variable is not given.
        UnknownName: an unknown version, flag or choice.
    """
    setup = _prepare(launch, model, accelerator, version)
    values, rules = setup.values, setup.rules
    length = resolve_length(values, model, setup.traits, rules)
    spec = read_speculation(values, setup.layout.tp)
    chunked = resolve_chunked_prefill(values, setup.traits, rules, length.planning)
    batch = _batch(setup, length, chunked)
    connector = connector_name(values)
    return Deployment(
        launch=setup.launch,
        version=setup.match.version,
        version_note=setup.match.note,
        rules=rules,
        model=model,
        accelerator=accelerator,
        layout=setup.layout,
        usage=launch.usage,
        **_memory(setup),
        max_model_len=length.setting,
        max_num_seqs=batch.sequences,
        max_num_batched_tokens=batch.tokens,
        enable_prefix_caching=resolve_prefix_caching(values, setup.traits, rules),
        enable_chunked_prefill=chunked,
        async_scheduling=resolve_async(values, setup.traits, rules, setup.layout,
                                       spec.speculation, accelerator.vendor),
        disable_hybrid_kv_cache_manager=resolve_hybrid_manager(
            values, setup.release, setup.traits, connector),
        **_graphs(setup, batch, spec.speculation),
        speculation=spec.speculation,
        ignored=ignored_settings(values, rules),
        environment=launch.environment,
        derived_model_len=length.derived,
        encoder_tokens=batch.tokens.value,
        executor=_executor(values, setup.layout),
        kv_connector=connector,
        notes=(*launch.notes, *setup.notes, *spec.notes),
    )  # fmt: skip


def _prepare(launch: Launch, model: Model, accelerator: Accelerator, version: str | None) -> _Setup:
    if launch.engine != _ENGINE:
        raise BadInput(f"{opening(launch.where)} starts {launch.engine}, not vLLM.")
    launch = parse(launch, version) if launch.arguments else launch
    values = Values(launch)
    match = rules_for(version or launch.version)
    traits = traits_of(model, pooling=asks_for_pooling(values))
    dtype = resolve_dtype(values.text("dtype"), model, accelerator, match.rules)
    generation = choose_generation(
        match.release, Candidate(values, model, traits, accelerator, dtype.value)
    )
    notes = tuple(note for note in (generation.note, generation.refused) if note)
    return _Setup(
        launch,
        values,
        match,
        match.release,
        rules_at(match.release, v1=generation.v1),
        model,
        traits,
        accelerator,
        read_layout(values),
        notes,
    )


def read_layout(values: Values) -> Layout:
    """How the launch spreads the model over GPUs."""
    return Layout(
        tp=values.integer("tensor-parallel-size", most=_MOST_RANKS) or 1,
        pp=values.integer("pipeline-parallel-size", most=_MOST_RANKS) or 1,
        dp=values.integer("data-parallel-size", most=_MOST_RANKS) or 1,
        expert_parallel=bool(values.switch("enable-expert-parallel")),
        dcp=values.integer("decode-context-parallel-size", most=_MOST_RANKS) or 1,
        pcp=values.integer("prefill-context-parallel-size", most=_MOST_RANKS) or 1,
    )


def _batch(setup: _Setup, length: Length, chunked: Setting[bool]) -> Batch:
    values = setup.values
    all2all = values.text("all2all-backend") or values.launch.environment.get(
        "VLLM_ALL2ALL_BACKEND", ""
    )
    asked = BatchAsked(
        sequences=values.integer("max-num-seqs"),
        tokens=values.integer("max-num-batched-tokens"),
        max_model_len=length.planning,
        chunked_prefill=chunked.value,
        usage=values.launch.usage,
        layout=setup.layout,
        throughput_mode=values.text("performance-mode") == "throughput",
        small_all2all=setup.layout.dp > 1
        and setup.layout.expert_parallel
        and all2all in _SMALL_ALL2ALL,
    )
    return resolve_batch(setup.rules.batch_table, asked, setup.gpu, setup.traits)


def _memory(setup: _Setup) -> dict[str, Any]:
    """Settings that change bytes directly, by the names `Deployment` has for them."""
    values, rules = setup.values, setup.rules
    utilization = values.number("gpu-memory-utilization", 0.0, 1.0, open_below=True)
    if utilization is None:
        utilization = values.number("device-memory-utilization", 0.0, 1.0, open_below=True)
    cache_types = choices("kv-cache-dtype", setup.release)
    return {
        "dtype": resolve_dtype(values.text("dtype"), setup.model, setup.gpu, rules),
        "gpu_memory_utilization": given_or(utilization, rules.utilization_default),
        "kv_cache_memory_bytes": given_or(values.integer("kv-cache-memory-bytes"), None),
        "num_gpu_blocks_override": given_or(values.integer("num-gpu-blocks-override"), None),
        "block_size": _block_size(values, rules),
        "kv_cache_dtype": given_or(values.text("kv-cache-dtype", cache_types), "auto"),
        "kv_cache_skip_layers": values.words("kv-cache-dtype-skip-layers"),
        "quantization": given_or(values.text("quantization"), None),
        "cpu_offload_gib": given_or(values.number("cpu-offload-gb", most=_MOST_HOST_GIB), 0.0),
        "swap_space_gib": _swap(values, rules),
        "kv_offloading_gib": given_or(values.number("kv-offloading-size"), 0.0),
        "mamba_cache_dtype": given_or(values.text("mamba-cache-dtype"), "auto"),
        "mamba_ssm_cache_dtype": given_or(values.text("mamba-ssm-cache-dtype"), "auto"),
        "mamba_block_size": given_or(values.integer("mamba-block-size"), None),
        "limit_mm_per_prompt": read_limits(values),
        "lora": read_lora(values),
        "skip_mm_profiling": given_or(values.switch("skip-mm-profiling"), False),
        "attention_backend": _backend(values, rules),
        "estimate_cuda_graphs": _estimates_graphs(values, rules),
    }


def _block_size(values: Values, rules: Rules) -> Setting[int | None]:
    given = values.integer("block-size")
    if given is not None:
        return Setting(given, Origin.GIVEN)
    return Setting(None if rules.v1 else 16)


def _swap(values: Values, rules: Rules) -> Setting[float]:
    given = values.number("swap-space")
    if rules.swap_space:
        return given_or(given, 4.0)
    if given:
        return Setting(given, Origin.IGNORED, "The V1 engine never swaps to host memory.")
    return Setting(0.0)


def _backend(values: Values, rules: Rules) -> Setting[str | None]:
    given = values.text("attention-backend")
    if given is None:
        named = (values.json("attention-config") or {}).get("backend")
        given = str(named) if named else None
    if given is None and rules.backend_from_environment:
        given = values.launch.environment.get("VLLM_ATTENTION_BACKEND") or None
    return given_or(given.upper() if given else None, None)


def _estimates_graphs(values: Values, rules: Rules) -> bool:
    asked = values.environment_switch(_GRAPH_ESTIMATE)
    return rules.graph_estimate_run and (rules.graph_in_budget if asked is None else asked)


def _graphs(setup: _Setup, batch: Batch, speculation: Speculation | None) -> dict[str, Any]:
    """Settings of CUDA graphs, by the names `Deployment` has for them."""
    compilation = setup.values.json("compilation-config") or {}
    eager = given_or(setup.values.switch("enforce-eager"), False)
    mode = _graph_mode(setup, compilation, eager=eager.value)
    return {
        "enforce_eager": eager,
        "cudagraph_mode": mode,
        "cudagraph_capture_sizes": _captures(setup, compilation, batch, speculation, mode),
    }


def _graph_mode(setup: _Setup, compilation: Mapping[str, Any], *, eager: bool) -> str:
    """Which CUDA graphs are captured, in vLLM's own words."""
    if eager or setup.gpu.vendor is Vendor.CPU:
        return "NONE"
    given = compilation.get("cudagraph_mode")
    if isinstance(given, str):
        return given.upper()
    level = setup.values.integer("optimization-level", 0, 3)
    if level is None:
        level = compilation.get("level") if setup.rules.v1 else None
    if level in (0, 1) and setup.rules.graph_mode == "FULL_AND_PIECEWISE":
        return "NONE" if level == 0 else "PIECEWISE"
    whole = setup.rules.graph_mode == "FULL_AND_PIECEWISE"
    if whole and (setup.traits.pooling or setup.traits.encoder_decoder):
        return "PIECEWISE"
    return setup.rules.graph_mode


def _captures(
    setup: _Setup,
    compilation: Mapping[str, Any],
    batch: Batch,
    speculation: Speculation | None,
    mode: str,
) -> Setting[tuple[int, ...]]:
    """Captured batch sizes, largest last."""
    if mode == "NONE":
        return Setting((), Origin.DERIVED)
    given = read_capture_sizes(setup.values, compilation)
    largest = setup.values.integer("max-cudagraph-capture-size")
    single = setup.values.words("cuda-graph-sizes")
    if given is not None and len(given) == 1 and single:
        largest, given = given[0], None
    asked = CaptureAsked(
        max_num_seqs=batch.sequences.value,
        max_num_batched_tokens=batch.tokens.value,
        tokens_per_step=1 + (speculation.tokens if speculation else 0),
        data_centre_blackwell=(setup.gpu.compute_capability or (0, 0))[0] == 10,
        largest=largest,
        sizes=given,
        interactive=setup.values.text("performance-mode") == "interactivity",
    )
    sizes = capture_sizes(setup.rules.capture_table, asked)
    return Setting(sizes, Origin.DERIVED if given is None else Origin.GIVEN)


def _executor(values: Values, layout: Layout) -> str:
    given = values.text("distributed-executor-backend")
    return given or ("uni" if layout.world == 1 else "mp")
