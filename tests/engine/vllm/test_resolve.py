"""Defaults by version, GPU and model, as vLLM fills them in."""

from dataclasses import replace

import pytest

from deployments import alternating, full, gpu, latent, model_of
from vramledger.engine.launch import Usage
from vramledger.engine.read import read_launch
from vramledger.engine.setting import Origin
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.resolve import resolve
from vramledger.errors import BadInput, UnknownName
from vramledger.hardware.accelerator import Accelerator, Vendor
from vramledger.model.cache import CacheSpec, ChunkedAttention, RecurrentState, StateKind
from vramledger.model.dtype import DType
from vramledger.model.model import Model, ModelKind

PLAIN = model_of(full(32, 8, 128))
STATE = RecurrentState(StateKind.MAMBA2, (), 8)
HYBRID = model_of([*full(4, 8, 128), STATE])


def card(name: str, gib: float, capability: tuple[int, int]) -> Accelerator:
    return replace(gpu(gib), name=name, compute_capability=capability)


H100 = card("H100-80GB-SXM", 79.19, (9, 0))
A100 = card("A100-80GB-SXM", 79.25, (8, 0))
L40S = card("L40S", 44.39, (8, 9))
B200 = card("B200", 178.3, (10, 0))
T4 = card("T4", 14.56, (7, 5))
SPARK = card("GB10", 119.7, (12, 1))
CPU = replace(card("CPU", 24.0, (0, 0)), vendor=Vendor.CPU, compute_capability=None)


def resolved(
    arguments: str = "",
    version: str | None = "0.19.0",
    model: Model = PLAIN,
    accelerator: Accelerator = H100,
) -> Deployment:
    launch = read_launch(f"vllm serve m {arguments}", version=version)
    return resolve(launch, model, accelerator, version=version)


@pytest.mark.parametrize(
    ("version", "accelerator", "sequences", "tokens"),
    [
        ("0.8.3", A100, 1024, 2048),
        ("0.8.3", H100, 1024, 8192),
        ("0.8.4", A100, 256, 2048),
        ("0.8.5", A100, 1024, 8192),
        ("0.9.0", A100, 256, 2048),
        ("0.19.0", H100, 1024, 8192),
        ("0.19.0", A100, 256, 2048),
        ("0.19.0", L40S, 256, 2048),
        ("0.27.0", B200, 1024, 8192),
        ("0.28.0", B200, 1024, 16384),
        ("0.33.0", SPARK, 256, 2048),
        ("0.32.0", CPU, 128, 2048),
    ],
)
def test_batch_defaults_follow_version_and_card(
    version: str, accelerator: Accelerator, sequences: int, tokens: int
) -> None:
    made = resolved(version=version, accelerator=accelerator)
    assert (made.max_num_seqs.value, made.max_num_batched_tokens.value) == (sequences, tokens)
    assert made.max_num_seqs.origin is Origin.DEFAULT


def test_the_python_class_gets_larger_batches() -> None:
    launch = replace(read_launch("vllm serve m", version="0.19.0"), usage=Usage.OFFLINE)
    assert resolve(launch, PLAIN, H100, version="0.19.0").max_num_batched_tokens.value == 16384


def test_few_short_sequences_lower_the_batch() -> None:
    made = resolved("--max-num-seqs 2 --max-model-len 512")
    assert made.max_num_batched_tokens.value == 1024


def test_a_small_batch_lowers_the_default_sequences() -> None:
    assert resolved("--max-num-batched-tokens 512").max_num_seqs.value == 512


def test_throughput_mode_doubles_both() -> None:
    made = resolved("--performance-mode throughput")
    assert (made.max_num_seqs.value, made.max_num_batched_tokens.value) == (2048, 16384)


