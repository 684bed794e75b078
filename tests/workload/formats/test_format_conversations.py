"""Formats that hold what was said: ShareGPT and its like, AIPerf's traces, EvalScope's."""

from pathlib import Path

import pytest

from parsed_samples import parsed
from vramledger.workload.formats.format import Clock, Framing, Head
from vramledger.workload.formats.registry import format_named
from workload_samples import TRACES, VARIANTS, jsonl

_S = 10**9
_MS = 10**6


def test_every_answer_of_a_conversation_is_a_request_about_all_before_it(tmp_path: Path) -> None:
    found = parsed(tmp_path, *TRACES["sharegpt"])
    assert [(each.input_text, each.output_text, each.turn) for each in found.requests] == [
        ("Who are you?", "A language model.", 0),
        ("Who are you?\nA language model.\nHave a nice day!", "You too!", 1),
        ("Welcome back.\nThanks.", "What next?", 0),
    ]
    first, second, other = (each.session for each in found.requests)
    assert first == second
    assert other != first
    assert {each.arrival_ns for each in found.requests} == {None}
    assert {each.input_tokens for each in found.requests} == {None}
    assert found.format.clock is Clock.NONE
    whole, unasked = found.inferred
    assert whole == (
        "Each answer is one request; its prompt is all that was said before it in the conversation (inferred)."
    )
    assert unasked == (
        "An answer at the start of a conversation, which nothing asked for, is part of later prompts "
        "and no request (inferred)."
    )


def test_conversations_with_one_id_on_two_lines_stay_apart(tmp_path: Path) -> None:
    talk = {
        "id": "same",
        "conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}],
    }
    found = parsed(tmp_path, "talks.jsonl", jsonl(talk, talk))
    assert len({each.session for each in found.requests}) == 2


@pytest.mark.parametrize(
    ("label", "prompt"), [("LMSYS rows", "hi"), ("chat fine-tuning rows", "be brief\nhi")]
)
def test_other_shapes_of_conversations_are_read_alike(
    label: str, prompt: str, tmp_path: Path
) -> None:
    found = parsed(tmp_path, *VARIANTS[label][1:])
    assert [(each.input_text, each.output_text) for each in found.requests] == [(prompt, "hello")]


def test_images_of_a_conversation_are_counted_with_the_prompt_they_are_in(tmp_path: Path) -> None:
    talk = {
        "conversation": [
            {
                "role": "user",
                "content": [
                    {"type": "image_url", "image_url": {"url": "x"}},
                    {"type": "text", "text": "this?"},
                ],
            },
            {"role": "assistant", "content": "a cat"},
        ]
    }
    found = parsed(tmp_path, "talks.jsonl", jsonl(talk))
    (only,) = found.requests
    assert (only.input_text, only.output_text, only.images) == ("this?", "a cat", 1)


