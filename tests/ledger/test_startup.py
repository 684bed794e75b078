"""Which phase of the start fails, in words a person can act on."""

from dataclasses import replace
from typing import Any

from deployments import Settings, deployment_of
from vramledger.engine.finding import Severity
from vramledger.engine.setting import Setting
from vramledger.hardware.catalogue import find
from vramledger.ledger.account import build
from vramledger.ledger.ledger import Ledger
from vramledger.ledger.startup import phases
from vramledger.model.load import load_model


def ledger_of(model: str, card: str, version: str, tp: int = 1, **fields: Any) -> Ledger:
    loaded = load_model(model)
    length = fields.pop("max_model_len", 8192)
    rows = fields.pop("max_num_seqs", 256)
    batched = fields.pop("max_num_batched_tokens", 8192)
    made = Settings(
        version,
        tp=tp,
        max_model_len=length,
        max_num_seqs=rows,
        max_num_batched_tokens=batched,
        fields=fields,
    )
    return build(deployment_of(loaded, made, find(card)))


def test_phases_follow_the_engine() -> None:
    assert list(phases())[:4] == ["configuration", "start-up check", "loading", "profiling"]


def test_weights_larger_than_the_card_fail_while_loading() -> None:
    ledger = ledger_of("Qwen/Qwen3-32B", "RTX-4090", "0.19.0")
    assert not ledger.fits
    assert ledger.reason.startswith("Loading the weights fails: they need 61.0")
    assert ledger.findings[0].id == "F01"
    assert ledger.findings[0].severity is Severity.ERROR
    assert ledger.findings[0].message == ledger.reason


def test_a_utilization_of_one_fails_the_free_memory_check() -> None:
    ledger = ledger_of(
        "meta-llama/Llama-3.1-8B-Instruct",
        "H100-80GB-SXM",
        "0.19.0",
        gpu_memory_utilization=Setting(1.0),
    )
    assert not ledger.fits
    assert ledger.reason == (
        "The start-up check fails: utilization 1 asks for 79.17 GiB, and only 78.65 GiB are free "
        "once the driver has taken its part; use at most 0.99."
    )


def test_the_check_does_not_exist_in_v0() -> None:
    ledger = ledger_of(
        "meta-llama/Llama-3.1-8B-Instruct",
        "H100-80GB-SXM",
        "0.6.6",
        gpu_memory_utilization=Setting(1.0),
    )
    assert not ledger.reason.startswith("The start-up check fails")


def test_a_pool_too_small_for_one_request_names_the_longest_that_fits() -> None:
    ledger = ledger_of(
        "meta-llama/Llama-3.1-8B-Instruct", "RTX-4090", "0.19.0", max_model_len=131072
    )
    assert not ledger.fits
    assert ledger.reason.startswith(
        "One request of max_model_len 131072 does not fit: it needs 16.00 GiB of KV cache and "
    )
    longest = int(ledger.reason.rsplit("is ", 1)[1].split()[0])
    assert ledger_of(
        "meta-llama/Llama-3.1-8B-Instruct", "RTX-4090", "0.19.0", max_model_len=longest
    ).fits


def test_weights_and_activations_beyond_the_budget_leave_no_cache() -> None:
    ledger = ledger_of("openai/gpt-oss-120b", "H100-80GB-SXM", "0.11.0", max_num_seqs=1024)
    assert not ledger.fits
    assert ledger.reason.startswith("No memory is left for the KV cache: -0.64 GiB at the expected")
    assert "64.39 GiB of weights and 7.37 GiB of activation peak" in ledger.reason
    assert ledger.reason.endswith(
        "raise the utilization, lower max_num_seqs or split over more GPUs."
    )
    fewer = ledger_of("openai/gpt-oss-120b", "H100-80GB-SXM", "0.11.0", max_num_seqs=256)
    assert fewer.fits


def test_graphs_outside_a_full_budget_are_named_before_they_fail() -> None:
    ledger = ledger_of(
        "openai/gpt-oss-20b",
        "H100-80GB-SXM",
        "0.19.0",
        max_num_seqs=1024,
        gpu_memory_utilization=Setting(0.97),
    )
    found = next(f for f in ledger.findings if f.id == "A01")
    assert found.message == (
        "Only 2.37 GiB of the card stay outside the budget. CUDA graphs, context, fragmentation and "
        "the sampler's warm-up are expected to take 2.37 GiB there and may take 4.34 GiB: graph "
        "capture or the sampler warm-up can run out of memory after the cache is allocated. Lower "
        "the utilization by 0.03."
    )
    calm = ledger_of(
        "meta-llama/Llama-3.1-8B-Instruct",
        "H100-80GB-SXM",
        "0.19.0",
        gpu_memory_utilization=Setting(0.9),
    )
    assert not [f for f in calm.findings if f.id == "A01"]


def test_v0_allocates_recurrent_state_after_the_pool_and_says_so() -> None:
    ledger = ledger_of(
        "ai21labs/AI21-Jamba-1.5-Mini",
        "A100-80GB-PCIe",
        "0.5.5",
        max_model_len=16384,
        quantization=Setting("experts_int8"),
    )
    found = next(f for f in ledger.findings if f.id == "A02")
    assert found.message.startswith(
        "V0 allocates the recurrent state after the KV pool and outside the budget: 2."
    )


def test_arguments_the_engine_refuses_come_before_memory() -> None:
    deployment = deployment_of(
        load_model("meta-llama/Llama-3.1-8B-Instruct"),
        Settings("0.19.0", max_num_seqs=1024, max_num_batched_tokens=512),
        find("H100-80GB-SXM"),
    )
    ledger = build(replace(deployment))
    assert not ledger.fits
    assert ledger.reason.endswith("(L08)")


def test_a_long_limit_in_v0_costs_activations_until_prefill_is_chunked() -> None:
    """Lowering max_model_len may lower the cache: the profile runs one prompt of full length."""

    def left(length: int, batched: int, *, chunked: bool) -> Ledger:
        return ledger_of(
            "meta-llama/Llama-3.1-70B-Instruct",
            "H100-80GB-SXM",
            "0.5.4",
            tp=2,
            max_model_len=length,
            max_num_batched_tokens=batched,
            enable_chunked_prefill=Setting(chunked),
        )

    whole, chunks = left(24000, 24000, chunked=False), left(131072, 512, chunked=True)
    assert whole.ranks[0].row("kv_cache").value < 1.2  # logged: 1.01 GiB
    assert chunks.ranks[0].row("kv_cache").value > 3.3  # logged: 3.66 GiB
    found = next(f for f in whole.findings if f.id == "A03")
    assert "--enable-chunked-prefill" in found.message
    assert not [f for f in chunks.findings if f.id == "A03"]