@pytest.mark.parametrize(
    ("version", "arguments", "chunked", "tokens"),
    [
        ("0.4.2", "", False, 131072),
        ("0.5.5", "", True, 512),
        ("0.6.6", "", True, 2048),
        ("0.6.6", "--max-model-len 32768", False, 32768),
        ("0.6.6", "--max-model-len 1024", False, 2048),
        ("0.6.6", "--enable-lora", False, 131072),
        ("0.7.3", "--enable-chunked-prefill --max-model-len 8192", True, 2048),
    ],
)
def test_v0_takes_whole_prompts_unless_they_are_long(
    *, version: str, arguments: str, chunked: bool, tokens: int
) -> None:
    made = resolved(arguments, version)
    assert made.enable_chunked_prefill.value is chunked
    assert made.max_num_batched_tokens.value == tokens
    assert made.max_num_seqs.value == 256


def test_v0_does_not_chunk_latent_attention() -> None:
    assert not resolved(version="0.7.3", model=model_of(latent(4))).enable_chunked_prefill.value


@pytest.mark.parametrize(
    ("version", "environment", "v1"),
    [
        ("0.7.3", "", False),
        ("0.7.3", "VLLM_USE_V1=1", True),
        ("0.8.5", "", True),
        ("0.8.5", "VLLM_USE_V1=0", False),
        ("0.10.2", "VLLM_USE_V1=0", False),
        ("0.11.0", "VLLM_USE_V1=0", True),
    ],
)
def test_the_environment_chooses_the_generation_where_both_exist(
    *, version: str, environment: str, v1: bool
) -> None:
    launch = read_launch(f"{environment} vllm serve m", version=version)
    assert resolve(launch, PLAIN, H100, version=version).rules.v1 is v1


def test_features_v1_lacks_start_v0_and_say_so() -> None:
    made = resolved(version="0.8.5", accelerator=T4)
    assert not made.rules.v1
    assert made.notes == (
        "V1 has no GPU below compute capability 8.0 yet, so the V0 engine starts.",
    )
    assert not resolved("--kv-cache-dtype fp8", "0.8.5", accelerator=A100).rules.v1
    assert resolved("--kv-cache-dtype fp8", "0.8.5", accelerator=H100).rules.v1
    assert not resolved("--kv-cache-dtype fp8", "0.10.2", accelerator=A100).rules.v1
    assert resolved("--kv-cache-dtype fp8", "0.10.2", model_of(latent(4)), A100).rules.v1
    draft = '--speculative-config \'{"model":"org/small","num_speculative_tokens":3}\''
    assert not resolved(draft, "0.9.2").rules.v1
    ngram = '--speculative-config \'{"method":"ngram","num_speculative_tokens":3}\''
    assert not resolved(ngram, "0.8.5").rules.v1
    assert resolved(ngram, "0.9.2").rules.v1
    assert not resolved(version="0.9.2", model=HYBRID).rules.v1
    assert resolved(version="0.10.2", model=HYBRID).rules.v1


def test_utilization_and_reported_length_default_by_version_and_model() -> None:
    assert resolved().gpu_memory_utilization.value == 0.90
    assert resolved(version="0.20.0").gpu_memory_utilization.value == 0.92
    assert resolved().max_model_len.value == 131072
    assert resolved().max_model_len.origin is Origin.DERIVED


def test_longrope_starts_at_its_original_length() -> None:
    long = replace(PLAIN, text=replace(PLAIN.text, short_positions=4096))
    assert resolved(version="0.11.0", model=long).max_model_len.value == 131072
    made = resolved(version="0.19.0", model=long)
    assert made.max_model_len.value == 4096
    assert made.derived_model_len == 131072
    assert resolved("--max-model-len 64k", model=long).max_model_len.value == 64000


def test_lengths_carry_suffixes_and_auto() -> None:
    assert resolved("--max-model-len 32k").max_model_len.value == 32000
    assert resolved("--max-model-len 32K").max_model_len.value == 32768
    auto = resolved("--max-model-len auto")
    assert (auto.max_model_len.value, auto.max_model_len.origin) == (None, Origin.GIVEN)
    with pytest.raises(BadInput) as refused:
        resolved("--max-model-len auto", "0.13.0")
    assert str(refused.value) == (
        "--max-model-len in the launch command is 'auto', which vLLM 0.13 does not know; it fits "
        "the length to memory from 0.14 on, so give a number of tokens."
    )


