"""The activation peak against start-up logs that people published (GiB, as logged)."""

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deployments import H100, Settings, deployment_of, full, gpu, model_of
from vramledger.engine.setting import Setting
from vramledger.engine.vllm.activation import ActivationPeak, activation_peak
from vramledger.engine.vllm.runner import uses_second_runner
from vramledger.hardware.accelerator import Accelerator
from vramledger.model.dtype import DType
from vramledger.model.model import Experts, Model, ModelKind, Quantization, TextShape, TowerInput
from vramledger.units import GIB, MIB

HOPPER = replace(H100, multiprocessors=132)
GEMMA_IMAGE = TowerInput("image", 3 * 896 * 896, 256, 4096, 1152)
PIXTRAL_IMAGE = TowerInput("image", 3 * 1540 * 1540, 55 * 55, 110 * 110, 1024)
INT8 = Quantization("compressed-tensors", "int8 weights and activations", 8, 8)


@dataclass(frozen=True)
class Row:
    """A log: the shape that was served and the peak it printed."""

    name: str
    hidden: int
    intermediate: int
    vocab: int
    logged: float
    version: str = "0.19.0"
    tokens: int = 8192
    rows: int = 1024
    tp: int = 1
    gated: bool = True
    dtype: DType = DType.BFLOAT16
    experts: Experts | None = None
    tower: TowerInput | None = None
    quantization: Quantization | None = None
    card: Accelerator = HOPPER
    within: float = 0.01


def shape(row: Row) -> Model:
    text = TextShape(
        hidden=row.hidden,
        layers=32,
        heads=32,
        kv_heads=8,
        head_dim=128,
        intermediate=row.intermediate,
        vocab=row.vocab,
        max_positions=8192,
        experts=row.experts,
        gated_mlp=row.gated,
    )
    return replace(
        model_of(full(32, 8, 128), dtype=row.dtype),
        text=text,
        towers=() if row.tower is None else (row.tower,),
        quantization=row.quantization,
    )


def peak(row: Row, **fields: Any) -> ActivationPeak:
    settings = Settings(
        row.version,
        tp=row.tp,
        max_num_batched_tokens=row.tokens,
        max_num_seqs=row.rows,
        fields=fields,
    )
    return activation_peak(deployment_of(shape(row), settings, row.card), 0)


