"""Configurations that cannot be used, each with its one sentence."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from building import model_of
from vramledger.errors import BadInput, UnknownName, VramError
from vramledger.model.architectures import MODULES, build
from vramledger.model.config import Config, parse_config

LLAMA: dict[str, Any] = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 96,
    "vocab_size": 256,
}


def refusal_of(model_type: str = "llama", **changes: Any) -> str:
    with pytest.raises(BadInput) as refusal:
        model_of(model_type, **{**LLAMA, **changes})
    return str(refusal.value)


def test_an_unknown_model_type_is_refused_with_the_nearest_known() -> None:
    with pytest.raises(UnknownName) as refusal:
        model_of("qwen33")
    assert str(refusal.value).startswith(
        "Unknown model_type 'qwen33' in config.json, 'model_type'; the nearest known ones are qwen3,"
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"num_attention_heads": 0},
            (
                "config.json: 'num_attention_heads' is 0; it must be a whole number from 1 to "
                "1099511627776."
            ),
        ),
        (
            {"hidden_size": -64},
            "config.json: 'hidden_size' is -64; it must be a whole number from 1 to 1099511627776.",
        ),
        (
            {"intermediate_size": float("nan")},
            (
                "config.json: 'intermediate_size' is nan; it must be a whole number from 1 to "
                "1099511627776."
            ),
        ),
        (
            {"num_hidden_layers": 10**9},
            (
                "config.json: 'num_hidden_layers' is 1000000000; it must be a whole number from 1 to "
                "4096."
            ),
        ),
        (
            {"num_key_value_heads": 3},
            (
                "config.json: 'num_key_value_heads' (3) does not divide the query heads (4), so no "
                "group of queries can share a KV head; correct one of them."
            ),
        ),
        (
            {"hidden_size": 65},
            (
                "config.json: the hidden size (65) is not a multiple of the attention heads (4) and no "
                "'head_dim' is given; add it."
            ),
        ),
        (
            {"vocab_size": None},
            "config.json has no 'vocab_size', which this architecture needs; add it.",
        ),
        (
            {"attention_bias": "yes"},
            "config.json: 'attention_bias' is 'yes'; it must be true or false.",
        ),
        (
            {"rope_scaling": {"type": "linear", "factor": 0}},
            "config.json: the rope 'factor' is 0.0; it must be positive.",
        ),
        (
            {"rope_scaling": {"type": "linear", "factor": 1e300}},
            (
                "config.json: the longest sequence comes to more than 1099511627776 tokens; correct "
                "its length or the rope 'factor'."
            ),
        ),
    ],
)
def test_a_bad_value_is_refused_in_one_sentence(changes: dict[str, Any], message: str) -> None:
    assert refusal_of(**changes) == message


def test_more_experts_a_token_than_experts_is_refused() -> None:
    message = refusal_of(
        "mixtral", num_key_value_heads=2, num_local_experts=2, num_experts_per_tok=3
    )
    assert message == (
        "config.json: a token takes 3 experts ('num_experts_per_tok'), but there are only 2; "
        "correct one of them."
    )


def test_a_class_default_that_does_not_fit_is_named_as_such() -> None:
    assert refusal_of("mistral") == (
        "config.json: 'num_key_value_heads' (8, the default of its class) does not divide the query "
        "heads (4), so no group of queries can share a KV head; correct one of them."
    )


def test_a_nas_block_without_its_parts_is_refused() -> None:
    message = refusal_of("nemotron-nas", block_configs=[{"attention": {"no_op": True}}] * 2)
    assert message == (
        "config.json, 'block_configs' 0 has no 'ffn'; describe it, or mark it as 'no_op'."
    )


def test_infinity_in_a_key_that_does_not_matter_is_no_obstacle() -> None:
    text = json.dumps({"model_type": "llama", **LLAMA, "time_step_limit": [0.0, float("inf")]})
    assert build(parse_config(text, "config.json"), "x").text.layers == 2


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=8),
    st.lists(st.one_of(st.integers(-3, 9), st.none(), st.text(max_size=3)), max_size=4),
    st.dictionaries(st.text(max_size=4), st.integers(), max_size=2),
)
KEYS = st.sampled_from(
    [
        *LLAMA, "num_key_value_heads", "head_dim", "layer_types", "sliding_window", "rope_scaling",
        "max_position_embeddings", "num_local_experts", "num_experts_per_tok", "q_lora_rank",
        "mlp_layer_types", "compress_ratios", "block_configs", "moe_layer_freq", "torch_dtype",
        "tie_word_embeddings", "num_nextn_predict_layers", "architectures", "id2label",
    ]
)  # fmt: skip


def outcome(keys: dict[str, Any]) -> str:
    """What building ends in: a count or the sentence of a refusal."""
    try:
        return f"{build(Config(keys, 'config.json'), 'x').params_total} parameters."
    except VramError as refusal:
        return str(refusal)


@given(st.sampled_from(sorted(MODULES)), st.dictionaries(KEYS, JUNK, max_size=5))
def test_junk_ends_in_a_model_or_in_a_refusal(model_type: str, junk: dict[str, Any]) -> None:
    assert outcome({"model_type": model_type, **LLAMA, **junk}).endswith(".")
