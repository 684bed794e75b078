"""What the lines of a file share: remembered answers are those of each line alone."""

import json
from itertools import product
from typing import Any

import pytest

from timing_questions import case
from vramledger.errors import BadInput
from vramledger.simulate.timing.cases.answer import answers
from vramledger.simulate.timing.cases.deployment import question_of
from vramledger.simulate.timing.cases.known import Known, Memo
from vramledger.simulate.timing.cases.line import read_case
from vramledger.simulate.timing.predict import predict

DIFFERENT: list[dict[str, Any]] = [
    {"precision": "bf16"},
    {"kv_dtype": "fp8"},
    {"gpu": "h100_sxm"},
    {"engine_version": "0.12.0"},
    {"max_num_seqs": 4},
    {"tp": 2, "gpus": 2},
    {"tp": 2, "dp": 2},
    {"model": "Qwen/Qwen3-30B-A3B", "precision": None},
    {"model": "Qwen/Qwen3-30B-A3B", "precision": None, "moe_tp": 1, "moe_ep": 4},
]
LOADS: list[dict[str, Any]] = [
    {"concurrency": 8},
    {"input_tokens": 6000, "concurrency": 8},  # a longer limit
    {"requests": None, "concurrency": 4},
]


def test_lines_are_answered_as_each_is_alone_whatever_they_share() -> None:
    cases = [case(**one, **load) for load, one in product(LOADS, [{}, *DIFFERENT])]
    together = list(answers(json.dumps(one) for one in cases))
    for one, found in zip(cases, together, strict=True):
        asked = question_of(read_case(one))
        alone = predict(asked.deployment, asked.load, version_known=asked.version_known)
        assert found.prediction == alone, one


def test_lines_that_differ_in_their_load_are_one_deployment_prepared_once() -> None:
    known = Known()
    first, second, longer = (
        read_case(case(**load)) for load in ({}, {"concurrency": 2}, {"input_tokens": 9000})
    )
    asked = [known.question(one) for one in (first, second, longer)]
    assert asked[0].deployment is asked[1].deployment
    assert [one.load.concurrency for one in asked][:2] == [first.concurrency, 2]
    prepared = [
        known.preparing(one)(question.deployment)
        for one, question in zip((first, second, longer), asked, strict=True)
    ]
    assert prepared[0] is prepared[1]
    limits = [one.deployment.max_model_len.value for one in prepared]
    assert limits == [4096, 4096, 19_800]
    assert prepared[2].work.stages is prepared[0].work.stages


def test_a_memo_forgets_the_value_that_was_unused_longest() -> None:
    memo: Memo[int] = Memo(2)
    made: list[str] = []

    def get(key: str) -> int:
        def make() -> int:
            made.append(key)
            return len(made)

        return memo.get(key, make)

    for key in ("a", "b", "a", "c", "a", "b"):
        get(key)
    assert made == ["a", "b", "c", "b"]


def test_what_could_not_be_made_is_tried_again() -> None:
    memo: Memo[int] = Memo()

    def fails() -> int:
        raise BadInput("Not now.")

    with pytest.raises(BadInput, match="Not now"):
        memo.get("key", fails)
    assert memo.get("key", lambda: 7) == 7


def test_a_line_that_fails_leaves_the_others_their_answers() -> None:
    lines = [case(), case(model="no/such-model"), case(), case(model="no/such-model")]
    found = list(answers(json.dumps(one) for one in lines))
    assert found[0].prediction == found[2].prediction is not None
    assert found[1].error == found[3].error
    assert found[1].error is not None


def test_more_stages_than_layers_are_refused_before_any_is_looked_at() -> None:
    (found,) = answers([json.dumps(case(pp=65_536, gpus=None))])
    assert found.error == (
        "65536 pipeline stages are more than the model's 80 layers; use fewer stages."
    )
