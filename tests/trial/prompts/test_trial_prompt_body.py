import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vramledger.errors import BadInput
from vramledger.trial.prompts.body import (
    CHAT,
    COMPLETIONS,
    LENGTH,
    BodyMaker,
    BodyStyle,
    extra_fields,
)
from vramledger.trial.prompts.lengths import CONTROLS, length_control
from vramledger.trial.prompts.own import OwnPrompts

LENGTHS = {"ignore_eos": True, "min_tokens": LENGTH}


def test_a_chat_body_is_what_json_writes() -> None:
    style = BodyStyle(CHAT, "m", length=LENGTHS, extra={"temperature": 0})
    assert json.loads(BodyMaker(style).with_text(b"The first of all", 12)) == {
        "model": "m",
        "messages": [{"role": "user", "content": "The first of all"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 12,
        "ignore_eos": True,
        "min_tokens": 12,
        "temperature": 0,
    }


def test_token_ids_become_a_list() -> None:
    maker = BodyMaker(BodyStyle(COMPLETIONS, "m", limit="max_completion_tokens"), as_ids=True)
    found = json.loads(maker.with_text(b"1024,1025", 3))
    assert found["prompt"] == [1024, 1025]
    assert found["max_completion_tokens"] == 3


def test_what_the_user_adds_wins() -> None:
    style = BodyStyle(CHAT, "m", length=LENGTHS, extra={"ignore_eos": False, "min_tokens": 0})
    assert json.loads(BodyMaker(style).with_text(b"a", 3))["ignore_eos"] is False
    assert not style.is_exact


@pytest.mark.parametrize(
    ("length", "extra", "exact"),
    [
        ({}, {}, False),
        ({"ignore_eos": True}, {}, True),
        ({"ignore_eos": True}, {"ignore_eos": False}, False),
        ({"ignore_eos": True}, {"temperature": 1}, True),
        (LENGTHS, {"ignore_eos": False}, True),
    ],
)
def test_an_answer_is_exact_where_something_fixes_its_length(
    *, length: dict[str, Any], extra: dict[str, Any], exact: bool
) -> None:
    assert BodyStyle(CHAT, "m", length=length, extra=extra).is_exact is exact


@given(text=st.text(min_size=1), tokens=st.integers(1, 10**6))
def test_prompts_of_ones_own_come_through_unchanged(
    tmp_path_factory: pytest.TempPathFactory, text: str, tokens: int
) -> None:
    path = tmp_path_factory.mktemp("own") / "prompts.jsonl"
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]
    lines = [json.dumps({"prompt": text}), "", json.dumps({"messages": messages}), json.dumps(text)]
    path.write_text("\n".join(lines))
    own, maker = OwnPrompts(path, CHAT), BodyMaker(BodyStyle(CHAT, "m", length=LENGTHS))
    own.check()
    bodies = [json.loads(own.body(number, tokens, maker)) for number in range(4)]
    alone = [{"role": "user", "content": text}]
    assert [body["messages"] for body in bodies] == [alone, messages, alone, alone]
    assert {body["min_tokens"] for body in bodies} == {tokens}


@pytest.mark.parametrize(
    "line", ["{}", "[]", "3", '{"prompt": ""}', "no JSON", '{"messages": [1]}']
)
def test_a_line_without_a_prompt_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "prompts.jsonl"
    path.write_text(f'\n{{"prompt": "a"}}\n{line}\n')
    with pytest.raises(BadInput) as raised:
        OwnPrompts(path, CHAT).check()
    assert str(raised.value) == (
        f"{path}, line 3: no prompt; write "
        '{"prompt": "text"} or {"messages": [{"role": "user", "content": "text"}]} in each line.'
    )


def test_messages_for_a_completion_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "prompts.jsonl"
    path.write_text('{"messages": [{"role": "user", "content": "a"}]}')
    own, maker = OwnPrompts(path, COMPLETIONS), BodyMaker(BodyStyle(COMPLETIONS, "m"))
    with pytest.raises(BadInput, match="send to the chat endpoint"):
        own.body(0, 1, maker)


@pytest.mark.parametrize("content", [None, "", "\n \n"])
def test_a_file_without_prompts_is_refused(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "prompts.jsonl"
    if content is not None:
        path.write_text(content)
    with pytest.raises(BadInput):
        OwnPrompts(path, CHAT)


@pytest.mark.parametrize("text", ["", "[]", "{", "temperature=0"])
def test_extra_fields_are_one_json_object(text: str) -> None:
    with pytest.raises(BadInput) as raised:
        extra_fields(text)
    assert str(raised.value) == (
        f"--body {text} is no JSON object; give fields for every request, such as "
        "'{\"temperature\": 0}'."
    )


@pytest.mark.parametrize(
    ("field", "remedy"),
    [
        ("messages", "use --prompts for prompts of your own"),
        ("stream", "every answer is streamed"),
        (
            "max_tokens",
            "answers are as long as the workload says, and vram workload scale --output changes that",
        ),
    ],
)
def test_extra_fields_leave_alone_what_the_trial_sets(field: str, remedy: str) -> None:
    with pytest.raises(BadInput) as raised:
        extra_fields(f'{{"temperature": 0, "{field}": 5}}')
    assert str(raised.value) == (
        f"--body sets {field}, which the trial sets itself; leave it out: {remedy}."
    )


@pytest.mark.parametrize("engine", [*CONTROLS, "openai", None])
@pytest.mark.parametrize("endpoint", [CHAT, COMPLETIONS])
def test_every_engine_says_what_forcing_a_length_does(engine: str | None, endpoint: str) -> None:
    control = length_control(engine)
    assert control.effects
    assert bool(control.fields(endpoint)) is (engine in CONTROLS)
