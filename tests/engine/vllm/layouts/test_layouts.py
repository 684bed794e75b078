"""Which layouts are legal, and the sentence each refusal says."""

from typing import Any

import pytest

from deployments import gpu
from vramledger.engine.setting import Layout
from vramledger.engine.vllm.layouts import Refusal, refusals, tensor_parallel_choices
from vramledger.engine.vllm.rules import Rules
from vramledger.engine.vllm.versions import rules_for
from vramledger.model.architectures import build
from vramledger.model.config import Config
from vramledger.model.load import load_model
from vramledger.model.model import Model
from vramledger.model.quantization import quantize

RULES = rules_for("0.19.0").rules
QWEN_72B: dict[str, Any] = {
    "model_type": "qwen2",
    "hidden_size": 8192,
    "intermediate_size": 29568,
    "num_hidden_layers": 4,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "vocab_size": 152064,
}


def model_with(config: dict[str, Any], **more: Any) -> Model:
    read = Config({**config, **more}, "config.json")
    return quantize(build(read, "test"), read)


def only(model: Model, layout: Layout, rules: Rules = RULES) -> Refusal:
    (refusal,) = refusals(model, layout, rules)
    return refusal


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("Qwen/Qwen2.5-7B-Instruct", (1, 2, 4)),
        ("meta-llama/Llama-3.3-70B-Instruct", (1, 2, 4, 8, 16, 32)),
        ("Qwen/Qwen3-30B-A3B-FP8", (1, 2)),
        ("Qwen/Qwen3-235B-A22B-FP8", (1, 2, 4)),
        ("deepseek-ai/DeepSeek-R1", (1, 2, 4, 8, 16)),
        ("openai/gpt-oss-120b", (1, 2, 4, 8, 16, 32)),
    ],
)
def test_well_known_models_split_as_vllm_splits_them(name: str, choices: tuple[int, ...]) -> None:
    assert tensor_parallel_choices(load_model(name), RULES, 32) == choices


def test_expert_parallelism_lifts_the_block_rule() -> None:
    model = load_model("Qwen/Qwen3-30B-A3B-FP8")
    assert 8 in tensor_parallel_choices(model, RULES, 8, expert_parallel=True)


@pytest.mark.parametrize(("intermediate", "choices"), [(29568, (1,)), (29696, (1, 2, 4, 8))])
def test_a_group_that_does_not_divide_forbids_every_split(
    intermediate: int, choices: tuple[int, ...]
) -> None:
    section = {"quant_method": "gptq", "bits": 4, "group_size": 128}
    model = model_with(QWEN_72B, intermediate_size=intermediate, quantization_config=section)
    assert tensor_parallel_choices(model, RULES, 8) == choices


def test_heads_are_named() -> None:
    assert refusals(load_model("Qwen/Qwen2.5-7B-Instruct"), Layout(tp=8), RULES) == (
        Refusal(
            "query heads",
            "The 28 attention heads are not divisible by a tensor-parallel size of 8; "
            "choose one that divides 28.",
        ),
    )


def test_kv_heads_are_named() -> None:
    model = model_with(QWEN_72B, num_attention_heads=12, num_key_value_heads=4, head_dim=128)
    assert only(model, Layout(tp=6)).message == (
        "The 4 KV heads can neither be divided over 6 ranks nor repeated evenly on them; "
        "choose a tensor-parallel size that divides 4 or is a multiple of it."
    )


def test_the_fp8_block_is_named() -> None:
    refusal = only(load_model("Qwen/Qwen3-30B-A3B-FP8"), Layout(tp=4))
    assert refusal.rule == "FP8 block"
    assert refusal.message == (
        "A rank's share of model.layers.0.mlp.experts.{e}.gate_proj.weight, 192 outputs, is not a "
        "multiple of the FP8 block of 128; use fewer ranks, or expert parallelism where these are "
        "experts."
    )


def test_the_quantisation_group_is_named() -> None:
    model = model_with(QWEN_72B, quantization_config={"quant_method": "awq"})
    assert only(model, Layout(tp=2)).message == (
        "A rank's share of model.layers.0.mlp.down_proj.weight, 14784 inputs, is not a multiple of "
        "the quantisation group of 128; use fewer ranks or a checkpoint with smaller groups."
    )


def test_experts_are_needed_for_expert_parallelism() -> None:
    refusal = only(model_with(QWEN_72B), Layout(tp=2, expert_parallel=True))
    assert refusal.message == (
        "The model has no experts, so expert parallelism cannot be switched on."
    )


def test_more_stages_than_layers_are_refused() -> None:
    refusal = only(model_with(QWEN_72B), Layout(pp=5))
    assert (
        refusal.message == "5 pipeline stages are more than the model's 4 layers; use fewer stages."
    )


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        (Layout(tp=16, dcp=3), "A decode-context-parallel size of 3 does not divide"),
        (Layout(tp=8, dcp=2), "needs more ranks than KV heads; the tensor-parallel size is 8"),
        (Layout(tp=16, dcp=4), "is more than the 2 ranks that hold the same KV head"),
    ],
)
def test_decode_context_parallelism_uses_repeated_heads(layout: Layout, message: str) -> None:
    assert message in only(model_with(QWEN_72B), layout).message


def test_repeated_heads_may_be_used_by_decode_context_parallelism() -> None:
    assert refusals(model_with(QWEN_72B), Layout(tp=16, dcp=2), RULES) == ()
    assert refusals(load_model("deepseek-ai/DeepSeek-R1"), Layout(tp=8, dcp=8), RULES) == ()


def test_old_cards_are_refused_by_method() -> None:
    model = model_with(QWEN_72B, quantization_config={"quant_method": "fp8"})
    old = rules_for("0.11.0").rules
    (refusal,) = refusals(model, Layout(), old, gpu(16, 7, 5))
    assert refusal.message == "fp8 weights need compute capability 8.0; test card has 7.5."
    assert refusals(model, Layout(), RULES, gpu(16, 7, 5)) == ()


def test_stored_bitsandbytes_weights_could_not_be_cut_before() -> None:
    section = {"quant_method": "bitsandbytes", "load_in_4bit": True}
    model = model_with(QWEN_72B, quantization_config=section)
    assert only(model, Layout(tp=2), rules_for("0.8.5").rules).rule == "bitsandbytes shards"
    assert refusals(model, Layout(tp=2), rules_for("0.11.0").rules) == ()
