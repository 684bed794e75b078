"""Bytes a token and a sequence cost, summed over the layers that own a cache."""

from hypothesis import given
from hypothesis import strategies as st

from building import model_of
from vramledger.model import figures
from vramledger.model.cache import (
    CacheLayer,
    CacheSpec,
    ChunkedAttention,
    CompressedAttention,
    CrossAttention,
    FullAttention,
    LatentAttention,
    RecurrentState,
    SharedWith,
    SlidingAttention,
    StateKind,
    StatePart,
)
from vramledger.model.dtype import DType
from vramledger.model.model import Model, ModelKind, TextShape

TEXT = TextShape(64, 2, 4, 2, 16, 96, 256, 4096)


def model_with(*specs: CacheSpec) -> Model:
    layers = tuple(CacheLayer(i, spec) for i, spec in enumerate(specs))
    return Model(
        "m", "M", "m", ModelKind.DECODER, DType.BFLOAT16, TEXT, (), layers, tied_embeddings=False
    )


def test_full_layers_count_keys_and_values_of_two_bytes() -> None:
    model = model_with(FullAttention(8, 128, 128), FullAttention(8, 128, 64))
    assert figures.full_bytes_per_token(model) == 2 * (8 * 256 + 8 * 192)
    assert figures.full_bytes_per_token(model, element_bytes=1) == 8 * 256 + 8 * 192


def test_thirty_two_layers_of_eight_heads_of_128_make_128_kib_a_token() -> None:
    model = model_with(*(FullAttention(8, 128, 128),) * 32)
    assert figures.full_bytes_per_token(model) == 128 * 1024


def test_a_latent_layer_counts_one_vector_and_its_index_key_apart() -> None:
    model = model_with(LatentAttention(512, 64, 128), LatentAttention(512, 64))
    assert figures.full_bytes_per_token(model) == 2 * 2 * 576
    assert figures.indexer_bytes_per_token(model) == 2 * 128


def test_windows_and_chunks_are_counted_apart_from_full_layers() -> None:
    model = model_with(
        SlidingAttention(2, 16, 16, window=512),
        ChunkedAttention(2, 16, 16, chunk=8192),
        FullAttention(2, 16, 16),
    )
    assert figures.window_bytes_per_token(model) == 2 * 2 * 64
    assert figures.full_bytes_per_token(model) == 2 * 64
    assert figures.window(model) == 8192


def test_compressed_layers_count_a_share_of_a_state_and_their_window() -> None:
    model = model_with(
        CompressedAttention(512, 128, 4, 128),
        CompressedAttention(512, 128, 128),
        CompressedAttention(512, 128, 0),
    )
    assert figures.full_bytes_per_token(model) == 1024 // 4 + 1024 // 128
    assert figures.window_bytes_per_token(model) == 3 * 1024
    assert figures.indexer_bytes_per_token(model) == 2 * 128 // 4
    assert figures.window(model) == 128


def test_a_state_has_one_size_whatever_the_length() -> None:
    state = RecurrentState(
        StateKind.MAMBA2,
        (StatePart((100, 3), recurrent=False), StatePart((8, 16, 32), recurrent=True)),
        heads=8,
    )
    model = model_with(state, state)
    assert figures.state_bytes_per_sequence(model) == 2 * 2 * (300 + 4096)
    assert figures.state_bytes_per_sequence(model, DType.FLOAT32) == 2 * (2 * 300 + 4 * 4096)
    assert figures.full_bytes_per_token(model) == 0


def test_cross_attention_is_fixed_by_the_longest_input() -> None:
    model = model_with(CrossAttention(6, 64, 64, source_tokens=1500), FullAttention(6, 64, 64))
    assert figures.cross_bytes_per_sequence(model) == 2 * 6 * 128 * 1500
    assert figures.full_bytes_per_token(model) == 2 * 6 * 128


def test_a_layer_that_reads_another_ones_cache_costs_nothing() -> None:
    model = model_with(FullAttention(2, 16, 16), SharedWith(0))
    assert figures.full_bytes_per_token(model) == 2 * 64


def test_weights_in_bfloat16_keep_the_float32_of_the_class() -> None:
    model = model_of(
        "deepseek_v3", hidden_size=64, num_hidden_layers=1, num_attention_heads=4,
        intermediate_size=96, vocab_size=256, first_k_dense_replace=0, n_routed_experts=8,
    )  # fmt: skip
    router = 8 * 64
    assert figures.weights_bytes_bf16(model) == 2 * (model.params_total + router)


@given(st.lists(st.tuples(st.integers(1, 64), st.integers(1, 256), st.integers(1, 4096))))
def test_bytes_a_token_add_up_over_layers(shapes: list[tuple[int, int, int]]) -> None:
    specs = [SlidingAttention(heads, dim, dim, window) for heads, dim, window in shapes]
    whole = model_with(*specs)
    parts = [model_with(spec) for spec in specs]
    assert figures.window_bytes_per_token(whole) == sum(map(figures.window_bytes_per_token, parts))
    assert figures.window(whole) == max((w for _, _, w in shapes), default=None)
