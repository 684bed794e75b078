"""Events come out whole however their bytes were split, and comparing bytes finds what reading JSON finds."""

import json
import time
from collections.abc import Callable
from typing import Any, TypeAlias

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from vramledger.trial.wire.events import (
    EventSplitter,
    LineTooLong,
    Shape,
    data_of,
    plain_text,
    shape_of,
)
from vramledger.trial.wire.limits import Limits
from vramledger.trial.wire.reply import Reply

LINES = st.sampled_from(["data: a", "data:b", "data: \u4f60\u597d", ": ping", "event: x", "data", "id: 7", "data:  two"])  # fmt: skip
Draw: TypeAlias = Callable[[SearchStrategy[set[int]]], set[int]]
BLOCKS = st.lists(st.lists(LINES, min_size=1, max_size=3), max_size=5)


def pieces_of(draw: Draw, data: bytes) -> list[bytes]:
    cuts = sorted(draw(st.sets(st.integers(1, max(1, len(data) - 1)), max_size=12)))
    return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]


@st.composite
def split_streams(draw: DrawFn) -> tuple[list[str], list[bytes]]:
    """What a stream says, and its bytes in pieces."""
    blocks = draw(BLOCKS)
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    text = "".join("".join(line + end for line in block) + end for block in blocks)
    said = []
    for block in blocks:
        data = [
            line.partition(":")[2].removeprefix(" ") for line in block if line.startswith("data")
        ]
        if data:
            said.append("\n".join(data))
    # a CR at the very end may be half a line end, so that a further line is needed to be sure
    return said, pieces_of(draw, (text + ": end" + end + end + "x").encode())


def test_a_line_that_comes_byte_by_byte_takes_time_in_proportion_to_its_length() -> None:
    """Copying all that came before at each byte makes eight times the bytes sixty-four times the work."""

    def seconds(count: int) -> float:
        splitter = EventSplitter(1 << 20)
        began = time.process_time()
        for _ in range(count):
            splitter.feed(b"x")
        return time.process_time() - began

    small = min(seconds(20_000) for _ in range(3))
    assert min(seconds(160_000) for _ in range(3)) < 30 * small


@given(split_streams())
def test_events_do_not_depend_on_where_their_bytes_were_split(
    case: tuple[list[str], list[bytes]],
) -> None:
    said, pieces = case
    splitter = EventSplitter(1_000)
    blocks = [block for piece in pieces for block in splitter.feed(piece)]
    found = [data for block in blocks if (data := data_of(block)) is not None]
    assert [data.decode() for data in found] == said
    assert splitter.rest == b"x"


def test_a_byte_order_mark_is_no_part_of_the_first_event() -> None:
    splitter = EventSplitter(100)
    blocks = [b for byte in b"\xef\xbb\xbfdata: a\n\n" for b in splitter.feed(bytes([byte]))]
    assert blocks == [b"data: a"]


def test_llama_cpp_reports_errors_in_a_field_of_their_own() -> None:
    assert data_of(b'error: {"code":500}') == b'{"error":{"code":500}}'


def test_a_line_beyond_the_limit_is_given_up_at_once() -> None:
    splitter = EventSplitter(10)
    assert splitter.feed(b"data: 1234") == []
    with pytest.raises(LineTooLong):
        splitter.feed(b"5")


def test_a_whole_event_beyond_the_limit_is_given_up_too() -> None:
    with pytest.raises(LineTooLong):
        EventSplitter(10).feed(b"data: 123456\n\n")


@given(st.binary(max_size=12))
def test_plain_text_is_what_json_reads_as_it_stands(inside: bytes) -> None:
    quoted = b'"%b"' % inside
    try:
        read = orjson.loads(quoted)
    except orjson.JSONDecodeError:
        read = None
    if plain_text(quoted, 1, len(quoted) - 1):
        assert read == inside.decode()
    else:
        assert read in (None, "") or b"\\" in inside


TEXTS: SearchStrategy[str] = st.one_of(
    st.sampled_from([" the", "a", "\u4f60", 'say "so"', "new\nline", "\\", "\U0001f600", ""]),
    st.text(max_size=5),
)


@st.composite
def answers(draw: DrawFn) -> list[bytes]:
    """The events of an answer, from a server with habits of its own."""
    chat, spaces = draw(st.booleans()), draw(st.booleans())
    thinks = draw(st.integers(0, 3)) if chat else 0
    count = draw(st.integers(1, 12))
    usage = draw(st.sampled_from(["none", "last", "each"]))
    ascii_only = draw(st.booleans())
    events = []
    for number in range(count):
        key = "reasoning_content" if number < thinks else "content"
        text = draw(TEXTS)
        choice: dict[str, object] = {"index": 0, "finish_reason": None}
        choice |= {"delta": {key: text}} if chat else {"text": text}
        if number == count - 1:
            choice["finish_reason"] = draw(st.sampled_from(["stop", "length", None]))
        event: dict[str, object] = {"id": "a-1", "choices": [choice]}
        if usage == "each":
            event["usage"] = {"prompt_tokens": 3, "completion_tokens": number + 1}
        events.append(event)
    if usage == "last":
        events.append({"id": "a-1", "choices": [], "usage": {"completion_tokens": count}})
    separators = (", ", ": ") if spaces else (",", ":")
    bodies = [json.dumps(e, separators=separators, ensure_ascii=ascii_only) for e in events]
    return [b"data: %b\n\n" % body.encode() for body in (*bodies, "[DONE]")]


class PlainReply(Reply):
    """Reads the JSON of every event."""

    def _learn(self, shape: Shape | None) -> None:
        """Never compare bytes."""


def told(reply: Reply) -> tuple[object, ...]:
    tally = reply.tally
    timeline = tally.timeline()
    tokens = None if timeline.tokens is None else list(timeline.tokens)
    return (
        list(timeline.stamps_ns), tokens, timeline.total, timeline.basis, tally.answer_ns, tally.role_ns, tally.finish,
        reply.failure, reply.done_ns,
    )  # fmt: skip


@given(answers(), st.data())
def test_comparing_bytes_finds_the_same_as_reading_every_event(
    events: list[bytes], data: st.DataObject
) -> None:
    stream = b"".join(events)
    at_once = data.draw(st.booleans())
    pieces = events if at_once else pieces_of(data.draw, stream)
    replies = [kind(Limits(), lambda: None) for kind in (Reply, PlainReply)]
    for reply in replies:
        reply.head(200, {b"content-type": b"text/event-stream"}, 1)
        for number, piece in enumerate(pieces, 10):
            reply.body(piece, number)
        reply.end(1_000, orderly=True)
    quick, plain = map(told, replies)
    assert quick == plain


def test_bytes_are_really_compared_for_events_of_one_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []

    def seen(*arguments: Any, **options: Any) -> Shape | None:
        read.append(1)
        return shape_of(*arguments, **options)

    monkeypatch.setattr("vramledger.trial.wire.reply.shape_of", seen)
    reply = Reply(Limits(), lambda: None)
    reply.head(200, {b"content-type": b"text/event-stream"}, 1)
    for number in range(100):
        choice = f'{{"index":0,"delta":{{"content":" w{number}"}},"finish_reason":null}}'
        reply.body(f'data: {{"id":"a","choices":[{choice}]}}\n\n'.encode(), number + 2)
    assert len(reply.tally.stamps) == 100
    assert len(read) == 1
