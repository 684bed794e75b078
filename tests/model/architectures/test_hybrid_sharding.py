"""How mixers, shared experts and towers split over ranks."""

from building import model_of, tensor_named, tensors_named
from vramledger.model.tensor import Role, Shard

TEXT = {
    "hidden_size": 64,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 96,
    "vocab_size": 128,
}
MAMBA2 = {
    "hidden_size": 64,
    "num_heads": 8,
    "head_dim": 16,
    "n_groups": 1,
    "state_size": 32,
    "num_hidden_layers": 1,
    "vocab_size": 128,
}


def test_mamba2_repeats_a_single_group_of_b_and_c_as_kv_heads_are_repeated() -> None:
    model = model_of("mamba2", **MAMBA2)
    pieces = tensors_named(model, "in_proj.weight")
    assert [(p.shape[0], p.shard, p.units) for p in pieces] == [
        (128, Shard.COLUMN, 8),  # gate
        (128, Shard.COLUMN, 8),  # x
        (32, Shard.KV, 1),  # B
        (32, Shard.KV, 1),  # C
        (8, Shard.COLUMN, 8),  # time steps
    ]
    convolved = tensors_named(model, "conv1d.weight")
    assert [(c.shape, c.shard) for c in convolved] == [
        ((128, 1, 4), Shard.COLUMN),
        ((32, 1, 4), Shard.KV),
        ((32, 1, 4), Shard.KV),
    ]
    assert tensor_named(model, "out_proj.weight").shard is Shard.ROW
    assert tensor_named(model, "mixer.norm.weight").shard is Shard.COLUMN


def test_mamba1_splits_every_matrix_by_channels() -> None:
    model = model_of("mamba", hidden_size=64, num_hidden_layers=1, vocab_size=128)
    splits = {t.name.rpartition("mixer.")[2]: t.shard for t in model.tensors if t.layer == 0}
    assert splits["in_proj.weight"] is Shard.COLUMN
    assert splits["x_proj.weight"] is Shard.ROW
    assert splits["dt_proj.weight"] is Shard.COLUMN
    assert splits["A_log"] is Shard.COLUMN
    assert splits["out_proj.weight"] is Shard.ROW


def test_kda_repeats_the_way_into_its_gates_and_splits_the_rest_by_heads() -> None:
    model = model_of("kimi_linear", **{**TEXT, "num_key_value_heads": 4}, linear_num_heads=4,
                     linear_head_dim=16, kv_lora_rank=32)  # fmt: skip
    assert tensor_named(model, "f_a_proj.weight").shard is Shard.REPLICATED
    assert tensor_named(model, "g_a_proj.weight").shard is Shard.REPLICATED
    for name in ("f_b_proj", "g_b_proj", "q_proj", "k_proj", "v_proj", "b_proj"):
        tensor = tensor_named(model, f"self_attn.{name}.weight")
        assert (tensor.shard, tensor.units) == (Shard.COLUMN, 4), name


def test_gated_delta_splits_its_projections_by_key_heads() -> None:
    model = model_of("qwen3_next", **TEXT, head_dim=16, linear_num_key_heads=2,
                     linear_num_value_heads=4)  # fmt: skip
    for name in ("in_proj_qkvz.weight", "in_proj_ba.weight", "conv1d.weight"):
        tensor = tensor_named(model, name)
        assert (tensor.shard, tensor.units) == (Shard.COLUMN, 2), name
    assert tensor_named(model, "linear_attn.norm.weight").shard is Shard.REPLICATED


def test_a_gated_query_projection_splits_by_heads_with_its_gate() -> None:
    model = model_of("qwen3_next", **{**TEXT, "num_hidden_layers": 4}, head_dim=16)
    query = tensor_named(model, "q_proj.weight")
    assert (query.shape, query.shard, query.units) == ((2 * 4 * 16, 64), Shard.COLUMN, 4)


def test_latent_experts_repeat_the_ways_in_and_out() -> None:
    model = model_of("nemotron_h", **TEXT, hybrid_override_pattern="E", n_routed_experts=4,
                     moe_latent_size=16, moe_intermediate_size=24)  # fmt: skip
    assert tensor_named(model, "fc1_latent_proj.weight").shard is Shard.REPLICATED
    expert = tensor_named(model, "experts.{e}.up_proj.weight")
    assert (expert.shape, expert.copies, expert.role) == ((24, 16), 4, Role.EXPERT)


def test_experts_stored_as_one_array_carry_no_weight_in_their_name() -> None:
    model = model_of("qwen3_5_moe", text_config={**TEXT, "head_dim": 16, "num_experts": 4, "num_experts_per_tok": 2,
                     "moe_intermediate_size": 16})  # fmt: skip
    halves = tensors_named(model, "mlp.experts.gate_up_proj")
    assert [(h.shape, h.copies, h.shard) for h in halves] == [((16, 64), 4, Shard.COLUMN)] * 2


def test_most_towers_split_by_heads_and_their_patch_embedding_stays_whole() -> None:
    model = model_of("gemma3", text_config={**TEXT, "head_dim": 16}, vision_config={
        "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4,
        "intermediate_size": 48, "vision_use_head": False})  # fmt: skip
    vision = [t for t in model.tensors if t.role is Role.VISION]
    splits = {t.name.rpartition("layers.0.")[2]: t.shard for t in vision}
    assert splits["self_attn.q_proj.weight"] is Shard.COLUMN
    assert splits["self_attn.out_proj.weight"] is Shard.ROW
    assert splits["mlp.fc2.bias"] is Shard.REPLICATED
    assert splits["vision_tower.vision_model.embeddings.patch_embedding.weight"] is Shard.REPLICATED


def test_towers_that_run_as_transformers_builds_them_are_whole_on_every_rank() -> None:
    model = model_of("gemma4", text_config={**TEXT, "head_dim": 16}, vision_config={
        "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2,
        "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 48})  # fmt: skip
    vision = {t.shard for t in model.tensors if t.role is Role.VISION}
    assert vision == {Shard.REPLICATED}


def test_a_tower_belongs_to_no_decoder_layer() -> None:
    model = model_of("qwen2_audio", text_config=TEXT, audio_config={
        "d_model": 32, "encoder_layers": 2, "encoder_attention_heads": 2, "encoder_ffn_dim": 64})  # fmt: skip
    assert {t.layer for t in model.tensors if t.role is Role.AUDIO} == {None}
