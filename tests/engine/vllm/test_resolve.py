"""Defaults by version, GPU and model, as vLLM fills them in."""

from dataclasses import replace

import pytest

from deployments import latent, model_of
from resolved import A100, B200, CPU, H100, HYBRID, L40S, PLAIN, SPARK, STATE, T4, resolved
from vramledger.engine.launch import Usage
from vramledger.engine.read import read_launch
from vramledger.engine.setting import Origin
from vramledger.engine.vllm.resolve import resolve
from vramledger.errors import BadInput, UnknownName
from vramledger.hardware.accelerator import Accelerator
from vramledger.model.dtype import DType
from vramledger.model.model import Model, ModelKind


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


def test_a_quantised_cache_starts_v0_for_the_sake_of_this_gpu() -> None:
    notes = resolved("--kv-cache-dtype fp8", "0.10.1", accelerator=L40S).notes
    assert notes == ("V1 has no KV cache of that type on this GPU yet, so the V0 engine starts.",)
    assert resolved("--kv-cache-dtype fp8", "0.10.1", accelerator=H100).rules.v1