ADA = gpu(22.0, 8, 9)
MARLIN_FREE = Experts(128, 8, 768, 0, 48)
ROWS = [
    Row("Llama-3.3-70B TP2", 8192, 28672, 128256, 1.96, tp=2),
    Row("Llama-3.3-70B TP4", 8192, 28672, 128256, 1.97, tp=4),
    Row("Qwen2.5-7B", 3584, 18944, 152064, 2.21),
    Row("gemma-2-27b", 4608, 36864, 256000, 3.66),
    Row("gemma-2-9b", 3584, 14336, 256000, 3.65),
    Row("gemma-3-12b", 3840, 15360, 262208, 3.94, tower=GEMMA_IMAGE),
    Row("gemma-3-4b", 2560, 10240, 262208, 3.89, tower=GEMMA_IMAGE),
    Row("Llama-3.1-8B", 4096, 14336, 128256, 1.89),
    Row("Llama-3.1-8B float32", 4096, 14336, 128256, 2.21, dtype=DType.FLOAT32),
    Row("phi-2", 2560, 10240, 51200, 0.79, gated=False, dtype=DType.FLOAT16),
    Row("phi-4", 5120, 17920, 100352, 1.52),
    Row("Mistral-Small-3.1", 5120, 32768, 131072, 2.03, tower=PIXTRAL_IMAGE),
    Row("Mistral-Small-3.1 w8a8", 5120, 32768, 131072, 2.18, tower=PIXTRAL_IMAGE,
        quantization=INT8),
    Row("Mistral-Small-3.1 w8a8 TP2", 5120, 32768, 131072, 2.03, tp=2, tower=PIXTRAL_IMAGE,
        quantization=INT8),
    Row("Qwen3-30B-A3B", 2048, 6144, 151936, 2.68, experts=MARLIN_FREE),
    Row("CodeLlama-7b", 4096, 11008, 32016, 0.77, within=0.02),
    Row("Llama-3-8B, V0", 4096, 14336, 128256, 1.26, version="0.6.6", rows=256),
    Row("Qwen3-32B, 0.11", 5120, 25600, 151936, 5.64, version="0.11.0"),
    Row("Llama-3.3-70B TP2, 0.11", 8192, 28672, 128256, 4.84, version="0.11.0", tp=2),
    Row("opt-125m, V0 on L4", 768, 3072, 50272, 0.47, version="0.6.6", tokens=2048, rows=256,
        gated=False, card=ADA),
    Row("Llama-3.1-8B, V0 with a prompt of 29000", 4096, 14336, 128256, 2.99, version="0.6.6",
        tokens=29000, rows=256, card=ADA, within=0.02),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_peak_is_what_the_log_printed(row: Row) -> None:
    assert peak(row).bytes / GIB == pytest.approx(row.logged, abs=row.within)


def test_the_sampler_does_not_shrink_with_tensor_parallelism() -> None:
    one, two = peak(ROWS[0]), peak(replace(ROWS[0], tp=8))
    assert one.sampler_bytes == two.sampler_bytes
    assert two.forward_bytes < one.forward_bytes


def test_version_0_17_replaced_the_sort_and_more_than_halved_the_sampler() -> None:
    row = Row("Llama-3.1-8B", 4096, 14336, 128256, 0.0)
    before, after = (peak(replace(row, version=v)).sampler_bytes for v in ("0.16.0", "0.17.0"))
    assert before / GIB == pytest.approx(4.77, abs=0.02)
    assert after / GIB == pytest.approx(1.885, abs=0.01)


def test_early_v1_did_not_sample_while_profiling() -> None:
    row = Row("Llama-3.1-8B", 4096, 14336, 128256, 0.0, version="0.7.3")
    v1 = deployment_of(shape(row), Settings("0.8.0"), HOPPER)
    early = replace(v1, rules=replace(v1.rules, sampler_profiled=False))
    copies = activation_peak(v1, 0).sampler_bytes - activation_peak(early, 0).sampler_bytes
    assert copies == 1024 * 128256 * 36


def test_only_the_last_stage_samples_and_the_others_hand_on_two_hidden_states() -> None:
    row = Row("Llama-3.1-8B", 4096, 14336, 128256, 0.0)
    made = deployment_of(shape(row), Settings("0.19.0", pp=2), HOPPER)
    first, last = activation_peak(made, 0), activation_peak(made, 1)
    assert first.sampler_bytes == 0
    assert last.governed_by == "sampler"
    assert first.forward_bytes - last.forward_bytes == 2 * 8192 * 4096 * 2
    assert first.bytes / GIB == pytest.approx(1.10, abs=0.05)  # logged at the first stage


def test_skipping_multimodal_profiling_removes_the_encoder() -> None:
    row = next(row for row in ROWS if row.name == "gemma-3-12b")
    assert peak(row).encoder_kept_bytes > 0
    assert peak(row, skip_mm_profiling=Setting(True)).encoder_bytes == 0
    assert peak(row, limit_mm_per_prompt={"image": 0}).kept_bytes == 0


@given(tokens=st.integers(64, 65536), rows=st.integers(1, 1024))
def test_more_tokens_or_sequences_never_lower_the_peak(tokens: int, rows: int) -> None:
    row = Row("Llama-3.1-8B", 4096, 14336, 128256, 0.0, tokens=tokens, rows=rows)
    here = peak(row).bytes
    assert peak(replace(row, tokens=tokens + 64)).bytes >= here
    assert peak(replace(row, rows=rows + 1)).bytes >= here


@pytest.mark.parametrize(
    ("version", "copies"),
    [("0.21.0", 12), ("0.24.0", 4), ("0.26.0", 0), ("0.30.0", 0), ("0.32.0", 12)],
)
def test_the_second_runner_profiles_other_copies_of_the_logits(version: str, copies: int) -> None:
    row = Row("Llama-3.1-8B", 4096, 14336, 128256, 0.0, version=version)
    made = deployment_of(
        replace(shape(row), architecture="LlamaForCausalLM"), Settings(version), HOPPER
    )
    bare = 8192 * 4096 * 2 + 2 * 1024 * 4096 * 2 + 32 * MIB + 1024 * 128256 * 2
    assert activation_peak(made, 0).sampler_bytes - bare == 1024 * 128256 * copies


def test_the_environment_decides_the_runner_where_both_exist() -> None:
    row = Row("Llama-3.1-8B", 4096, 14336, 128256, 0.0)
    old = Settings("0.33.0", environment={"VLLM_USE_V2_MODEL_RUNNER": "0"})
    assert not uses_second_runner(deployment_of(shape(row), old, HOPPER))
    assert uses_second_runner(deployment_of(shape(row), Settings("0.33.0"), HOPPER))
    early = Settings("0.19.0", environment={"VLLM_USE_V2_MODEL_RUNNER": "1"})
    assert not uses_second_runner(deployment_of(shape(row), early, HOPPER))


def test_expert_buffers_stay_from_0_14_and_join_the_sampler() -> None:
    row = Row("Qwen3-30B-A3B", 2048, 6144, 151936, 0.0, experts=MARLIN_FREE)
    kept, passing = (peak(replace(row, version=v)) for v in ("0.19.0", "0.11.0"))
    assert kept.kept_bytes == 8192 * 8 * (2048 + 2048) * 2
    assert passing.kept_bytes == 0


def test_a_tower_that_builds_a_table_keeps_it() -> None:
    tower = replace(GEMMA_IMAGE, table_bytes=100 * MIB)
    row = next(row for row in ROWS if row.name == "gemma-3-12b")
    more = peak(replace(row, tower=tower)).bytes - peak(row).bytes
    assert more == 100 * MIB


def test_v0_gives_every_sequence_of_an_encoder_decoder_model_its_audio() -> None:
    """Whisper large v3 turbo on 0.9.0: 10.45 GiB logged."""
    tower = TowerInput("audio", 128 * 3000, 1500, 1500, 1280)
    row = Row("whisper", 1280, 5120, 51866, 10.45, version="0.6.6", tokens=5120, rows=256,
              gated=False, tower=tower, card=ADA)  # fmt: skip
    whisper = replace(shape(row), kind=ModelKind.ENCODER_DECODER)
    settings = Settings("0.6.6", max_num_batched_tokens=5120, max_num_seqs=256)
    found = activation_peak(deployment_of(whisper, settings, ADA), 0)
    assert found.governed_by == "encoder"
    assert found.bytes / GIB == pytest.approx(10.45, rel=0.03)


def gathered(version: str, dp: int, *, backend: str = "", parallel: bool = True) -> ActivationPeak:
    experts = Experts(128, 8, 768, 0, 32)
    row = Row("experts", 2048, 6144, 1000, 0.0, experts=experts)
    environment = {"VLLM_ALL2ALL_BACKEND": backend} if backend else {}
    settings = Settings(version, max_num_batched_tokens=8192, environment=environment)
    deployment = deployment_of(shape(row), settings, HOPPER)
    layout = replace(deployment.layout, dp=dp, expert_parallel=parallel)
    return activation_peak(replace(deployment, layout=layout), 0)


@pytest.mark.parametrize(
    ("version", "width"), [("0.8.5", 2048 + 768), ("0.11.0", 2048 + 768), ("0.20.0", 2048 + 2048)]
)
def test_experts_see_the_tokens_of_every_data_parallel_rank(version: str, width: int) -> None:
    alone, four = gathered(version, 1), gathered(version, 4)
    states = 4 * 8192 * (2 * 2048 + 128) * 2
    workspace = 4 * 8192 * 8 * width * 2
    assert alone.gathered_bytes == 0
    assert four.gathered_bytes == states + workspace
    assert four.forward_bytes >= alone.forward_bytes + workspace * 3 // 4


def test_other_ways_of_exchange_gather_nothing() -> None:
    assert gathered("0.11.0", 4, backend="deepep_low_latency") == gathered("0.11.0", 1)


def test_without_expert_parallelism_every_rank_has_a_slice_of_every_expert() -> None:
    whole, sliced = gathered("0.11.0", 4), gathered("0.11.0", 4, parallel=False)
    assert sliced.gathered_bytes < whole.gathered_bytes
