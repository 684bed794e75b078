"""How tensors split over ranks, which decides every weight figure beyond one GPU."""

from building import model_of, tensor_named, tensors_named
from vramledger.model.tensor import Role, Shard

SMALL = {
    "hidden_size": 64,
    "num_hidden_layers": 1,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "intermediate_size": 96,
    "vocab_size": 256,
}


def test_grouped_attention_splits_queries_by_heads_and_keys_by_kv_heads() -> None:
    model = model_of("llama", **SMALL, attention_bias=True)
    query = tensor_named(model, "q_proj.weight")
    assert (query.shard, query.units, query.shape) == (Shard.COLUMN, 8, (64, 64))
    key = tensor_named(model, "k_proj.weight")
    assert (key.shard, key.units, key.shape) == (Shard.KV, 2, (16, 64))
    out = tensor_named(model, "o_proj.weight")
    assert (out.shard, out.units) == (Shard.ROW, 8)
    assert tensor_named(model, "q_proj.bias").shard is Shard.COLUMN
    assert tensor_named(model, "o_proj.bias").shard is Shard.REPLICATED


def test_vocabulary_matrices_split_by_vocabulary_and_norms_stay_whole() -> None:
    model = model_of("llama", **SMALL)
    assert tensor_named(model, "embed_tokens.weight").shard is Shard.VOCAB
    assert tensor_named(model, "lm_head.weight").shard is Shard.VOCAB
    assert {t.shard for t in model.tensors if t.role is Role.NORM} == {Shard.REPLICATED}


def test_a_fused_projection_is_pieces_of_one_name_with_their_own_split() -> None:
    model = model_of("phi3", **SMALL)
    pieces = tensors_named(model, "self_attn.qkv_proj.weight")
    assert [(p.shard, p.shape, p.units) for p in pieces] == [
        (Shard.COLUMN, (64, 64), 8),
        (Shard.KV, (16, 64), 2),
        (Shard.KV, (16, 64), 2),
    ]
    halves = tensors_named(model, "mlp.gate_up_proj.weight")
    assert [(h.shard, h.shape) for h in halves] == [(Shard.COLUMN, (96, 64))] * 2


def test_falcon_with_one_kv_head_keeps_the_kv_pieces_apart_from_the_queries() -> None:
    model = model_of(
        "falcon", hidden_size=64, num_hidden_layers=1, num_attention_heads=8, vocab_size=256
    )
    pieces = tensors_named(model, "query_key_value.weight")
    assert [(p.shard, p.shape, p.units) for p in pieces] == [
        (Shard.COLUMN, (64, 64), 8),
        (Shard.KV, (8, 64), 1),
        (Shard.KV, (8, 64), 1),
    ]


def test_experts_are_copies_split_inside_and_the_router_stays_whole() -> None:
    model = model_of("mixtral", **SMALL, num_local_experts=4)
    up = tensor_named(model, "experts.{e}.w1.weight")
    assert (up.copies, up.shape, up.shard, up.role) == (4, (96, 64), Shard.COLUMN, Role.EXPERT)
    down = tensor_named(model, "experts.{e}.w2.weight")
    assert (down.copies, down.shape, down.shard) == (4, (64, 96), Shard.ROW)
    assert tensor_named(model, "block_sparse_moe.gate.weight").shard is Shard.REPLICATED


def test_latent_attention_keeps_down_projections_and_indexer_whole() -> None:
    model = model_of(
        "deepseek_v32", hidden_size=64, num_hidden_layers=1, num_attention_heads=8,
        intermediate_size=96, vocab_size=256,
    )  # fmt: skip
    shards = {
        t.name.rpartition("self_attn.")[2]: t.shard for t in model.tensors if "attn" in t.name
    }
    whole = {name for name, shard in shards.items() if shard is Shard.REPLICATED}
    assert whole == {
        "q_a_proj.weight",
        "q_a_layernorm.weight",
        "kv_a_proj_with_mqa.weight",
        "kv_a_layernorm.weight",
        "indexer.wq_b.weight",
        "indexer.wk.weight",
        "indexer.k_norm.weight",
        "indexer.k_norm.bias",
        "indexer.weights_proj.weight",
    }
    assert shards["q_b_proj.weight"] is Shard.COLUMN
    assert shards["kv_b_proj.weight"] is Shard.COLUMN
    assert tensor_named(model, "kv_b_proj.weight").units == 8
    assert shards["o_proj.weight"] is Shard.ROW


def test_deepseek_v4_splits_outputs_by_groups() -> None:
    model = model_of(
        "deepseek_v4", hidden_size=64, num_hidden_layers=4, num_attention_heads=8, head_dim=32,
        o_groups=2, vocab_size=256,
    )  # fmt: skip
    out = tensor_named(model, "layers.0.attn.wo_a.weight")
    assert (out.shard, out.units, out.shape) == (Shard.COLUMN, 2, (2 * 1024, 8 * 32 // 2))
    assert tensor_named(model, "layers.0.attn.wo_b.weight").shard is Shard.ROW
    assert {t.shard for t in model.tensors if "compressor" in t.name} == {Shard.REPLICATED}


def test_stacked_experts_carry_no_expert_number_and_no_weight_suffix() -> None:
    model = model_of("gpt_oss", **SMALL, num_local_experts=4, num_experts_per_tok=2)
    names = {t.name for t in model.tensors if t.role is Role.EXPERT}
    stem = "model.layers.0.mlp.experts."
    assert names == {
        f"{stem}gate_up_proj",
        f"{stem}gate_up_proj_bias",
        f"{stem}down_proj",
        f"{stem}down_proj_bias",
    }
    assert tensor_named(model, "self_attn.sinks").shape == (8,)
