"""Predictions: bands, bases, room, and questions that mean nothing."""

from math import inf

import pytest

from timing_questions import LLAMA, deployed
from vramledger.errors import BadInput
from vramledger.evidence import Basis
from vramledger.simulate.timing.closed_loop import Load
from vramledger.simulate.timing.predict import predict


def test_inside_the_fitted_region_the_basis_is_calibrated() -> None:
    found = predict(deployed(), Load(1000, 500, 16))
    assert found.tpot.basis is Basis.CALIBRATED
    assert found.tpot.low < found.tpot.value < found.tpot.high
    assert found.notes == ()
    assert found.binding == "weights"


@pytest.mark.parametrize(
    ("model", "note"),
    [
        ("AntonV/mamba2-2.7b-hf", "No model with recurrent states was measured."),
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", "No model with recurrent states was measured."),
        (
            "meta-llama/Llama-4-Scout-17B-16E-Instruct",
            "No model with chunked attention was measured.",
        ),
    ],
)
def test_a_kind_of_cache_that_was_not_measured_is_named(model: str, note: str) -> None:
    found = predict(deployed("-tp 2", model, "B300"), Load(1000, 500, 4))
    assert found.tpot.basis is Basis.ASSUMED
    assert note in found.notes


def test_a_release_that_was_not_measured_is_named() -> None:
    found = predict(deployed(version="0.30.0"), Load(1000, 500, 4))
    assert found.notes == ("No server of vLLM 0.30 was measured.",)
    assert found.tpot.basis is Basis.ASSUMED


def test_an_encoder_generates_nothing() -> None:
    with pytest.raises(BadInput) as refused:
        predict(deployed(model="BAAI/bge-m3"), Load(100, 10, 4))
    assert str(refused.value) == (
        "BAAI/bge-m3 is an encoder and generates no tokens, so it has neither TTFT nor TPOT; name a "
        "model that generates."
    )


@pytest.mark.parametrize(
    ("flags", "card", "note"),
    [
        ("", "L40S", "No Ada card was measured."),
        ("-tp 4", "H100-80GB-PCIe", "No tensor parallelism over PCIe was measured."),
        ("-pp 2", "H100-80GB-SXM", "No pipeline stages were measured."),
        (
            """--speculative-config '{"method": "ngram", "num_speculative_tokens": 3}'""",
            "H100-80GB-SXM",
            "Speculative decoding is left out: these are the times without.",
        ),
    ],
)
def test_outside_the_fitted_region_the_band_widens_and_says_so(
    flags: str, card: str, note: str
) -> None:
    inside = predict(deployed(), Load(1000, 500, 4))
    outside = predict(deployed(flags, LLAMA, card), Load(1000, 500, 4))
    assert outside.tpot.basis is Basis.ASSUMED
    assert note in outside.notes
    assert outside.tpot.high / outside.tpot.low > inside.tpot.high / inside.tpot.low


def test_more_requests_than_the_cache_holds_wait_and_it_is_said() -> None:
    found = predict(deployed("", LLAMA, "L40S"), Load(4000, 1000, 200))
    assert found.room.whole < 60
    assert found.outlook.running < 70
    assert found.outlook.waiting > 100
    assert found.ttft.value > 10
    assert any("wait for room" in note for note in found.notes)


def test_a_run_that_starts_together_says_what_its_burst_is_worth() -> None:
    steady = predict(deployed(), Load(2000, 200, 64))
    run = predict(deployed(), Load(2000, 200, 64, 128))
    assert run.ttft.value > steady.ttft.value
    assert any("start together" in note for note in run.notes)


def test_throughput_is_tokens_over_time() -> None:
    found = predict(deployed("-tp 2"), Load(500, 500, 32))
    life = found.ttft.value + 499 * found.tpot.value
    assert found.output_tokens_per_s == pytest.approx(32 * 500 / life, rel=0.1)
    assert found.output_tokens_per_s_per_gpu == found.output_tokens_per_s / 2


@pytest.mark.parametrize(
    ("load", "sentence"),
    [
        (Load(0, 10, 1), "The input is 0; it must lie between 1 and 1e+09."),
        (Load(10, -1, 1), "The output is -1; it must lie between 1 and 1e+09."),
        (Load(10, 10, inf), "The concurrency is inf; it must lie between 1 and 1e+09."),
        (
            Load(10, 10, 8, 4),
            (
                "A run of 4 requests cannot keep 8 in flight; give at least as many requests as "
                "the concurrency."
            ),
        ),
        (
            Load(16_000, 1000, 1),
            (
                "A request of 17000 tokens is longer than the 16384 that max_model_len allows, so "
                "the engine refuses it; raise --max-model-len or give shorter lengths."
            ),
        ),
    ],
)
def test_a_load_that_means_nothing_ends_in_a_sentence(load: Load, sentence: str) -> None:
    with pytest.raises(BadInput) as refused:
        predict(deployed(), load)
    assert str(refused.value) == sentence


def test_a_billion_requests_in_flight_are_answered_at_once() -> None:
    found = predict(deployed(), Load(100, 100, 1e9))
    assert found.outlook.played is None
    assert found.ttft.value > 1e5