@pytest.mark.parametrize(
    ("talk", "reason"),
    [
        ({"conversations": []}, "the conversation holds no answer to anything"),
        (
            {"conversations": [{"from": "human", "value": "a"}]},
            "the conversation holds no answer to anything",
        ),
        ({"conversations": ["a"]}, "a turn is not an object"),
        ({"conversations": [{"value": "a"}]}, "a turn does not say who speaks"),
        ({"text": "a"}, "the list of turns is missing"),
    ],
)
def test_a_conversation_that_holds_no_request_is_dropped_with_its_reason(
    talk: dict[str, object], reason: str, tmp_path: Path
) -> None:
    sound = {"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]}
    found = parsed(tmp_path, "talks.jsonl", jsonl(sound, talk))
    assert found.problems == [reason]
    assert len(found.requests) == 1


def test_aiperf_turns_carry_what_was_said_before(tmp_path: Path) -> None:
    found = parsed(tmp_path, *TRACES["aiperf-trace"])
    first, second, text, messages, payload = found.requests
    assert (first.session, first.turn, first.arrival_ns) == ("talk-a", 0, _S)
    assert (first.input_tokens, first.output_tokens) == (600, 40)
    assert first.prefix_ids == [1, 2]
    assert (second.session, second.turn) == ("talk-a", 1)
    assert second.input_tokens == 600 + 40 + 150
    assert second.prefix_ids is None
    assert (second.think_ns, second.arrival_ns) == (2 * _S, 3 * _S)
    assert (text.input_text, text.arrival_ns, text.session) == ("hello", 2_500_500_000, None)
    assert messages.images == 1
    assert messages.input_text is not None
    assert "see" in messages.input_text
    assert (payload.model, payload.max_output_tokens) == ("a-model", 9)
    delayed, added = found.inferred
    assert delayed == (
        "A turn with a delay was put that long after the arrival of the turn before, as if answers "
        "took no time (inferred)."
    )
    assert added == (
        "Turns of a session bring what is new: the turns before them, with their answers, were "
        "added to their inputs, and their prefix ids left out (inferred)."
    )


def test_aiperf_texts_of_a_session_add_up(tmp_path: Path) -> None:
    found = parsed(
        tmp_path,
        "trace.jsonl",
        jsonl(
            {"session_id": "a", "timestamp": 0, "text_input": "one", "output_length": 3},
            {"session_id": "a", "delay": 5, "text_input": "two", "output_length": 3},
        ),
    )
    assert [each.input_text for each in found.requests] == ["one", "one\ntwo"]


def test_an_aiperf_line_without_a_prompt_is_dropped(tmp_path: Path) -> None:
    sound = {"timestamp": 0, "text_input": "one", "output_length": 3}
    found = parsed(
        tmp_path, "trace.jsonl", jsonl(sound, {"timestamp": 1, "messages": [], "output_length": 3})
    )
    assert found.problems == ["the prompt is missing"]


def test_an_aiperf_trace_without_timestamps_has_no_clock() -> None:
    trace = format_named("aiperf-trace")
    untimed = {"session_id": "a", "input_length": 3, "output_length": 3}
    assert trace.clock_of(Head(Framing.JSONL, records=(untimed,))) is Clock.NONE
    timed = untimed | {"timestamp": 0}
    assert trace.clock_of(Head(Framing.JSONL, records=(timed,))) is Clock.RELATIVE


def test_evalscope_bodies_are_read_as_objects_and_as_text(tmp_path: Path) -> None:
    found = parsed(tmp_path, *TRACES["workload-trace"])
    first, second = found.requests
    assert first.arrival_ns == 1_700_000_000 * _S
    assert second.arrival_ns == 1_700_000_001 * _S + 500 * _MS
    assert first.input_text is not None
    assert "hello" in first.input_text
    assert second.input_text == "write a poem"
    assert (first.output_tokens, second.output_tokens) == (None, 20)
    assert first.max_output_tokens == 50
    assert (first.tenant, first.model, second.model) == ("someone", "plus-sample", "max-sample")
    assert (first.request_id, second.request_id) == (None, "req-42")


def test_evalscope_times_count_from_the_start_where_they_are_small(tmp_path: Path) -> None:
    found = parsed(tmp_path, *VARIANTS["EvalScope, seconds from the start"][1:])
    assert [each.arrival_ns for each in found.requests] == [500 * _MS, 1_250 * _MS]
    head = Head(Framing.JSONL, records=({"body": {}, "timestamp": 0.5},))
    assert found.format.clock_of(head) is Clock.RELATIVE
    dated = Head(Framing.JSONL, records=({"body": {}, "timestamp": "2026-01-01T00:00:00Z"},))
    assert found.format.clock_of(dated) is Clock.EPOCH


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"body": "{broken"}, "body is not JSON"),
        ({"body": {"model": "m"}}, "body holds no prompt"),
        ({"timestamp": None}, "timestamp is missing"),
        ({"completion_tokens": -1}, "completion_tokens is negative"),
    ],
)
def test_an_evalscope_line_that_is_no_request_is_named_by_its_field(
    change: dict[str, object], reason: str, tmp_path: Path
) -> None:
    sound = {"body": {"prompt": "one"}, "timestamp": 0.5}
    found = parsed(tmp_path, "trace.jsonl", jsonl(sound, sound | change))
    assert found.problems == [reason]
    assert len(found.requests) == 1
