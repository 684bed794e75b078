"""Weights of one rank: splits, stages, quantisation, adapters, drafts, offload."""

from dataclasses import replace
from typing import Any

import pytest

from deployments import H100, Settings, deployment_of, gpu
from vramledger.engine.setting import Layout, Origin, Setting
from vramledger.engine.vllm.deployment import Deployment, Lora, Speculation
from vramledger.engine.vllm.weights import RankWeights, rank_weights
from vramledger.errors import UnknownName
from vramledger.hardware.accelerator import Vendor
from vramledger.model.architectures import build
from vramledger.model.config import Config
from vramledger.model.dtype import DType
from vramledger.model.load import load_model
from vramledger.model.model import Model
from vramledger.model.quantization import quantize
from vramledger.model.tensor import Role
from vramledger.units import GIB, gib

LLAMA = "meta-llama/Llama-3.1-8B"
TINY: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 10,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "vocab_size": 1000,
    "max_position_embeddings": 2048,
    "torch_dtype": "bfloat16",
}


def tiny(**values: Any) -> Model:
    config = Config({**TINY, **values}, "config.json")
    return quantize(build(config, "tiny"), config)


def weights(model: Model, stage: int = 0, **settings: Any) -> RankWeights:
    return rank_weights(deployment_of(model, Settings(**settings)), stage)


def with_fields(model: Model, **fields: Any) -> Deployment:
    return deployment_of(model, Settings(fields=fields))


@pytest.mark.parametrize(
    ("tp", "pp", "logged"), [(1, 1, 14.99), (2, 1, 7.51), (4, 1, 3.77), (1, 2, 7.51)]
)
def test_llama_loads_as_logged(tp: int, pp: int, logged: float) -> None:
    found = [weights(load_model(LLAMA), stage, tp=tp, pp=pp) for stage in range(pp)]
    assert gib(max(w.total for w in found)) == pytest.approx(logged, abs=0.005)


def test_one_rank_holds_the_parameters_and_the_position_table() -> None:
    model = tiny()
    found = weights(model)
    assert sum(found.by_role.values()) == model.params_total * 2 + 2 * 24 * 1024 * 2
    assert found.rotary == 2048 * 128 * 2
    assert found.total == found.model == sum(found.by_role.values()) + found.rotary + found.rounding


def test_the_served_type_decides_the_size() -> None:
    model = tiny()
    two = rank_weights(with_fields(model, dtype=Setting(DType.FLOAT16)), 0)
    four = rank_weights(with_fields(model, dtype=Setting(DType.FLOAT32)), 0)
    assert four.total - four.rounding == 2 * (two.total - two.rounding)


def test_more_ranks_than_kv_heads_repeat_them() -> None:
    eight = weights(tiny(), tp=8).by_role[Role.ATTENTION]
    q_and_o = 2 * 1024 * 1024 // 8
    k_and_v = 2 * 128 * 1024
    assert eight == 10 * (q_and_o + k_and_v) * 2


def test_tied_embeddings_are_held_once_on_one_stage_and_twice_on_two() -> None:
    model = tiny(tie_word_embeddings=True)
    table = 1024 * 1024 * 2
    assert weights(model).by_role[Role.EMBEDDING] == table
    first, last = (weights(model, stage, pp=2) for stage in (0, 1))
    assert first.by_role[Role.EMBEDDING] == last.by_role[Role.EMBEDDING] == table


def test_the_ends_of_a_pipeline_hold_embedding_and_head() -> None:
    first, middle, last = (weights(tiny(), stage, pp=3) for stage in range(3))
    assert Role.EMBEDDING in first.by_role
    assert Role.HEAD in last.by_role
    assert not {Role.EMBEDDING, Role.HEAD} & middle.by_role.keys()


def test_stages_together_hold_the_whole_model() -> None:
    parts = [sum(weights(tiny(), stage, pp=4).by_role.values()) for stage in range(4)]
    assert sum(parts) == sum(weights(tiny()).by_role.values())


