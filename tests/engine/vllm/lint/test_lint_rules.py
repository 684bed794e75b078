"""Each lint rule on a launch that breaks it, and silence on one that does not."""

from dataclasses import replace

import pytest

from deployments import full, gpu, latent, model_of
from vramledger.engine.finding import Severity
from vramledger.engine.read import read_launch
from vramledger.engine.vllm.lint import RULES, lint
from vramledger.engine.vllm.resolve import resolve
from vramledger.hardware.accelerator import Accelerator
from vramledger.model.cache import ChunkedAttention
from vramledger.model.dtype import DType
from vramledger.model.model import Model, ModelKind, TowerInput

GQA = model_of(full(4, 8, 128))
GQA = replace(GQA, text=replace(GQA.text, heads=64, kv_heads=8))
MLA = model_of(latent(4))
QWEN3 = replace(GQA, architecture="Qwen3ForCausalLM")
ENCODER = replace(GQA, kind=ModelKind.ENCODER)
WHISPER = replace(GQA, kind=ModelKind.ENCODER_DECODER)
VISION = replace(GQA, towers=(TowerInput("image", 3 * 896 * 896, 4096, 4096, 1024),))
CHUNKED = model_of([ChunkedAttention(8, 128, 128, 8192), *full(1, 8, 128)])
H100 = gpu(79.19)
T4 = gpu(14.56, 7, 5)
LMCACHE = '--kv-transfer-config \'{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}\''
NGRAM = '--speculative-config \'{"method":"ngram","num_speculative_tokens":3}\''


def found(
    command: str, version: str = "0.33.0", model: Model = GQA, card: Accelerator = H100
) -> dict[str, str]:
    launch = read_launch(command, version=version)
    findings = lint(resolve(launch, model, card, version=version))
    return {finding.id: finding.message for finding in findings}


def test_a_plain_launch_has_no_finding() -> None:
    assert found("vllm serve m") == {}


BREAKS: dict[str, tuple[str, str, Model]] = {
    "A10": ("--swap-space 4", "0.33.0", GQA),
    "A17": ("--block-size 7", "0.33.0", GQA),
    "A18": ("""--speculative-config '{"method": "eagle", "num_speculative_tokens": 3}'""", "0.19.0", GQA),
    "A19": ("""--hf-overrides '{"num_hidden_layers": 1}'""", "0.19.0", GQA),
    "A21": ("", "0.6.3", QWEN3),
    "A22": ("", "0.8.3", QWEN3),
    "L07": ("--no-enable-chunked-prefill --max-num-batched-tokens 4096", "0.19.0", GQA),
    "L08": ("--max-num-batched-tokens 64 --max-num-seqs 128", "0.19.0", GQA),
    "L09": ("--max-num-batched-tokens 8192 --max-num-seqs 2 --max-model-len 1024", "0.19.0", GQA),
    "L10": ("--long-prefill-token-threshold 9000 --max-model-len 8192", "0.19.0", GQA),
    "L11": ("--max-num-active-seqs 64 --max-num-seqs 32", "0.33.0", GQA),
    "L12": ("--max-model-len 200000", "0.19.0", GQA),
    "L13": ("--max-model-len 32k", "0.19.0", GQA),
    "L15": ("--num-gpu-blocks-override 100", "0.19.0", GQA),
    "L16": ("-tp 3", "0.19.0", GQA),
    "L18": ("-tp 8 -dcp 3", "0.19.0", GQA),
    "L19": ("-tp 8 -dcp 2", "0.19.0", GQA),
    "L20": ("-tp 16 -dcp 2 --block-size 16 --cp-kv-cache-interleave-size 3", "0.19.0", GQA),
    "L22": ("--enable-eplb", "0.19.0", GQA),
    "L23": ("-dp 8 -ep --all2all-backend deepep_low_latency", "0.33.0", GQA),
    "L24": ("--kv-cache-dtype nvfp4", "0.33.0", MLA),
    "L25": ("--kv-cache-dtype float16", "0.33.0", GQA),
    "L26": ("--kv-cache-dtype turboquant_k8v4", "0.33.0", GQA),
    "L27": ("--kv-cache-dtype fp8 --kv-cache-dtype-skip-layers 0 1", "0.33.0", GQA),
    "L28": (f"--no-disable-hybrid-kv-cache-manager {LMCACHE}", "0.33.0", GQA),
    "L29": (LMCACHE, "0.33.0", CHUNKED),
    "L30": ("", "0.13.0", CHUNKED),
    "L32": ("--mamba-block-size 64 --no-enable-prefix-caching", "0.33.0", GQA),
    "L34": ("--enforce-eager", "0.33.0", GQA),
    "L35": (
        "--cudagraph-capture-sizes 1 2 -cc.cudagraph_capture_sizes [4]", "0.33.0", GQA,
    ),
    "L36": ("--cudagraph-capture-sizes 1 256 --max-num-batched-tokens 128 --max-num-seqs 8",
            "0.33.0", GQA),
    "L37": (f"--enable-lora {NGRAM}", "0.33.0", replace(GQA, id="x")),
    "L38": ("--enable-lora --max-loras 4 --max-cpu-loras 2", "0.33.0", GQA),
    "L39": (f"--max-num-batched-tokens 3 --max-num-seqs 1 {NGRAM}", "0.33.0", GQA),
    "L41": (f"--max-num-batched-tokens 2048 {NGRAM}", "0.33.0", GQA),
    "L44": ("--async-scheduling --distributed-executor-backend ray", "0.33.0", GQA),
    "L47": ("--kv-offloading-size 64 --kv-offloading-backend lmcache", "0.33.0", GQA),
    "L48": ("--kv-offloading-size 64 -tp 4", "0.33.0", GQA),
    "L49": ("--cpu-offload-gb 4 --offload-group-size 8", "0.33.0", GQA),
    "L50": ("--disable-chunked-mm-input --max-num-batched-tokens 2048", "0.33.0", VISION),
    "L51": ("--skip-mm-profiling", "0.33.0", VISION),
    "L52": ("--enable-prefix-caching", "0.33.0", ENCODER),
    "L53": ("", "0.33.0", WHISPER),
    "L56": ("--swap-space 4", "0.14.0", GQA),
    "L57": ("--max-num-partial-prefills 2", "0.19.0", GQA),
    "L58": ("--data-parallel-rank 0 -dp 2", "0.33.0", GQA),
    "L59": ("--api-server-count 4", "0.33.0", GQA),
    "L61": (
        "-pp 2 --attention-config.hisparse_config.host_pool_gib 4", "0.33.0", MLA,
    ),
}  # fmt: skip


