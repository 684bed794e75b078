"""Pieces that several formats share: prompts, answers, usage, audio, nested JSON."""

import base64
import io
import wave
from typing import Any

import pytest

from vramledger.workload.formats.parts.audio import audio_ns
from vramledger.workload.formats.parts.chat import answer_text, limit_of, of_messages
from vramledger.workload.formats.parts.embedded import first_text, mapping, value_or_text
from vramledger.workload.formats.parts.usage import Usage, of_usage
from vramledger.workload.raw import RowProblem

_SECOND = 10**9


def _wav(seconds: float, rate: int = 16_000) -> str:
    sink = io.BytesIO()
    with wave.open(sink, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(bytes(2 * round(seconds * rate)))
    return base64.b64encode(sink.getvalue()).decode()


def _audio(data: str, form: str = "wav") -> dict[str, Any]:
    return {"type": "input_audio", "input_audio": {"data": data, "format": form}}


@pytest.mark.parametrize("seconds", [0.5, 1.0, 12.25])
def test_the_length_of_a_wav_file_is_read_from_its_header(seconds: float) -> None:
    assert audio_ns(_audio(_wav(seconds))) == round(seconds * _SECOND)


@pytest.mark.parametrize(
    "part",
    [
        _audio(base64.b64encode(b"ID3" + bytes(100)).decode(), "mp3"),
        _audio("not base64 " * 20),
        _audio("UklGRg=="),
        {"type": "audio_url", "audio_url": {"url": "https://sounds.example/one.wav"}},
        None,
    ],
)
def test_audio_of_unknown_length_is_unknown(part: Any) -> None:
    assert audio_ns(part) is None


def test_a_prompt_tells_its_text_images_and_audio() -> None:
    found = of_messages(
        [
            {"role": "user", "content": [{"type": "text", "text": "Listen."}, _audio(_wav(2.0))]},
            {"role": "user", "content": [{"type": "image_url"}, _audio(_wav(1.5)), "and look"]},
        ]
    )
    assert found is not None
    assert (found.text, found.images) == ("user\nListen.\nuser\nand look", 1)
    assert found.audio_ns == 3_500_000_000


def test_audio_of_which_a_part_is_unknown_is_unknown() -> None:
    content = [_audio(_wav(1.0)), {"type": "audio_url"}]
    found = of_messages([{"role": "user", "content": content}])
    assert found is not None
    assert found.audio_ns is None


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("plain", "plain"),
        ({"prompt": "completion"}, "completion"),
        ({"inputs": "of a container"}, "of a container"),
        ({"instructions": "Be brief.", "input": "Why?"}, "Be brief.\nWhy?"),
        ({"system": [{"type": "text", "text": "ignored role"}], "messages": []}, None),
        (
            [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}],
            "assistant\nf {}",
        ),
        ([], None),
        (7, None),
    ],
)
def test_prompts_of_every_shape_are_read(prompt: Any, text: str | None) -> None:
    found = of_messages(prompt)
    assert (None if found is None else found.text) == text


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("plain", "plain"),
        ({"choices": [{"text": "completion"}]}, "completion"),
        ({"choices": [{"message": {"reasoning_content": "hm", "content": "yes"}}]}, "hm\nyes"),
        ({"output": [{"type": "message", "content": [{"text": "of responses"}]}]}, "of responses"),
        ({"content": [{"type": "text", "text": "of messages"}]}, "of messages"),
        ([{"generated_text": "of a container"}], "of a container"),
        ({}, None),
        ("", None),
    ],
)
def test_answers_of_every_shape_are_read(answer: Any, text: str | None) -> None:
    assert answer_text(answer) == text


@pytest.mark.parametrize(
    ("usage", "found"),
    [
        (
            {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": None},
            Usage(9, 4, None, None),
        ),
        (
            {
                "input_tokens": 9,
                "output_tokens": 4,
                "input_tokens_details": {"cached_tokens": 5},
                "output_tokens_details": {"reasoning_tokens": 3},
            },
            Usage(9, 4, 3, 5),
        ),
        (
            {"input_tokens": 9, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 2},
            Usage(16, None, None, 5),
        ),
        ({}, Usage()),
    ],
)
def test_usage_of_every_vendor_is_read(usage: dict[str, Any], found: Usage) -> None:
    assert of_usage(usage) == found


def test_a_limit_is_found_by_any_of_its_names() -> None:
    assert limit_of({"max_completion_tokens": 5, "max_tokens": 9}) == 5
    assert limit_of({"parameters": {"max_new_tokens": 7}}) == 7
    assert limit_of({}) is None
    with pytest.raises(RowProblem, match=r"^max_tokens is not a number$"):
        limit_of({"max_tokens": "many"})


def test_nested_json_is_opened_and_broken_json_is_named() -> None:
    assert mapping('{"a": 1}', "metadata") == {"a": 1}
    assert mapping("plain", "metadata") == mapping(None, "metadata") == mapping([1], "x") == {}
    with pytest.raises(RowProblem, match=r"^metadata is not JSON$"):
        mapping('{"a": ', "metadata")
    with pytest.raises(RowProblem, match=r"^metadata is not JSON$"):
        mapping('{"a":' * 100_000, "metadata")
    assert value_or_text("[not json") == "[not json"
    assert value_or_text("[1]") == [1]


def test_an_identity_is_the_first_that_says_something() -> None:
    assert first_text(None, "", "-", "None", 7, "x") == "7"
    assert first_text(True, {}, [], "x") == "x"
    assert first_text() is None