def test_a_given_partition_is_followed() -> None:
    settings = Settings(pp=2, environment={"VLLM_PP_LAYER_PARTITION": "7,3"})
    deployment = deployment_of(tiny(), settings)
    mlp = [rank_weights(deployment, stage).by_role[Role.MLP] for stage in (0, 1)]
    assert mlp[0] * 3 == mlp[1] * 7


def test_experts_are_spread_whole_under_expert_parallelism() -> None:
    model = load_model("Qwen/Qwen3-30B-A3B")
    base = deployment_of(model, Settings(tp=4))
    spread = replace(base, layout=Layout(tp=4, dp=2, expert_parallel=True))
    cut = replace(base, layout=Layout(tp=4, dp=2))
    alone = rank_weights(base, 0).by_role[Role.EXPERT]
    assert rank_weights(spread, 0).by_role[Role.EXPERT] * 2 == alone
    assert rank_weights(cut, 0).by_role[Role.EXPERT] * 2 == alone


def test_fp8_on_the_way_halves_linear_layers_only() -> None:
    found = rank_weights(
        with_fields(load_model(LLAMA), quantization=Setting("fp8", Origin.GIVEN)), 0
    )
    assert gib(found.total) == pytest.approx(8.49, abs=0.005)


def test_bitsandbytes_on_the_way_compresses_the_scales_too() -> None:
    deployment = deployment_of(
        load_model("meta-llama/Meta-Llama-3-8B-Instruct"),
        Settings(version="0.5.0", fields={"quantization": Setting("bitsandbytes", Origin.GIVEN)}),
        gpu(15, 7, 5),
    )
    assert gib(rank_weights(deployment, 0).total) == pytest.approx(5.3128, rel=2e-3)


def test_a_quantised_checkpoint_is_not_quantised_again() -> None:
    model = tiny(quantization_config={"quant_method": "fp8"})
    asked = with_fields(model, quantization=Setting("fp8", Origin.GIVEN))
    assert rank_weights(asked, 0) == rank_weights(deployment_of(model, Settings()), 0)


def test_an_unknown_way_of_quantising_is_refused() -> None:
    with pytest.raises(UnknownName, match="method of quantising while loading 'int2'"):
        rank_weights(with_fields(tiny(), quantization=Setting("int2", Origin.GIVEN)), 0)


