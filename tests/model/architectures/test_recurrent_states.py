"""What recurrent layers remember: shapes for the whole model, and what splits them."""

import pytest

from building import model_of
from vramledger.errors import BadInput, UnknownName
from vramledger.model import figures
from vramledger.model.cache import (
    FullAttention,
    LatentAttention,
    RecurrentState,
    SlidingAttention,
    StateKind,
    StatePart,
)
from vramledger.model.dtype import DType
from vramledger.model.model import Model

TEXT = {
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 96,
    "vocab_size": 128,
}


def states(model: Model) -> list[RecurrentState]:
    return [c.spec for c in model.cache_layers if isinstance(c.spec, RecurrentState)]


def test_mamba_keeps_the_last_inputs_of_its_convolution_and_a_state_per_channel() -> None:
    model = model_of(
        "mamba", hidden_size=64, num_hidden_layers=2, vocab_size=128, state_size=16, conv_kernel=4
    )
    assert (
        states(model)
        == [
            RecurrentState(
                StateKind.MAMBA1,
                (StatePart((128, 3), recurrent=False), StatePart((128, 16), recurrent=True)),
                heads=128,
            )
        ]
        * 2
    )
    assert model.text.heads == 0
    assert figures.full_bytes_per_token(model) == 0


def test_mamba2_convolves_b_and_c_of_every_group_beside_its_heads() -> None:
    model = model_of(
        "mamba2", hidden_size=64, num_heads=8, head_dim=16, n_groups=2, state_size=32,
        num_hidden_layers=1, vocab_size=128,
    )  # fmt: skip
    conv, scan = states(model)[0].parts
    assert conv == StatePart((128 + 2 * 2 * 32, 3), recurrent=False, groups=2, group_width=32)
    assert scan == StatePart((8, 16, 32), recurrent=True)


def test_only_the_recurrent_part_follows_the_type_of_the_state_cache() -> None:
    model = model_of(
        "mamba2", hidden_size=64, num_heads=8, head_dim=16, n_groups=1, state_size=32,
        num_hidden_layers=1, vocab_size=128,
    )  # fmt: skip
    conv, scan = 3 * (128 + 64), 8 * 16 * 32
    assert figures.state_bytes_per_sequence(model) == 2 * (conv + scan)
    assert figures.state_bytes_per_sequence(model, DType.FLOAT32) == 2 * conv + 4 * scan


def test_gated_delta_splits_by_key_heads_and_keeps_a_matrix_per_value_head() -> None:
    model = model_of(
        "qwen3_next", **TEXT, head_dim=16, num_hidden_layers=4, linear_num_key_heads=2,
        linear_num_value_heads=6, linear_key_head_dim=8, linear_value_head_dim=16,
        linear_conv_kernel_dim=4,
    )  # fmt: skip
    state = states(model)[0]
    assert (state.kind, state.heads) == (StateKind.GATED_DELTA, 2)
    assert [part.shape for part in state.parts] == [(2 * 16 + 96, 3), (6, 16, 8)]
    kinds = [type(cache.spec).__name__ for cache in model.cache_layers]
    assert kinds == ["RecurrentState"] * 3 + ["FullAttention"]


def test_kimi_linear_numbers_its_layers_from_one() -> None:
    model = model_of(
        "kimi_linear", **{**TEXT, "num_key_value_heads": 4}, num_hidden_layers=3,
        kv_lora_rank=32, qk_rope_head_dim=8,
        linear_attn_config={"full_attn_layers": [2], "kda_layers": [1, 3], "num_heads": 4,
                            "head_dim": 16, "short_conv_kernel_size": 4},
    )  # fmt: skip
    specs = [cache.spec for cache in model.cache_layers]
    assert specs[1] == LatentAttention(32, 8)
    assert specs[0] == specs[2]
    assert isinstance(specs[0], RecurrentState)
    assert [part.shape for part in specs[0].parts] == [(3 * 64, 3), (4, 16, 16)]


def test_kimi_linear_refuses_a_layer_that_is_named_twice_or_not_at_all() -> None:
    with pytest.raises(BadInput) as refusal:
        model_of(
            "kimi_linear", **{**TEXT, "num_key_value_heads": 4}, num_hidden_layers=3,
            linear_attn_config={"full_attn_layers": [2], "kda_layers": [1, 2]},
        )  # fmt: skip
    assert str(refusal.value) == (
        "config.json, 'linear_attn_config': 'full_attn_layers' and 'kda_layers' must name each of "
        "the 3 layers once, counted from 1."
    )


def test_lightning_attention_has_no_convolution() -> None:
    model = model_of("minimax", **TEXT, num_hidden_layers=2, attn_type_list=[0, 1])
    assert states(model) == [
        RecurrentState(StateKind.LINEAR, (StatePart((4, 16, 16), recurrent=True),), heads=4)
    ]


def test_minimax_refuses_a_list_of_layers_that_ends_early() -> None:
    with pytest.raises(BadInput) as refusal:
        model_of("minimax", **TEXT, num_hidden_layers=3, attn_type_list=[0, 1])
    assert str(refusal.value) == (
        "config.json: 'attn_type_list' lists 2 layers, but there are 3; list every layer."
    )


