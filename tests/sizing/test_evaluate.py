"""Candidates: the same pool as the ledger's, the rule that forbids, what is wasted and sent."""

from dataclasses import replace

import pytest

from sizing_questions import need, question
from vramledger.engine.read import read_launch
from vramledger.engine.setting import Layout
from vramledger.engine.vllm.resolve import resolve
from vramledger.evidence import Figure
from vramledger.hardware.catalogue import find
from vramledger.ledger.account import build
from vramledger.ledger.question import model_of
from vramledger.plan.profile import profile
from vramledger.sizing.candidate import Candidate, Precision
from vramledger.sizing.evaluate import Choice, Evaluator
from vramledger.sizing.question import Question
from vramledger.sizing.search import size


def candidate(
    asked: Question, layout: Layout | None = None, weights: str = "as-stored"
) -> Candidate:
    choice = Choice(asked.accelerators[0], Precision(weights), layout or Layout())
    return Evaluator(asked).evaluate(choice)


@pytest.mark.parametrize(
    ("model", "card"),
    [
        ("Qwen/Qwen3-8B", "L4"),
        ("openai/gpt-oss-20b", "L40S"),
        ("google/gemma-3-27b-it", "H100-80GB-SXM"),
        ("deepseek-ai/DeepSeek-V2-Lite", "A100-80GB-SXM"),
    ],
)
def test_every_fitting_launch_makes_the_same_pool_in_the_ledger(model: str, card: str) -> None:
    sizing = size(question(need(5), model=model, cards=[card], weights=["as-stored"]))
    fitting = [c for c in sizing.cards[0].candidates if c.fits]
    assert fitting
    for found in fitting:
        launch = read_launch(found.launch)
        deployment = resolve(launch, model_of(launch), find(card), version="0.33")
        assert build(deployment).tokens == found.kv_tokens
        assert deployment.layout == found.layout


def test_gpus_are_replicas_times_the_layout() -> None:
    found = candidate(question(need(900)), Layout(tp=2))
    assert found.fits
    assert found.replicas > 1
    assert found.gpus == 2 * found.replicas
    assert found.reason == (
        f"Each of {found.replicas} replicas holds {found.holdings[0].held[0.95]:,} requests of "
        "daily in flight at 95% of moments."
    )


def test_the_band_of_the_load_reaches_the_number_of_gpus() -> None:
    wide = replace(need(), concurrent=Figure(900, 300, 2700, need().concurrent.basis, "test"))
    found = candidate(question(wide))
    assert found.gpus_low < found.gpus < found.gpus_high


def test_percentiles_of_what_is_held_fall_with_the_share() -> None:
    held = candidate(question()).holdings[0].held
    assert held[0.5] > held[0.95] > held[0.99] > 0


def test_heads_that_do_not_divide_are_named_by_rule() -> None:
    found = candidate(question(model="Qwen/Qwen2.5-7B-Instruct"), Layout(tp=8))
    assert (found.fits, found.rule) == (False, "query heads")
    assert found.reason == (
        "The 28 attention heads are not divisible by a tensor-parallel size of 8; choose one that "
        "divides 28."
    )
    assert (found.replicas, found.gpus) == (1, 8)


def test_a_card_that_comes_alone_takes_no_tensor_parallelism() -> None:
    found = candidate(question(cards=["GH200-96GB"]), Layout(tp=2))
    assert found.rule == "interconnect"
    assert found.reason == (
        "2 tensor-parallel ranks have to reach each other within one server, and GH200-96GB comes "
        "one to a server."
    )


def test_a_plugin_card_is_not_known_rather_than_failing() -> None:
    found = candidate(question(cards=["Ascend-910C"]))
    assert (found.fits, found.known, found.rule) == (False, False, "platform")
    assert found.memory == "does not hold"


def test_a_pool_smaller_than_one_request_says_so() -> None:
    found = candidate(question(need(headroom=0.99)))
    assert found.rule == "requests"
    assert found.reason.endswith(
        " kept free as headroom of 99% as asked, does not hold one request of daily at 95% of moments."
    )


def test_a_refusal_names_the_rule_of_headroom_that_applied() -> None:
    few = need(lengths=profile("rag").lengths)
    asked = question(few, model="Qwen/Qwen3-32B", cards=["H100-80GB-SXM"])
    found = candidate(replace(asked, max_model_len=18432))
    assert found.rule == "requests"
    assert (
        " less 1,000 kept free as headroom of one request of 15,996 tokens (72% of the pool; 99.9th "
        "percentile, few requests in flight), does not hold one request of daily" in found.reason
    )


def test_repeated_kv_heads_are_waste() -> None:
    whole = candidate(question(cards=["L40S"]), Layout(tp=8))
    assert whole.kv_waste_gib == 0
    name = "Qwen/Qwen2.5-7B-Instruct"  # 4 KV heads
    none = candidate(question(model=name, cards=["L40S"]), Layout(tp=4))
    assert none.kv_waste_gib == 0
    latent = candidate(question(model="deepseek-ai/DeepSeek-V2-Lite", cards=["L40S"]), Layout(tp=4))
    pool = latent.kv_tokens
    assert pool is not None
    assert latent.kv_waste_gib > 0
    assert latent.weights_waste_gib > 0
    assert candidate(question()).weights_waste_gib == 0


def test_tensor_parallelism_sends_two_all_reduces_a_layer() -> None:
    found = candidate(question(), Layout(tp=4))
    assert found.communication_bytes == (2 * 36 + 1) * 2 * 3 / 4 * 4096 * 2


def test_margins_say_what_each_costs_alone() -> None:
    asked = question(replace(need(2000), mean=1500.0))
    found = candidate(asked)
    names = [margin.name for margin in found.margins]
    assert names == [
        "pessimistic end of the ledger",
        "headroom of 25% (latency, many requests)",
        "95% of moments instead of the average",
        "peak of requests in flight instead of their mean",
    ]
    assert all(margin.gpus >= 0 for margin in found.margins)
    assert found.margins[1].gpus > 0
    assert found.margins[3].gpus > 0


def test_idle_memory_falls_as_the_load_rises() -> None:
    shares = [candidate(question(need(n))).idle_share for n in (1, 5, 10)]
    assert shares == sorted(shares, key=lambda share: -(share or 0))


def test_a_smaller_precision_owes_evidence_and_names_its_checkpoint() -> None:
    asked = question(weights=["as-stored", "fp8", "awq"])
    assert candidate(asked).quality == ()
    assert candidate(asked, weights="fp8").quality == (
        "FP8 weights: compare answers with the stored checkpoint on your own requests.",
    )
    awq = candidate(asked, weights="awq")
    assert awq.launch == "vllm serve Qwen/Qwen3-8B-AWQ --max-model-len 8192"
    assert awq.notes == ("awq weights are the checkpoint Qwen/Qwen3-8B-AWQ.",)


def test_sequences_may_bound_what_is_held() -> None:
    found = candidate(question(cards=["B300"]))
    assert found.limit == "max-num-seqs" if found.holdings[0].held[0.95] >= 1024 else "memory"


def test_cards_fitted_on_another_vendor_say_so() -> None:
    assert candidate(question(cards=["MI300X"])).notes == (
        (
            "Activation and overhead terms were fitted on NVIDIA cards; no start-up log of AMD cards "
            "has checked them."
        ),
    )