@pytest.mark.parametrize("rule", BREAKS)
def test_the_rule_speaks_where_it_is_broken(rule: str) -> None:
    arguments, version, model = BREAKS[rule]
    if rule == "L37":
        arguments += " --max-num-batched-tokens 2048 --max-num-seqs 1024"
    messages = found(f"vllm serve m {arguments}", version, model)
    assert rule in messages
    assert messages[rule].endswith(".")


def test_every_rule_is_broken_by_some_test() -> None:
    elsewhere = {"A11", "A12", "A13", "L06", "L46", "L60"}
    assert {rule.id for rule in RULES} == BREAKS.keys() | elsewhere


def test_settings_of_the_environment_are_seen() -> None:
    assert "L06" in found(
        "VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS=0 vllm serve m --gpu-memory-utilization 0.95"
    )
    assert "L46" in found(
        f"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True vllm serve m {LMCACHE}"
    )
    assert "L60" in found("CUDA_VISIBLE_DEVICES=0,1 vllm serve m -tp 4")
    assert "L60" not in found("CUDA_VISIBLE_DEVICES=0,1 vllm serve m -tp 2 -pp 2")
    assert "A11" in found("VLLM_USE_V1=1 vllm serve m", "0.8.5", card=T4)


def test_element_types_the_card_or_model_cannot_run() -> None:
    assert found("vllm serve m --dtype bfloat16", card=T4)["A12"] == (
        "test card has no bfloat16 (it needs compute capability 8.0); vLLM refuses to start. Use "
        "--dtype half."
    )
    gemma = replace(GQA, model_type="gemma3_text", dtype=DType.BFLOAT16)
    assert found("vllm serve m --dtype float16", model=gemma)["A13"] == (
        "vLLM refuses float16 for gemma3_text as numerically unstable; use bfloat16 or float32."
    )


def test_a_length_beyond_the_model_names_both_and_the_way_out() -> None:
    assert found("vllm serve m --max-model-len 200000")["L12"] == (
        "max_model_len is 200000, and the model's configuration allows 131072; vLLM refuses to "
        "start. Lower it, extend the model by a rope scaling it supports, or set "
        "VLLM_ALLOW_LONG_MAX_MODEL_LEN=1 and accept wrong output past 131072."
    )
    assert "L12" not in found("VLLM_ALLOW_LONG_MAX_MODEL_LEN=1 vllm serve m --max-model-len 200000")


def test_a_small_k_is_explained() -> None:
    assert found("vllm serve m --max-model-len 32k")["L13"] == (
        "32k means 32000 tokens: a small k is 1000. 32K is 32768."
    )


def test_heads_that_do_not_divide_name_the_sizes_that_do() -> None:
    assert found("vllm serve m -tp 3")["L16"] == (
        "The model has 64 attention heads, which tensor parallel size 3 does not divide; vLLM "
        "refuses to start. Sizes that divide it: 1, 2, 4, 8, 16, 32, 64."
    )


def test_findings_are_ordered_and_carry_severity() -> None:
    launch = read_launch("vllm serve m -tp 3 --max-model-len 200k --enforce-eager")
    findings = lint(resolve(launch, GQA, H100))
    assert [f.id for f in findings] == ["L12", "L13", "L16", "L34"]
    assert [f.severity for f in findings] == [
        Severity.ERROR, Severity.SILENT, Severity.ERROR, Severity.WARNING,
    ]  # fmt: skip


def test_a_class_that_the_version_does_not_know_is_refused_by_name() -> None:
    assert found("vllm serve m", "0.6.3", QWEN3)["A21"] == (
        "vLLM 0.6.3 does not know Qwen3ForCausalLM (first in 0.8.4 among the releases read) and "
        "refuses to start; use 0.8.4 or later."
    )
    assert found("vllm serve m", "0.8.3", QWEN3)["A22"] == (
        "vLLM 0.8.3 does not list Qwen3ForCausalLM (first in 0.8.4 among the releases read): it "
        "starts only where the Transformers implementation takes its place, which these figures do "
        "not describe. Use 0.8.4 or later."
    )
    listed = {**found("vllm serve m", "0.8.4", QWEN3), **found("vllm serve m", "0.33.0", QWEN3)}
    assert not {"A21", "A22"} & listed.keys()


def test_a_class_on_no_list_and_a_release_between_two_read_get_no_verdict() -> None:
    assert not {"A21", "A22"} & found("vllm serve m", "0.6.3").keys()
    llama4 = replace(GQA, architecture="Llama4ForConditionalGeneration")  # first in 0.8.3
    assert "A22" in found("vllm serve m", "0.8.0", llama4)
    assert not {"A21", "A22"} & found("vllm serve m", "0.8.1", llama4).keys()