def test_rope_overrides_extend_the_model() -> None:
    rope = '\'{"rope_type":"yarn","factor":4.0,"original_max_position_embeddings":32768}\''
    short = replace(PLAIN, text=replace(PLAIN.text, max_positions=32768))
    made = resolved(f"--rope-scaling {rope}", "0.8.5", short)
    assert made.derived_model_len == 131072
    override = "'{\"max_position_embeddings\": 65536}'"
    assert resolved(f"--hf-overrides {override}", model=short).derived_model_len == 65536


@pytest.mark.parametrize(
    ("version", "accelerator", "stored", "runs"),
    [
        ("0.19.0", H100, DType.BFLOAT16, DType.BFLOAT16),
        ("0.19.0", H100, DType.FLOAT32, DType.BFLOAT16),
        ("0.9.0", H100, DType.FLOAT32, DType.FLOAT16),
        ("0.19.0", T4, DType.BFLOAT16, DType.FLOAT16),
        ("0.8.5", T4, DType.BFLOAT16, DType.BFLOAT16),
        ("0.19.0", T4, DType.FLOAT32, DType.FLOAT16),
    ],
)
def test_the_element_type_follows_checkpoint_version_and_card(
    version: str, accelerator: Accelerator, stored: DType, runs: DType
) -> None:
    model = replace(PLAIN, dtype=stored)
    assert resolved(version=version, model=model, accelerator=accelerator).dtype.value is runs


def test_an_explicit_element_type_is_kept() -> None:
    made = resolved("--dtype half")
    assert (made.dtype.value, made.dtype.origin) == (DType.FLOAT16, Origin.GIVEN)
    with pytest.raises(UnknownName, match="Unknown value of --dtype 'fp16'"):
        resolved("--dtype fp16")


@pytest.mark.parametrize(
    ("version", "model", "caching"),
    [
        ("0.7.3", PLAIN, False),
        ("0.8.5", PLAIN, True),
        ("0.27.0", HYBRID, False),
        ("0.28.0", HYBRID, True),
        ("0.33.0", model_of([STATE]), False),
        ("0.33.0", replace(PLAIN, kind=ModelKind.ENCODER_DECODER), False),
    ],
)
def test_prefix_caching_depends_on_version_and_model(
    *, version: str, model: Model, caching: bool
) -> None:
    assert resolved(version=version, model=model).enable_prefix_caching.value is caching


def test_embedding_with_a_generating_model_keeps_its_caches_and_schedules_in_turn() -> None:
    made = resolved("--runner pooling")
    assert (made.enable_prefix_caching.value, made.async_scheduling.value) == (True, False)
    assert resolved("--task embed", "0.7.3").max_num_batched_tokens.value == 131072


def test_asynchronous_scheduling_defaults() -> None:
    assert not resolved(version="0.13.0").async_scheduling.value
    assert resolved(version="0.14.0").async_scheduling.value
    assert not resolved("-pp 2", "0.14.0").async_scheduling.value
    assert resolved("-pp 2", "0.16.0").async_scheduling.value
    assert not resolved("--distributed-executor-backend ray", "0.33.0").async_scheduling.value
    ngram = '--speculative-config \'{"method":"ngram","num_speculative_tokens":3}\''
    assert not resolved(ngram).async_scheduling.value