def test_recurrent_gemma_alternates_states_and_a_window() -> None:
    model = model_of(
        "recurrent_gemma", **{**TEXT, "num_key_value_heads": 1}, num_hidden_layers=3,
        lru_width=32, attention_window_size=512,
    )  # fmt: skip
    specs = [cache.spec for cache in model.cache_layers]
    assert [type(spec) for spec in specs] == [RecurrentState, RecurrentState, SlidingAttention]
    assert specs[2] == SlidingAttention(1, 16, 16, 512)
    assert isinstance(specs[0], RecurrentState)
    assert [part.shape for part in specs[0].parts] == [(32, 3), (32,)]


def test_a_short_convolution_keeps_only_its_last_inputs() -> None:
    model = model_of("lfm2", **TEXT, num_hidden_layers=2, layer_types=["conv", "full_attention"])
    assert states(model) == [
        RecurrentState(StateKind.SHORT_CONV, (StatePart((64, 2), recurrent=False),), heads=64)
    ]
    assert figures.state_bytes_per_sequence(model) == 2 * 128
    assert figures.state_bytes_per_sequence(model, DType.FLOAT32) == 2 * 128


def test_falcon_h1_owns_a_kv_cache_and_a_state_in_every_layer() -> None:
    model = model_of(
        "falcon_h1", **TEXT, num_hidden_layers=2, mamba_d_ssm=96, mamba_n_heads=6,
        mamba_d_state=16,
    )  # fmt: skip
    assert [cache.layer for cache in model.cache_layers] == [0, 0, 1, 1]
    assert [type(cache.spec) for cache in model.cache_layers] == [FullAttention, RecurrentState] * 2


def test_falcon_h1_refuses_heads_that_do_not_make_up_the_mixer() -> None:
    with pytest.raises(BadInput) as refusal:
        model_of("falcon_h1", **TEXT, num_hidden_layers=1, mamba_d_ssm=96, mamba_n_heads=5,
                 mamba_d_head=16)  # fmt: skip
    assert str(refusal.value) == (
        "config.json: 'mamba_n_heads' (5) times 'mamba_d_head' (16) is not the mixer's width 96 "
        "from 'mamba_d_ssm'; correct one of them."
    )


def test_nemotron_h_reads_its_depth_from_the_pattern() -> None:
    model = model_of("nemotron_h", **TEXT, hybrid_override_pattern="M-*E", num_hidden_layers=99)
    assert model.text.layers == 4
    assert [cache.layer for cache in model.cache_layers] == [0, 2]


def test_nemotron_h_refuses_a_letter_it_does_not_know() -> None:
    with pytest.raises(UnknownName) as refusal:
        model_of("nemotron_h", **TEXT, hybrid_override_pattern="M-X")
    assert str(refusal.value).startswith(
        "Unknown layer kind 'X' in config.json, 'hybrid_override_pattern'"
    )


def test_zamba2_stores_a_shared_block_once_and_caches_every_call() -> None:
    kinds = ["mamba", "hybrid", "hybrid", "hybrid"]
    model = model_of(
        "zamba2", hidden_size=64, num_attention_heads=4, num_hidden_layers=4, vocab_size=128,
        n_mamba_heads=4, layers_block_type=kinds, num_mem_blocks=2,
    )  # fmt: skip
    queries = [t.name for t in model.tensors if t.name.endswith("q_proj.weight")]
    assert queries == [
        f"model.layers.{i}.shared_transformer.self_attn.q_proj.weight" for i in (1, 2)
    ]
    full = [c.layer for c in model.cache_layers if isinstance(c.spec, FullAttention)]
    assert full == [1, 2, 3]
    assert len(states(model)) == 4


def test_zamba2_without_a_list_of_layers_is_54_deep() -> None:
    with pytest.raises(BadInput) as refusal:
        model_of("zamba2", hidden_size=64, num_attention_heads=4, num_hidden_layers=8,
                 vocab_size=128)  # fmt: skip
    assert str(refusal.value) == (
        "config.json has no 'layers_block_type', and the class's own list is for 54 layers, not 8; "
        "add it."
    )


def test_bamba_refuses_an_attention_layer_beyond_the_last() -> None:
    with pytest.raises(BadInput) as refusal:
        model_of("bamba", **TEXT, num_hidden_layers=2, attn_layer_indices=[2], mamba_n_heads=8)
    assert str(refusal.value) == (
        "config.json: 'attn_layer_indices' names layer 2, but there are 2 layers, counted from 0."
    )


def test_lfm2_refuses_a_factor_that_leaves_no_mlp() -> None:
    with pytest.raises(BadInput) as refusal:
        model_of("lfm2", **TEXT, num_hidden_layers=1, block_ffn_dim_multiplier=0.0)
    assert str(refusal.value) == (
        "config.json: 'block_ffn_dim_multiplier' is 0.0, which leaves no usable width of 96 for "
        "the MLP; correct it."
    )
