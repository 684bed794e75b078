"""What of a plan cannot be met, and what cannot be decided."""

import pytest

from vramledger.plan.read import parse_plan
from vramledger.sizing.from_plan import question_of
from vramledger.sizing.judge import undecided, unmet

PLAN = """\
name: demo
model: {model}
workload: {{profile: {profile}, {load}}}
gpus: [{gpus}]
scenarios: {{daily: {{kind: latency, contract: {{{contract}}}}}}}
"""


def plan(
    contract: str = "",
    *,
    model: str = "Qwen/Qwen3-32B",
    profile: str = "chat",
    load: str = "concurrent: 10",
    gpus: str = "H100-80GB-SXM",
) -> str:
    return PLAN.format(model=model, profile=profile, load=load, gpus=gpus, contract=contract)


def test_a_plan_that_a_card_holds_has_nothing_unmet() -> None:
    assert list(unmet(parse_plan(plan()))) == []


@pytest.mark.parametrize(
    ("gpus", "who"),
    [
        ("RTX-3060-12GB", "RTX-3060-12GB does not hold"),
        ("RTX-3060-12GB, RTX-4060", "None of RTX-3060-12GB, RTX-4060 holds"),
    ],
)
def test_cards_that_are_all_too_small_are_named(gpus: str, who: str) -> None:
    text = plan(model="deepseek-ai/DeepSeek-V3", gpus=gpus)
    assert list(unmet(parse_plan(text))) == [f"{who} deepseek-ai/DeepSeek-V3 for daily."]


def test_requests_beyond_the_model_break_a_success_line() -> None:
    text = plan("success: 0.99", profile="chat-with-documents")
    assert list(unmet(parse_plan(text))) == [
        (
            "daily: 5.0% of the requests are longer than the 40,960 tokens Qwen/Qwen3-32B can be served with "
            "and would be refused, more than the 1.0% that may be; choose a model of longer context or "
            "shorter requests, or let the contract's success allow it."
        )
    ]


def test_a_contract_may_allow_requests_beyond_the_model() -> None:
    text = plan("success: 0.9", profile="chat-with-documents")
    assert list(unmet(parse_plan(text))) == []
    assert question_of(parse_plan(text)).notes[-1] == (
        "daily: 5.0% of the requests are longer than the 40,960 tokens Qwen/Qwen3-32B can be served with "
        "and would be refused; up to 10.0% may be; they are left out."
    )


def test_without_a_contract_no_request_may_be_refused() -> None:
    text = plan(profile="chat-with-documents")
    (said,) = unmet(parse_plan(text))
    assert " and would be refused, and none may be; choose a model" in said


def test_lines_about_time_are_left_to_a_trial() -> None:
    text = plan("ttft_s: {p95: 2}, queue_must_drain: true, success: 0.9")
    assert list(undecided(parse_plan(text))) == [
        (
            "daily: ttft_s p95 <= 2; the queue drains: speed and queueing are not checked by memory; a "
            "trial decides."
        )
    ]


def test_a_percentile_that_rests_on_few_requests_is_open() -> None:
    text = plan("ttft_s: {p99.9: 2}", load="requests_per_s: 0.5")
    assert list(undecided(parse_plan(text)))[1:] == [
        (
            "daily: ttft_s p99.9 rests on 1,800 requests in one period and needs 10,000 for 10 beyond "
            "it; a longer trial or a lower percentile decides."
        )
    ]


def test_a_line_about_inputs_that_do_not_occur_judges_nothing() -> None:
    text = plan("ttft_s: [{input_max: 2, p95: 2}]")
    assert list(undecided(parse_plan(text)))[1:] == [
        (
            "daily: ttft_s up to 2 input tokens judges nothing: no request of the stated lengths is in "
            "that class."
        )
    ]


def test_no_threshold_leaves_nothing_open() -> None:
    assert list(undecided(parse_plan(plan()))) == []