@pytest.mark.parametrize(
    ("version", "arguments", "count", "largest"),
    [
        ("0.5.5", "", 35, 256),
        ("0.6.6", "--max-num-seqs 100", 16, 104),
        ("0.8.5", "", 67, 512),
        ("0.10.2", "--max-num-seqs 100", 28, 200),
        ("0.11.0", "", 67, 512),
        ("0.11.1", "", 51, 512),
        ("0.19.0", "", 51, 512),
        ("0.19.0", "--max-num-seqs 16", 7, 32),
        ("0.19.0", "--enforce-eager", 0, None),
        ("0.19.0", "--cudagraph-capture-sizes 8 1 64", 3, 64),
        ("0.19.0", "--max-cudagraph-capture-size 64", 11, 64),
        ("0.33.0", "--max-num-seqs 100", 29, 200),
    ],
)
def test_captured_batch_sizes(
    version: str, arguments: str, count: int, largest: int | None
) -> None:
    sizes = resolved(arguments, version).cudagraph_capture_sizes.value
    assert len(sizes) == count
    assert max(sizes, default=None) == largest


def test_drafts_widen_the_captured_sizes() -> None:
    spec = '--speculative-config \'{"method":"mtp","num_speculative_tokens":3}\''
    assert resolved(f"--max-num-seqs 16 {spec}").cudagraph_capture_sizes.value[-1] == 128
    assert resolved(accelerator=B200, version="0.33.0").cudagraph_capture_sizes.value[-1] == 1024


@pytest.mark.parametrize(
    ("arguments", "mode"),
    [
        ("", "FULL_AND_PIECEWISE"),
        ("--enforce-eager", "NONE"),
        ("-O1", "PIECEWISE"),
        ("-O0", "NONE"),
        ("-cc.cudagraph_mode=full_decode_only", "FULL_DECODE_ONLY"),
    ],
)
def test_graph_modes(arguments: str, mode: str) -> None:
    assert resolved(arguments).cudagraph_mode == mode


def test_graph_estimate_follows_version_and_environment() -> None:
    assert not resolved(version="0.17.0").estimate_cuda_graphs
    assert not resolved(version="0.19.0").estimate_cuda_graphs
    assert resolved(version="0.20.0").estimate_cuda_graphs
    launch = read_launch(
        "VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=1 vllm serve m", version="0.19.0"
    )
    assert resolve(launch, PLAIN, H100, version="0.19.0").estimate_cuda_graphs


def test_arguments_without_effect_are_named() -> None:
    made = resolved("--swap-space 8", "0.14.0")
    assert made.swap_space_gib.origin is Origin.IGNORED
    (ignored,) = made.ignored
    assert ignored.note == (
        "--swap-space has no effect: the V1 engine recomputes preempted requests and never swaps "
        "to host memory."
    )
    assert resolved("--swap-space 8", "0.6.6").swap_space_gib.value == 8.0
    assert resolved(version="0.6.6").swap_space_gib.value == 4.0


def test_layout_adapters_limits_and_drafts_are_read() -> None:
    made = resolved(
        "-tp 4 -pp 2 -dp 2 -ep -dcp 2 --enable-lora --max-loras 4 --max-lora-rank 64 "
        '--limit-mm-per-prompt \'{"image": 4, "video": {"count": 1, "num_frames": 32}}\''
    )
    assert (made.layout.tp, made.layout.pp, made.layout.dp, made.layout.dcp) == (4, 2, 2, 2)
    assert made.layout.expert_parallel
    assert made.lora is not None
    assert (made.lora.max_loras, made.lora.max_rank, made.lora.max_cpu_loras) == (4, 64, 4)
    assert made.limit_mm_per_prompt == {"image": 4, "video": 1}
    old = resolved(
        "--limit-mm-per-prompt image=2,video=1 --speculative-model [ngram] "
        "--num-speculative-tokens 5",
        "0.6.6",
    )
    assert old.limit_mm_per_prompt == {"image": 2, "video": 1}
    assert old.speculation is not None
    assert (old.speculation.method, old.speculation.tokens) == ("ngram", 5)


def test_a_draft_model_that_is_not_known_is_said() -> None:
    made = resolved('-sc \'{"model": "no/such-eagle3", "num_speculative_tokens": 3}\'')
    assert made.speculation is not None
    assert (made.speculation.method, made.speculation.draft) == ("eagle3", None)
    assert made.notes[0].startswith("The draft model is not counted: Unknown model")


