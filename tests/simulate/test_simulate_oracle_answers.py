"""The program that answers cases: its format, its refusals, and the real scheduler's recorded answers."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from oracle.digests import digest_of
from oracle.kinds import makers
from vramledger.simulate.oracle import RUNS, answer_case, answers, main

_RECORDED = Path(__file__).parents[1] / "data" / "oracle_digests.json"
_DIGESTS = json.loads(_RECORDED.read_text())

CASE: dict[str, Any] = {
    "num_blocks": 6,
    "block_size": 4,
    "max_num_batched_tokens": 16,
    "max_num_seqs": 2,
    "max_model_len": 64,
    "prefix_caching": False,
    "requests": [
        {"id": "a", "arrival_step": 0, "prompt": [1, 2, 3, 4, 5], "output_len": 2},
        {"id": "b", "arrival_step": 1, "prompt": [1], "output_len": 1},
    ],
}


@pytest.mark.parametrize("engine", ["--loop", "--fast"])
@pytest.mark.parametrize("kind", sorted(_DIGESTS["kinds"]))
def test_answers_are_those_recorded_from_the_real_scheduler(kind: str, engine: str) -> None:
    make = dict(makers())[kind]
    cases = range(_DIGESTS["first"], _DIGESTS["first"] + _DIGESTS["cases"])
    told = [answer_case(make(number), RUNS[engine]) for number in cases]

    assert digest_of(told) == _DIGESTS["kinds"][kind]


def test_every_kind_is_recorded() -> None:
    assert set(_DIGESTS["kinds"]) == {kind for kind, _make in makers()}


@pytest.mark.parametrize("engine", ["--loop", "--fast"])
def test_a_case_is_answered_step_by_step(engine: str) -> None:
    assert answer_case(CASE, RUNS[engine]) == {
        "steps": [
            {
                "scheduled": {"a": 5},
                "preempted": [],
                "running": 1,
                "waiting": 0,
                "kv_usage": 0.4,
                "finished": [],
            },
            {
                "scheduled": {"a": 1, "b": 1},
                "preempted": [],
                "running": 0,
                "waiting": 0,
                "kv_usage": 0.0,
                "finished": ["a", "b"],
            },
        ],
        "done": True,
    }


@pytest.mark.parametrize("engine", ["--loop", "--fast"])
def test_a_case_that_cannot_end_is_cut_at_its_most_steps(engine: str) -> None:
    told = answer_case(CASE | {"num_blocks": 2, "max_steps": 3}, RUNS[engine])

    assert [step["scheduled"] for step in told["steps"]] == [{}, {}, {}]
    assert told["done"] is False


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (
            {"max_num_seqs": 17},
            (
                "max_num_batched_tokens (16) is smaller than max_num_seqs (17), which vLLM refuses; "
                "raise the first or lower the second."
            ),
        ),
        (
            {"requests": [{"id": "a", "arrival_step": 0, "prompt": [], "output_len": 2}]},
            "Request 'a' has a prompt of 0 and an answer of 2 tokens, but needs at least one of each.",
        ),
        (
            {"requests": CASE["requests"] + CASE["requests"][:1]},
            "Two requests of the case have the same id; give each its own.",
        ),
        (
            {"policy": "lifo"},
            "The case cannot be read ('lifo' is not a valid Order); see the module for its format.",
        ),
        (
            {"requests": [{"id": "a"}]},
            "The case has no 'arrival_step', which every case needs; add it.",
        ),
        (
            {"max_model_len": 4},
            (
                "Request 'a' has a prompt of 5 tokens, but max_model_len is 4, and the engine refuses it "
                "before its scheduler; shorten the prompt."
            ),
        ),
    ],
)
def test_a_case_that_is_none_is_answered_with_a_sentence(
    changed: dict[str, Any], says: str
) -> None:
    assert answer_case(CASE | changed) == {"steps": [], "done": False, "error": says}


@pytest.mark.parametrize("engine", ["--loop", "--fast"])
def test_a_state_named_in_this_step_is_not_used_in_it_although_an_older_one_has_its_name(
    engine: str,
) -> None:
    case = CASE | {
        "block_size": 2,
        "prefix_caching": True,
        "groups": [{"state": 0}],
        "max_steps": 3,
        "requests": [
            {"id": "a", "arrival_step": 0, "prompt": [1, 2], "output_len": 1},
            {"id": "b", "arrival_step": 1, "prompt": [1, 2], "output_len": 1},
            {"id": "c", "arrival_step": 1, "prompt": [1, 2, 0], "output_len": 1},
        ],
    }
    told = answer_case(case, RUNS[engine])

    assert [step["scheduled"] for step in told["steps"]] == [{"a": 2}, {"b": 2}, {"c": 1}]


def test_a_line_that_is_no_json_does_not_stop_the_others() -> None:
    first, second = answers(["{", "", json.dumps(CASE)])

    assert first["error"].startswith("The line is no JSON object:")
    assert second["done"] is True


def test_a_list_is_no_case() -> None:
    (told,) = answers(["[1]"])

    assert told == {
        "steps": [],
        "done": False,
        "error": "The case is no JSON object; see the module for its format.",
    }


@pytest.mark.parametrize("arguments", [[], ["--loop"], ["--fast"]])
def test_the_program_prints_one_answer_a_line(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(CASE) + "\n" + json.dumps(CASE)))

    assert main(arguments) == 0

    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["done"] for line in lines] == [True, True]


@pytest.mark.parametrize(
    ("arguments", "quoted"), [(["--slow"], "'--slow'"), (["--loop", "--fast"], "'--loop --fast'")]
)
def test_an_argument_that_is_not_known_is_refused(
    arguments: list[str], quoted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2

    assert capsys.readouterr().err == (
        f"The oracle does not know what {quoted} asks for: it answers cases from stdin with --loop, "
        "the plain scheduler, or with --fast, the compiled one.\n"
    )
