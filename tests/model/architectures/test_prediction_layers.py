"""Multi-token prediction layers: in the checkpoint, not in the class, counted apart."""

from typing import Any

from building import model_of
from vramledger.model.model import Model, count_elements
from vramledger.model.tensor import Role

SMALL: dict[str, Any] = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 96,
    "vocab_size": 256,
}


def extra_names(model: Model) -> set[str]:
    return {tensor.name for tensor in model.extra_tensors}


def test_they_change_nothing_of_the_model_itself() -> None:
    plain = model_of("deepseek_v3", **SMALL)
    drafted = model_of("deepseek_v3", **SMALL, num_nextn_predict_layers=2)
    assert plain.tensors == drafted.tensors
    assert plain.cache_layers == drafted.cache_layers
    assert plain.extra_tensors == ()
    assert {tensor.role for tensor in drafted.extra_tensors} == {Role.DRAFT}


def test_deepseek_numbers_them_after_its_layers_with_copies_of_the_vocabulary() -> None:
    model = model_of("deepseek_v3", **SMALL, num_nextn_predict_layers=1)
    names = extra_names(model)
    assert {
        "model.layers.2.eh_proj.weight",
        "model.layers.2.enorm.weight",
        "model.layers.2.hnorm.weight",
        "model.layers.2.shared_head.norm.weight",
        "model.layers.2.shared_head.head.weight",
        "model.layers.2.embed_tokens.weight",
    } <= names
    assert "model.layers.2.mlp.experts.{e}.gate_proj.weight" in names


def test_mimo_shares_the_vocabulary_with_the_model() -> None:
    model = model_of("mimo", **SMALL, num_key_value_heads=2, num_nextn_predict_layers=1)
    names = extra_names(model)
    assert "model.mtp_layers.0.input_proj.weight" in names
    assert not any("embed" in name or "head" in name for name in names)
    layer = sum(t.elements for t in model.tensors if t.layer == 0)
    assert count_elements(model.extra_tensors) == layer + 2 * 64 * 64 + 3 * 64


def test_a_sparse_model_gives_them_an_indexer_where_its_last_layer_has_none() -> None:
    model = model_of(
        "glm_moe_dsa", **SMALL, indexer_types=["full", "shared"], num_nextn_predict_layers=1
    )
    assert not any("layers.1.self_attn.indexer" in t.name for t in model.tensors)
    assert "model.layers.2.self_attn.indexer.wq_b.weight" in extra_names(model)


def test_deepseek_v4_predicts_with_a_window_only_layer() -> None:
    model = model_of(
        "deepseek_v4", hidden_size=64, num_hidden_layers=4, num_attention_heads=4, head_dim=32,
        vocab_size=256,
    )  # fmt: skip
    names = extra_names(model)
    assert {"mtp.0.e_proj.weight", "mtp.0.h_proj.weight", "mtp.0.hc_head_fn"} <= names
    assert not any("compressor" in name for name in names)


def test_minimax_m2_says_that_its_modules_are_not_counted() -> None:
    model = model_of("minimax_m2", **{**SMALL, "num_attention_heads": 8}, num_mtp_modules=3)
    assert model.extra_tensors == ()
    assert model.notes == ("The configuration names 3 MTP modules; their weights are not counted.",)