def test_the_hybrid_cache_manager_is_turned_off_as_vllm_does() -> None:
    lmcache = '--kv-transfer-config \'{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}\''
    nixl = '--kv-transfer-config \'{"kv_connector":"NixlConnector","kv_role":"kv_both"}\''
    mixed = model_of(alternating(4, 8, 128, 1024))
    assert resolved(lmcache, model=mixed).disable_hybrid_kv_cache_manager.value
    assert not resolved(nixl, model=mixed).disable_hybrid_kv_cache_manager.value
    assert resolved(nixl, "0.17.0", mixed).disable_hybrid_kv_cache_manager.value
    chunked: list[CacheSpec] = [ChunkedAttention(8, 128, 128, 8192), *full(1, 8, 128)]
    assert resolved("", "0.11.0", model_of(chunked)).disable_hybrid_kv_cache_manager.value
    assert not resolved("", "0.14.0", model_of(chunked)).disable_hybrid_kv_cache_manager.value


def test_the_attention_backend_comes_from_flag_or_environment() -> None:
    launch = read_launch("VLLM_ATTENTION_BACKEND=FLASHINFER vllm serve m", version="0.10.2")
    assert resolve(launch, PLAIN, H100, version="0.10.2").attention_backend.value == "FLASHINFER"
    assert resolve(launch, PLAIN, H100, version="0.19.0").attention_backend.value is None
    assert resolved("--attention-backend flash_attn").attention_backend.value == "FLASH_ATTN"


def test_a_version_given_later_reads_the_arguments_again() -> None:
    launch = read_launch("vllm serve m -O3")
    assert launch.flag("optimization-level") is not None
    made = resolve(launch, PLAIN, H100, version="0.10.0")
    assert made.launch.flag("optimization-level") is None
    assert made.launch.flag("compilation-config") is not None


OUT_OF_RANGE = {
    "--gpu-memory-utilization 1.5": (
        "--gpu-memory-utilization in the launch command is 1.5; it must be above 0 and at most 1."
    ),
    "--gpu-memory-utilization 0": (
        "--gpu-memory-utilization in the launch command is 0; it must be above 0 and at most 1."
    ),
    "--max-num-seqs 0": "--max-num-seqs in the launch command is 0; it must be at least 1.",
    "--max-num-seqs x": (
        "--max-num-seqs in the launch command is 'x', which is not a count; write a whole number, "
        "or one with a suffix such as 32k (32000) or 32K (32768)."
    ),
    "--gpu-memory-utilization nan": (
        "--gpu-memory-utilization in the launch command is nan; it must be above 0 and at most 1."
    ),
    "-tp $TP": (
        "-tp in the launch command is '$TP', and the value of $TP is not given; write the value "
        "out, or set the variable in front of the command."
    ),
    "--speculative-config {x": (
        "--speculative-config in the launch command is '{x', which is not valid JSON; put the "
        "object in single quotes and its keys in double quotes."
    ),
}


@pytest.mark.parametrize("arguments", OUT_OF_RANGE)
def test_values_out_of_range_are_refused_by_flag_and_range(arguments: str) -> None:
    with pytest.raises(BadInput) as refused:
        resolved(arguments)
    assert str(refused.value) == OUT_OF_RANGE[arguments]


def test_an_unknown_cache_type_names_the_nearest_of_that_version() -> None:
    with pytest.raises(UnknownName, match="Unknown value of --kv-cache-dtype 'nvfp4'"):
        resolved("--kv-cache-dtype nvfp4")
    assert resolved("--kv-cache-dtype nvfp4", "0.20.0").kv_cache_dtype.value == "nvfp4"


def test_another_engine_is_not_resolved_as_vllm() -> None:
    launch = read_launch("python -m sglang.launch_server --model m")
    with pytest.raises(BadInput) as refused:
        resolve(launch, PLAIN, H100)
    assert str(refused.value) == "The launch command starts sglang, not vLLM."
