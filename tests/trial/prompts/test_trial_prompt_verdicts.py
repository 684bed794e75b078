from dataclasses import replace

from vramledger.plan.requirement import Contract, LatencyLimit
from vramledger.record.outcome import Outcome
from vramledger.record.requests import RequestRecord
from vramledger.trial.prompts.judgeable import Text, lines_of, unjudgeable, warnings
from vramledger.trial.prompts.verification import verify

LIMIT = (LatencyLimit(input_max=None, percentiles={0.95: 2.0}),)
CONTRACT = Contract(
    latency={"ttft_s": LIMIT, "itl_s": LIMIT, "e2e_s": LIMIT},
    success=0.99,
    queue_must_drain=True,
    requests_per_hour=1000,
)


def record(
    number: int, asked: int, got: int | None, outcome: Outcome = Outcome.OK
) -> RequestRecord:
    return RequestRecord(
        number,
        input_tokens_asked=asked,
        input_tokens_got=got,
        output_tokens_asked=8,
        output_tokens_got=8,
        tokens_basis="usage",
        outcome=outcome,
    )


def test_exact_prompts_are_said_to_be_so() -> None:
    report = verify(
        record(number, asked, asked) for number, asked in enumerate((3, 100, 120, 4000))
    )
    assert [(each.low, each.high, each.requests, each.exact) for each in report.inputs] == [
        (2, 3, 1, True),
        (64, 127, 2, True),
        (2048, 4095, 1, True),
    ]
    assert report.max_error == 0
    assert (
        report.sentence()
        == "Prompts have exactly the tokens asked for, in 4 of 4 requests counted."
    )
    assert dict(report.outputs[0].basis) == {"usage": 4}


def test_an_error_is_stated_with_the_lengths_it_has() -> None:
    report = verify([record(0, 100, 100), record(1, 3000, 2997), record(2, 90, 91)])
    assert report.max_error == 3
    assert report.to_json()["max_error_tokens"] == 3
    assert report.sentence() == (
        "Prompts are off by up to 3 tokens in 3 requests counted, most for lengths of 2,048 to 4,095."
    )


def test_failed_requests_are_not_counted() -> None:
    report = verify([record(0, 100, 50, Outcome.FAILED), record(1, 100, None)])
    assert report.inputs[0].requests == report.inputs[0].uncounted == 1
    assert report.inputs[0].exact is None
    assert report.sentence() == (
        "Nobody counted the tokens of prompts, so their lengths are not checked."
    )


def test_prompts_of_which_no_length_was_asked_are_not_called_uncounted() -> None:
    report = verify([replace(record(0, 100, 100), input_tokens_asked=None)])
    assert report.inputs == ()
    assert report.sentence() == (
        "Prompts are as long as those of your file; no length was asked of them."
    )


def test_drafts_make_decode_and_goodput_of_made_text_undecidable() -> None:
    found = unjudgeable(Text(is_real=False, drafts=True), lines_of(CONTRACT))
    assert [each.line for each in found] == ["itl_s", "e2e_s", "requests_per_hour"]
    assert found[0].why == (
        "itl_s cannot be judged: the server drafts tokens, and how many of them a model accepts in made "
        "text is not what it accepts in yours; send prompts of your own with --prompts, or set an acceptance "
        "length on the server and state it."
    )


def test_real_text_a_set_acceptance_or_no_drafts_leave_every_line_to_judge() -> None:
    for text in (
        Text(is_real=True, drafts=True),
        Text(is_real=False, drafts=True, acceptance_set=2.5),
        Text(is_real=False, drafts=False),
        Text(is_real=False),
    ):
        assert not unjudgeable(text, lines_of(CONTRACT))


def test_experts_a_set_acceptance_and_unseen_drafts_are_warned_of() -> None:
    assert warnings(Text(is_real=True, experts=True)) == ()
    assert warnings(Text(is_real=False, drafts=True, experts=True, acceptance_set=2.5)) == (
        "Drafts are accepted at a length of 2.5, which was set and not measured (assumed).",
        (
            "The model has experts, and made text reaches them otherwise than real text does: decode may be "
            "faster or slower than under your requests."
        ),
    )
    assert warnings(Text(is_real=False, structured=True)) == (
        (
            "Whether the server drafts tokens was not seen; if it does, decode figures of made text do not "
            "hold."
        ),
        "Structured output of made prompts says nothing about that of real ones.",
    )
