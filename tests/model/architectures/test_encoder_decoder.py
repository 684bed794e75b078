"""Encoder-decoder models: caches of both attentions, and what the head is."""

import pytest

from building import model_of, tensors_named
from vramledger.errors import BadInput
from vramledger.model import figures
from vramledger.model.cache import CrossAttention, FullAttention
from vramledger.model.model import ModelKind, TowerInput
from vramledger.model.tensor import Role, Shard

BART = {
    "d_model": 64,
    "encoder_layers": 1,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 96,
    "decoder_ffn_dim": 96,
    "vocab_size": 128,
    "max_position_embeddings": 40,
}


def test_whisper_caches_thirty_seconds_of_sound_in_every_decoder_layer() -> None:
    model = model_of("whisper", d_model=1280, encoder_layers=32, decoder_layers=32,
                     encoder_attention_heads=20, decoder_attention_heads=20,
                     encoder_ffn_dim=5120, decoder_ffn_dim=5120, vocab_size=51866,
                     num_mel_bins=128)  # fmt: skip
    assert model.kind is ModelKind.ENCODER_DECODER
    assert [c.spec for c in model.cache_layers[:2]] == [
        FullAttention(20, 64, 64),
        CrossAttention(20, 64, 64, source_tokens=1500),
    ]
    assert figures.cross_bytes_per_sequence(model) == 245_760_000
    assert figures.full_bytes_per_token(model) == 163_840
    assert model.towers == (
        TowerInput("audio", pixels=128 * 3000, tokens=1500, patches=1500, hidden=1280),
    )
    assert model.text.max_positions == 448


def test_whisper_has_no_bias_on_keys_alone() -> None:
    model = model_of("whisper", d_model=64, encoder_attention_heads=4, decoder_attention_heads=4,
                     encoder_layers=1, decoder_layers=1, vocab_size=128)  # fmt: skip
    assert not tensors_named(model, "k_proj.bias")
    assert len(tensors_named(model, "q_proj.bias")) == 3
    assert not tensors_named(model, "proj_out.weight")


def test_whisper_keeps_its_whole_embedding_on_every_rank() -> None:
    model = model_of("whisper", d_model=64, encoder_attention_heads=4, decoder_attention_heads=4,
                     encoder_layers=1, decoder_layers=1, vocab_size=128)  # fmt: skip
    assert {t.shard for t in model.tensors if t.role is Role.EMBEDDING} == {Shard.REPLICATED}


def test_bart_without_a_head_drops_the_prefix_and_the_bias_of_the_logits() -> None:
    headed = model_of("bart", **BART)
    bare = model_of("bart", **BART, architectures=["BartModel"])
    assert (headed.architecture, bare.architecture) == (
        "BartForConditionalGeneration",
        "BartModel",
    )
    assert bare.tensors[0].name == "shared.weight"
    assert headed.tensors[0].name == "model.shared.weight"
    buffers = [t.name for t in headed.tensors if t.role is Role.BUFFER]
    assert buffers == ["final_logits_bias"]
    assert headed.params_total == bare.params_total


def test_bart_keeps_two_position_rows_more_than_it_has_positions() -> None:
    tables = tensors_named(model_of("bart", **BART), "embed_positions.weight")
    assert [t.shape for t in tables] == [(42, 64), (42, 64)]


@pytest.mark.parametrize(
    ("activation", "names"),
    [("relu", ["wi", "wo"]), ("gated-gelu", ["wi_0", "wi_1", "wo"])],
)
def test_t5_gates_its_mlp_where_the_activation_says_so(activation: str, names: list[str]) -> None:
    model = model_of("t5", d_model=64, d_ff=96, num_layers=1, num_heads=4, d_kv=16,
                     vocab_size=128, feed_forward_proj=activation)  # fmt: skip
    stored = [t.name for t in model.tensors if "decoder.block.0.layer.2.Dense" in t.name]
    assert [name.split(".")[-2] for name in stored] == names


def test_t5_refuses_an_activation_it_cannot_read() -> None:
    with pytest.raises(BadInput) as refusal:
        model_of("t5", d_model=64, feed_forward_proj="glu-gelu")
    assert str(refusal.value) == (
        "config.json: 'feed_forward_proj' is 'glu-gelu'; it must be the name of an activation such "
        "as relu, or of a gated one such as gated-gelu."
    )


def test_t5_carries_a_head_of_its_own_when_it_says_so() -> None:
    keys = {"d_model": 64, "d_ff": 96, "num_layers": 1, "num_heads": 4, "d_kv": 16,
            "vocab_size": 128}  # fmt: skip
    assert not tensors_named(model_of("t5", **keys), "lm_head.weight")
    untied = model_of("t5", **keys, tie_word_embeddings=False)
    assert [t.shape for t in tensors_named(untied, "lm_head.weight")] == [(128, 64)]


def test_heads_that_do_not_divide_the_width_are_refused() -> None:
    with pytest.raises(BadInput) as refusal:
        model_of("bart", **{**BART, "decoder_attention_heads": 5})
    assert str(refusal.value) == (
        "config.json: 'd_model' (64) cannot be split into 5 equal parts; choose a number that "
        "divides 64."
    )


def test_llama_vision_reads_the_image_by_cross_attention_alone() -> None:
    model = model_of("mllama", text_config={
        "hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4,
        "num_key_value_heads": 2, "intermediate_size": 96, "vocab_size": 128,
        "cross_attention_layers": [1]}, vision_config={
        "hidden_size": 32, "num_hidden_layers": 1, "num_global_layers": 1, "attention_heads": 2,
        "intermediate_size": 48, "vision_output_dim": 64, "image_size": 560, "patch_size": 14,
        "max_num_tiles": 4})  # fmt: skip
    specs = [c.spec for c in model.cache_layers]
    assert specs[1] == CrossAttention(2, 16, 16, source_tokens=4 * 1601)
    assert specs[0] == specs[2] == FullAttention(2, 16, 16)
    shapes = {t.role: t.shape for t in model.tensors if t.role in {Role.EMBEDDING, Role.HEAD}}
    assert shapes == {Role.EMBEDDING: (136, 64), Role.HEAD: (128, 64)}
