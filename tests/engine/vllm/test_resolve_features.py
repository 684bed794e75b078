"""Graphs, adapters, drafts and other features of a launch, and values that vLLM rejects."""

import pytest

from deployments import alternating, full, model_of
from resolved import B200, H100, PLAIN, resolved
from vramledger.engine.read import read_launch
from vramledger.engine.setting import Origin
from vramledger.engine.vllm.resolve import resolve
from vramledger.errors import BadInput, UnknownName
from vramledger.model.cache import CacheSpec, ChunkedAttention


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
