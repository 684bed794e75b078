"""Cases: what their names and numbers mean, and errors that stay on their own line."""

import json

import pytest

from timing_questions import case
from vramledger.errors import BadInput, CannotKnow, UnknownName
from vramledger.evidence import Basis
from vramledger.simulate.timing.cases.answer import answers
from vramledger.simulate.timing.cases.checkpoint import base_name, checkpoint_of
from vramledger.simulate.timing.cases.deployment import accelerator_of, question_of
from vramledger.simulate.timing.cases.layout import layout_of
from vramledger.simulate.timing.cases.line import read_case
from vramledger.simulate.timing.room import room_of


@pytest.mark.parametrize(
    ("name", "precision", "loaded", "method"),
    [
        ("meta-llama/Llama-3.1-70B", "fp8", "nvidia/Llama-3.1-70B-Instruct-FP8", "modelopt"),
        ("meta-llama/Llama-3.1-70B", "fp4", "meta-llama/Llama-3.1-70B", "nvfp4"),
        ("MiniMaxAI/MiniMax-M2.5", "fp8", "MiniMaxAI/MiniMax-M2.5", "fp8"),
        ("MiniMaxAI/MiniMax-M2.5", "fp4", "nvidia/MiniMax-M2.5-NVFP4", "nvfp4"),
        ("moonshotai/Kimi-K2.5", "fp4", "nvidia/Kimi-K2.5-NVFP4", "nvfp4"),
        ("openai/gpt-oss-120b", "fp4", "openai/gpt-oss-120b", "mxfp4"),
        ("Qwen/Qwen3-32B", "int4", "Qwen/Qwen3-32B-AWQ", "awq"),
        ("nvidia/Qwen3-32B-NVFP4", "fp4", "nvidia/Qwen3-32B-NVFP4", "nvfp4"),
        ("nvidia/Qwen3-32B-FP8", None, "Qwen/Qwen3-32B", None),
        ("Qwen/Qwen3-235B-A22B-FP8", "bf16", "Qwen/Qwen3-235B-A22B", None),
        ("deepseek-ai/DeepSeek-V3", None, "deepseek-ai/DeepSeek-V3", "fp8"),
        ("zhipuai/GLM-5", "fp8", "zhipuai/GLM-5", "fp8"),
    ],
)
def test_a_name_and_a_precision_mean_one_checkpoint(
    name: str, precision: str | None, loaded: str, method: str | None
) -> None:
    found = checkpoint_of(name, precision)
    assert found.id == loaded
    assert (found.quantization.method if found.quantization else None) == method


def test_names_lose_vendor_and_precision() -> None:
    assert base_name("nvidia/Llama-3.3-70B-Instruct-FP8") == "Llama-3.3-70B-Instruct"
    assert base_name("RedHatAI/X-quantized.w4a16") == "X"
    assert base_name("org/Model-FP8-dynamic") == "Model"
    assert base_name("plain") == "plain"


def test_an_unknown_precision_is_named() -> None:
    with pytest.raises(UnknownName, match="precision 'fp7'"):
        checkpoint_of("Qwen/Qwen3-32B", "fp7")


@pytest.mark.parametrize(
    ("system", "card"),
    [
        ("h100_sxm", "H100-80GB-SXM"),
        ("h200_sxm", "H200-141GB-SXM"),
        ("b200_sxm", "B200"),
        ("b300_sxm", "B300"),
        ("gb200", "GB200"),
        ("gb300", "GB300"),
        ("l40s", "L40S"),
        ("a100_sxm", "A100-80GB-SXM"),
    ],
)
def test_names_of_systems_are_cards(system: str, card: str) -> None:
    assert accelerator_of(system).name == card


@pytest.mark.parametrize(
    ("stated", "layout"),
    [
        ({"tp": 4, "dp": 1, "gpus": 4}, (4, 1, False)),
        ({"tp": 1, "dp": None, "gpus": None, "moe_tp": 2, "moe_ep": 1}, (1, 2, False)),
        ({"tp": 2, "dp": 2, "gpus": 2, "moe_tp": 1, "moe_ep": 4}, (1, 2, True)),
        ({"tp": 2, "dp": None, "gpus": 8}, (2, 4, False)),
        ({"tp": 2, "dp": 4, "gpus": 8, "moe_tp": 1, "moe_ep": 8}, (2, 4, True)),
        ({"tp": 4, "dp": None, "gpus": 4, "moe_tp": 1, "moe_ep": 1}, (4, 1, False)),
    ],
)
def test_layout_numbers_are_read_so_that_they_fit_the_gpus(
    stated: dict[str, int | None], layout: tuple[int, int, bool]
) -> None:
    found = layout_of(read_case(case(**stated)))
    assert (found.tp, found.dp, found.expert_parallel) == layout