def test_latent_attention_keeps_a_16_bit_copy_of_a_quantised_projection() -> None:
    deployment = deployment_of(load_model("deepseek-ai/DeepSeek-R1"), Settings("0.8.0", tp=16))
    found = rank_weights(deployment, 0)
    assert found.absorbed == 61 * 512 * (128 // 16) * 256 * 2
    assert gib(found.total) == pytest.approx(40.3172, rel=1e-3)


def test_machete_keeps_what_marlin_drops() -> None:
    section = {"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": True}
    model = tiny(quantization_config=section)
    hopper = rank_weights(deployment_of(model, Settings(), H100), 0)
    ampere = rank_weights(deployment_of(model, Settings(), gpu(80, 8, 0)), 0)
    linear = 10 * (2 * 1024 * 1024 + 2 * 512 * 1024 + 3 * 4096 * 1024)
    zeros = linear // 128 // 2
    index = 10 * (1024 * 3 + 4096) * 4
    difference = sum(hopper.by_role.values()) - sum(ampere.by_role.values())
    assert difference == zeros + index


def test_act_order_keeps_two_indices_and_whole_scales_of_row_split_layers() -> None:
    section = {"quant_method": "gptq", "bits": 4, "group_size": 128}
    ordered, plain = (
        rank_weights(
            deployment_of(
                tiny(quantization_config={**section, "desc_act": act_order}),
                Settings(tp=2),
                gpu(80, 8, 0),
            ),
            0,
        ).by_role[Role.MLP]
        for act_order in (True, False)
    )
    indices = 2 * (1024 + 2048) * 4
    scales_of_the_other_half = 1024 * (2048 // 128) * 2
    assert ordered - plain == 10 * (indices + scales_of_the_other_half)


def test_amd_kernels_pad_rows_of_experts() -> None:
    model = load_model("Qwen/Qwen3-30B-A3B")
    amd = replace(H100, vendor=Vendor.AMD, compute_capability=None)
    padded = rank_weights(deployment_of(model, Settings(), amd), 0).by_role[Role.EXPERT]
    plain = rank_weights(deployment_of(model, Settings()), 0).by_role[Role.EXPERT]
    rows = 48 * 128 * (2 * 768 + 2048)
    assert padded - plain == rows * 256


def test_offloading_moves_layers_up_to_its_limit() -> None:
    model = load_model(LLAMA)
    some = rank_weights(with_fields(model, cpu_offload_gib=Setting(4.0, Origin.GIVEN)), 0)
    most = rank_weights(with_fields(model, cpu_offload_gib=Setting(99.0, Origin.GIVEN)), 0)
    assert some.offloaded == 4 * GIB
    layers = model.params_total - 2 * 128256 * 4096 - 4096
    assert most.offloaded == layers * 2


def test_slots_for_adapters_are_two_thin_matrices_a_layer() -> None:
    lora = Lora(max_loras=2, max_rank=16, max_cpu_loras=2)
    found = rank_weights(with_fields(tiny(), lora=lora), 0)
    attention = 3 * 1024 + 2048 + 1024 + 1024
    mlp = 2 * 1024 + 8192 + 4096 + 1024
    vocabulary = 2 * (1000 + 1024)
    assert found.lora == 2 * 16 * (10 * (attention + mlp) + vocabulary) * 2


def test_a_draft_model_lies_on_the_last_stage() -> None:
    draft = tiny(num_hidden_layers=2)
    speculation = Speculation("draft_model", 3, draft, 1)
    fields = {"speculation": speculation}
    first, last = (
        rank_weights(deployment_of(tiny(), Settings(pp=2, fields=fields)), stage)
        for stage in (0, 1)
    )
    assert first.draft == 0
    assert last.draft == weights(draft).total
    assert last.total == last.model + last.draft


def test_speculation_without_a_model_takes_no_weights() -> None:
    ngram = Speculation("ngram", 3, None, 1)
    assert rank_weights(with_fields(tiny(), speculation=ngram), 0).draft == 0


def test_an_eagle_head_borrows_embedding_and_head() -> None:
    draft = tiny(num_hidden_layers=1)
    own = rank_weights(with_fields(tiny(), speculation=Speculation("eagle", 3, draft, 1)), 0)
    whole = rank_weights(
        with_fields(tiny(), speculation=Speculation("draft_model", 3, draft, 1)), 0
    )
    assert whole.draft - own.draft == 2 * 1024 * 1024 * 2


def test_mtp_layers_count_when_they_are_used() -> None:
    model = load_model("deepseek-ai/DeepSeek-R1")
    used = Speculation("mtp", 1, None, 1)
    settings = Settings(tp=8, fields={"speculation": used})
    experts = 257 * 3 * 7168 * 2048 // 8
    joint_projection = 2 * 7168 * 7168 * 2
    attention = (24576 * 1536 + 32768 * 512 + 7168 * 16384) // 8 + 7168 * (1536 + 576)
    expected = experts + joint_projection + attention
    assert rank_weights(deployment_of(model, settings), 0).draft == pytest.approx(
        expected, rel=0.01
    )
    assert weights(model, tp=8).draft == 0


def test_a_processor_has_no_caching_allocator() -> None:
    host = replace(H100, vendor=Vendor.CPU, compute_capability=None)
    assert rank_weights(deployment_of(tiny(), Settings(), host), 0).rounding == 0
