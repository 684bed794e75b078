"""What an answer amounts to, in the dialects of the engines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vramledger.trial.wire.chunks import BadChunk, Chunk, Usage, read_chunk
from vramledger.trial.wire.tally import Tally, Timeline


def tally_of(*data: bytes) -> Tally:
    """The chunks, one a nanosecond from 1 on."""
    tally = Tally()
    for now, each in enumerate(data, 1):
        tally.add(read_chunk(each), now)
    return tally


def delta(inside: str, rest: str = "") -> bytes:
    return f'{{"id":"c-1","choices":[{{"index":0,"delta":{{{inside}}}{rest}}}]}}'.encode()


def usage(tokens: int) -> bytes:
    counts = f'"prompt_tokens":9,"completion_tokens":{tokens},"prompt_tokens_details":{{"cached_tokens":4}}'
    return f'{{"choices":[],"usage":{{{counts}}}}}'.encode()


def seen(timeline: Timeline) -> tuple[list[int], list[int] | None, int | None, str | None]:
    tokens = None if timeline.tokens is None else list(timeline.tokens)
    return list(timeline.stamps_ns), tokens, timeline.total, timeline.basis


ROLE = delta('"role":"assistant","content":""')
WORD = delta('"content":" a"')
EMPTY = delta('"content":""')
LAST = delta('"content":""', ',"finish_reason":"length"')


def test_a_role_without_a_token_is_no_token() -> None:
    tally = tally_of(ROLE, WORD, WORD, usage(2))
    assert tally.role_ns == 1
    assert tally.answer_ns == 2
    assert seen(tally.timeline()) == ([2, 3], [1, 1], 2, "usage")
    assert (tally.prompt_tokens, tally.cached_tokens, tally.id) == (9, 4, "c-1")


def test_a_role_in_every_chunk_hides_no_token() -> None:
    word = delta('"role":"assistant","content":"a"')
    assert seen(tally_of(ROLE, word, word, usage(2)).timeline())[0] == [2, 3]


def test_thinking_comes_first_and_is_not_the_answer() -> None:
    for name in ("reasoning_content", "reasoning"):
        tally = tally_of(ROLE, delta(f'"{name}":"hm"'), WORD, usage(2))
        assert seen(tally.timeline())[0] == [2, 3]
        assert tally.answer_ns == 3


def test_a_tool_call_is_an_answer() -> None:
    call = delta('"tool_calls":[{"index":0,"function":{"arguments":"{"}}]')
    tally = tally_of(ROLE, call)
    assert tally.answer_ns == 2
    assert seen(tally.timeline()) == ([2], None, 1, "chunks")


def test_an_empty_text_counts_as_a_token_where_the_total_has_room_for_it() -> None:
    assert seen(tally_of(ROLE, WORD, EMPTY, WORD, usage(3)).timeline()) == ([2, 3, 4], [1, 1, 1], 3, "usage")  # fmt: skip
    assert seen(tally_of(ROLE, WORD, EMPTY, WORD, usage(2)).timeline()) == ([2, 4], [1, 1], 2, "usage")  # fmt: skip
    assert seen(tally_of(ROLE, WORD, EMPTY, WORD).timeline()) == ([2, 3, 4], None, 3, "chunks")


def test_an_empty_last_chunk_counts_only_where_the_total_asks_for_it() -> None:
    assert seen(tally_of(WORD, LAST, usage(2)).timeline()) == ([1, 2], [1, 1], 2, "usage")
    assert seen(tally_of(WORD, LAST, usage(1)).timeline()) == ([1], [1], 1, "usage")
    assert seen(tally_of(WORD, LAST).timeline()) == ([1], None, 1, "chunks")


def test_several_tokens_a_chunk_are_unknown_a_chunk_but_not_in_all() -> None:
    assert seen(tally_of(WORD, WORD, usage(8)).timeline()) == ([1, 2], None, 8, "usage")


def test_usage_in_every_chunk_tells_the_tokens_of_each() -> None:
    chunks = [
        b'{"choices":[{"delta":{"role":"assistant","content":""}}],"usage":{"completion_tokens":0}}',
        b'{"choices":[{"delta":{"content":"ab"}}],"usage":{"completion_tokens":3}}',
        b'{"choices":[{"delta":{"content":""}}],"usage":{"completion_tokens":4}}',
        b'{"choices":[{"delta":{"content":"c"}}],"usage":{"completion_tokens":4}}',
        b'{"choices":[],"usage":{"completion_tokens":4}}',
    ]
    assert seen(tally_of(*chunks).timeline()) == ([2, 3, 4], [3, 1, 0], 4, "usage")


def test_probabilities_count_where_usage_does_not() -> None:
    two = delta('"content":"ab"', ',"logprobs":{"content":[{},{}]}')
    assert seen(tally_of(two, two).timeline()) == ([1, 2], [2, 2], 4, "logprobs")
    completion = b'{"choices":[{"text":"a","logprobs":{"tokens":["a"]}}]}'
    assert seen(tally_of(completion).timeline()) == ([1], [1], 1, "logprobs")
    ids = b'{"choices":[{"text":"a","token_ids":[5,6]}]}'
    assert seen(tally_of(ids).timeline()) == ([1], [2], 2, "logprobs")


def test_silence_is_no_count() -> None:
    assert seen(Tally().timeline()) == ([], None, None, None)
    assert seen(tally_of(usage(0)).timeline()) == ([], None, 0, "usage")


@pytest.mark.parametrize(
    ("data", "failure"),
    [
        (b"{", "bad_json"),
        (b"\xff", "bad_json"),
        (b"7", "bad_chunk"),
        (b'{"choices":{}}', "bad_chunk"),
        (b'{"choices":[7]}', "bad_chunk"),
        (b'{"choices":[{"delta":[]}]}', "bad_chunk"),
    ],
)
def test_what_is_no_chunk_is_refused_by_class(data: bytes, failure: str) -> None:
    with pytest.raises(BadChunk) as caught:
        read_chunk(data)
    assert caught.value.failure == failure


@pytest.mark.parametrize(
    "data",
    [b'{"error":{"message":"full"}}', b'{"error":"full"}', b'{"object":"error","message":"full"}'],
)
def test_errors_are_recognised_in_every_form(data: bytes) -> None:
    assert read_chunk(data) == Chunk(error="full")


def test_counts_that_are_none_are_unknown() -> None:
    found = read_chunk(b'{"usage":{"prompt_tokens":-1,"completion_tokens":true}}')
    assert found.usage == Usage(None, None, None)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["choices", "delta", "text", "content", "role", "usage", "logprobs", "tokens", "reasoning", "error",
             "finish_reason", "token_ids", "prompt_tokens_details", "completion_tokens", "object"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(st.lists(JSON, max_size=4))
def test_no_json_brings_the_reader_down(found: list[object]) -> None:
    import json

    tally = Tally()
    for now, each in enumerate(found, 1):
        try:
            chunk = read_chunk(json.dumps({"choices": [each]} if now % 2 else each).encode())
        except BadChunk:
            continue
        tally.add(chunk, now)
    timeline = tally.timeline()
    assert list(timeline.stamps_ns) == sorted(timeline.stamps_ns)
    assert timeline.tokens is None or len(timeline.tokens) == len(timeline.stamps_ns)