def test_a_stated_cap_on_requests_is_the_engines_and_the_samplers() -> None:
    plain, capped = (
        question_of(read_case(case(max_num_seqs=cap))).deployment for cap in (None, 16)
    )
    assert plain.max_num_seqs.value > capped.max_num_seqs.value == 16
    roomy, tight = room_of(capped).pool, room_of(plain).pool
    assert roomy is not None
    assert tight is not None
    assert roomy.num_blocks > tight.num_blocks


def test_the_cache_type_of_the_case_wins_over_the_checkpoints() -> None:
    def cache(kv_dtype: str | None) -> str:
        asked = question_of(read_case(case(model="nvidia/Kimi-K2.5-NVFP4", precision="fp4",
                                           gpu="b300_sxm", kv_dtype=kv_dtype)))  # fmt: skip
        declared = asked.deployment.model.quantization
        given = asked.deployment.kv_cache_dtype.value
        return given if given != "auto" else str(declared.kv_dtype if declared else None)

    assert cache(None) == "fp8"
    assert cache("bf16") == "None"
    assert cache("fp8") == "fp8"


@pytest.mark.parametrize("version", [None, "nightly-5b8c30d62b754b57", "0.18.0rc1", "main"])
def test_a_version_that_is_no_release_is_assumed_and_widens_the_band(version: str | None) -> None:
    lines = [json.dumps(case(engine_version=text)) for text in (version, "0.18.0")]
    assumed, known = (answer.prediction for answer in answers(lines))
    assert assumed is not None
    assert known is not None
    assert (assumed.tpot.basis, known.tpot.basis) == (Basis.ASSUMED, Basis.CALIBRATED)
    widths = [p.tpot.high / p.tpot.low for p in (assumed, known)]
    assert widths[0] > widths[1]


def test_each_line_is_answered_or_says_why_not() -> None:
    lines = [
        json.dumps(case()),
        "",
        json.dumps(case(id="two", engine="sglang")),
        json.dumps(case(id=3, gpu="h999")),
        "{",
        json.dumps(case(id="four", concurrency=-1)),
        json.dumps(case(id="five", input_tokens=10**7)),
        json.dumps([]),
        '{"id": NaN}',
    ]
    found = list(answers(lines))
    assert [answer.id for answer in found] == ["one", "two", 3, None, "four", "five", None, None]
    assert [answer.error is None for answer in found] == [True] + [False] * 7
    assert found[1].error == (
        "The step time of sglang is not modelled; cases of vllm are answered."
    )
    assert found[4].error == "concurrency is -1; it must be above 0."
    assert all(str(answer.error).endswith(".") for answer in found[1:])


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("tp", 1.5, "tp is 1.5; it must be a whole number or null."),
        ("tp", True, "tp is True; it must be a whole number or null."),
        ("dp", -1, "dp is -1; it must lie between 1 and 65536."),
        ("model", None, "model is missing; name it."),
        ("gpu", 7, "gpu is 7; it must be text or null."),
        ("output_tokens", "many", "output_tokens is 'many'; it must be a number."),
        ("input_tokens", 0, "input_tokens is 0; it must be above 0."),
        ("input_tokens", 10**400, "input_tokens is above 1e+12; give what one server can see."),
        ("requests", 1e300, "requests is above 1e+12; give what one server can see."),
        ("pp", float("inf"), "pp is inf; it must lie between 1 and 65536."),
    ],
)
def test_a_value_that_means_nothing_is_named(key: str, value: object, sentence: str) -> None:
    with pytest.raises(BadInput) as refused:
        read_case(case(**{key: value}))
    assert str(refused.value) == sentence


def test_another_engine_cannot_be_known() -> None:
    with pytest.raises(CannotKnow):
        question_of(read_case(case(engine="trtllm")))
