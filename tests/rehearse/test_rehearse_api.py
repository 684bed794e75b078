"""The API of a rehearsed server, over real sockets."""

import json
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any

import pytest

from rehearse_server import MODEL, Rehearsed, rehearsal

CHAT, TEXT = "/v1/chat/completions", "/v1/completions"
HELLO = [{"role": "user", "content": "say the first way again"}]


@pytest.fixture(scope="module")
def server() -> Iterator[Rehearsed]:
    """One server for the tests that leave it as it was."""
    with rehearsal() as running:
        yield running


def _error(server: Rehearsed, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    status, answer = server.post(path, body)
    error: dict[str, Any] = json.loads(answer)["error"]
    return status, error


def test_a_chat_streams_its_role_then_a_token_a_chunk_then_usage(server: Rehearsed) -> None:
    asked = {"messages": HELLO, "max_tokens": 5, "ignore_eos": True}
    events = server.events(CHAT, asked | {"stream_options": {"include_usage": True}})
    role, *contents, usage = events

    assert role["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert [len(one["choices"][0]["delta"]["content"].split()) for one in contents] == [1] * 5
    assert [one["choices"][0]["finish_reason"] for one in contents] == [None] * 4 + ["length"]
    assert usage["choices"] == []
    # five words, and a mark of the role, of the end of the message, and of the answer
    assert usage["usage"] == {"prompt_tokens": 8, "total_tokens": 13, "completion_tokens": 5}
    assert {one["id"] for one in events} == {role["id"]}


def test_a_completion_has_no_role_and_no_usage_that_nobody_asked_for(server: Rehearsed) -> None:
    events = server.events(TEXT, {"prompt": "the first", "max_tokens": 3, "ignore_eos": True})

    assert [one["object"] for one in events] == ["text_completion"] * 3
    assert all("usage" not in one for one in events)


def test_usage_stands_in_every_chunk_where_that_is_asked_for(server: Rehearsed) -> None:
    options = {"include_usage": True, "continuous_usage_stats": True}
    asked = {"prompt": "the first", "max_tokens": 3, "ignore_eos": True, "stream_options": options}

    counts = [one["usage"]["completion_tokens"] for one in server.events(TEXT, asked)]

    assert counts == [1, 2, 3, 3]


def test_an_answer_without_a_stream_is_one_object(server: Rehearsed) -> None:
    status, body = server.post(CHAT, {"messages": HELLO, "max_tokens": 4, "ignore_eos": True})
    answer = json.loads(body)

    assert status == 200
    assert answer["object"] == "chat.completion"
    assert len(answer["choices"][0]["message"]["content"].split()) == 4
    assert answer["choices"][0]["finish_reason"] == "length"
    assert answer["usage"]["completion_tokens"] == 4


def test_a_prompt_may_be_token_numbers(server: Rehearsed) -> None:
    status, body = server.post(TEXT, {"prompt": [9, 8, 7, 100_000], "max_tokens": 1})

    assert status == 200
    assert json.loads(body)["usage"]["prompt_tokens"] == 4


def test_the_text_of_an_answer_has_as_many_tokens_as_usage_says(server: Rehearsed) -> None:
    _, body = server.post(TEXT, {"prompt": "the first", "max_tokens": 50, "ignore_eos": True})
    answer = json.loads(body)

    _, counted = server.post("/tokenize", {"prompt": answer["choices"][0]["text"]})

    assert json.loads(counted)["count"] == answer["usage"]["completion_tokens"] == 50


def test_tokenize_counts_a_chat_as_the_server_does(server: Rehearsed) -> None:
    _, counted = server.post("/tokenize", {"messages": HELLO})
    _, answer = server.post(CHAT, {"messages": HELLO, "max_tokens": 1})

    assert json.loads(counted)["count"] == json.loads(answer)["usage"]["prompt_tokens"]


def test_detokenize_undoes_tokenize(server: Rehearsed) -> None:
    text = "The first word, naïve: 42\n of 字"
    _, tokens = server.post("/tokenize", {"prompt": text})
    _, back = server.post("/detokenize", {"tokens": json.loads(tokens)["tokens"]})

    assert json.loads(back) == {"prompt": text}


def test_an_answer_may_end_by_itself_but_not_before_min_tokens(server: Rehearsed) -> None:
    asked = {"prompt": "the first", "max_tokens": 4000, "min_tokens": 20, "seed": 3}
    answer = json.loads(server.post(TEXT, asked)[1])

    assert answer["choices"][0]["finish_reason"] == "stop"
    assert 20 < answer["usage"]["completion_tokens"] < 4000
    assert json.loads(server.post(TEXT, asked)[1])["choices"] == answer["choices"]  # its own seed


def test_a_stop_string_ends_the_text_before_it(server: Rehearsed) -> None:
    asked = {"prompt": "the first", "max_tokens": 60, "ignore_eos": True, "seed": 5}
    text = json.loads(server.post(TEXT, asked)[1])["choices"][0]["text"]
    stop = text.split()[7]
    (choice,) = json.loads(server.post(TEXT, asked | {"stop": [stop]})[1])["choices"]

    assert choice["finish_reason"] == "stop"
    assert choice["stop_reason"] == stop
    assert choice["text"] == text[: text.index(stop)]


def test_logprobs_have_a_row_a_token(server: Rehearsed) -> None:
    events = server.events(
        CHAT, {"messages": HELLO, "max_tokens": 3, "ignore_eos": True, "logprobs": True}
    )
    rows = [one["choices"][0]["logprobs"]["content"] for one in events[1:]]
    asked = {"prompt": "the", "max_tokens": 3, "ignore_eos": True, "logprobs": 1}
    (choice,) = json.loads(server.post(TEXT, asked)[1])["choices"]

    assert [len(row) for row in rows] == [1, 1, 1]
    assert "".join(choice["logprobs"]["tokens"]) == choice["text"]
    assert len(choice["logprobs"]["token_logprobs"]) == 3


def test_a_prompt_longer_than_the_context_is_refused_in_the_words_of_vllm(
    server: Rehearsed,
) -> None:
    status, error = _error(server, TEXT, {"prompt": " the" * 4000, "max_tokens": 100})

    assert status == 400
    assert error == {
        "message": "This model's maximum context length is 4096 tokens. However, you requested 100 output tokens and "
        "your prompt contains at least 4000 input tokens, for a total of at least 4100 tokens. Please reduce the "
        "length of the input prompt or the number of requested output tokens.",
        "type": "BadRequestError",
        "param": "input_tokens",
        "code": 400,
    }


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"prompt": "the", "n": 2}, "Only n=1 is rehearsed."),
        ({"prompt": ["the", "of"]}, "Only one prompt a request is rehearsed."),
        ({"prompt": ""}, "The decoder prompt cannot be empty"),
        ({"prompt": [9, -1]}, "Token id -1 is out of vocabulary"),
        ({"prompt": {}}, "prompt must be a string or a list of token numbers."),
        ({"prompt": "the", "echo": True}, "echo is not rehearsed; leave it out."),
        ({"prompt": "the", "max_tokens": "9"}, "max_tokens must be of type int."),
        ({"prompt": "the", "max_tokens": True}, "max_tokens must be of type int."),
        ({"prompt": "the", "max_tokens": 0}, "max_tokens must be at least 1, got 0."),
        (
            {"prompt": "the", "max_tokens": 2, "min_tokens": 3},
            "min_tokens must be less than or equal to max_tokens=2, got 3.",
        ),
        (
            {"prompt": "the", "stream_options": {"include_usage": True}},
            "Stream options can only be defined when `stream=True`.",
        ),
    ],
)
def test_what_is_not_served_is_refused_by_name(
    server: Rehearsed, body: dict[str, Any], message: str
) -> None:
    status, error = _error(server, TEXT, body)

    assert (status, error["message"]) == (400, message)


def test_another_model_is_not_found(server: Rehearsed) -> None:
    status, error = _error(server, CHAT, {"model": "other", "messages": HELLO})

    assert (status, error["message"]) == (404, "The model `other` does not exist.")
    assert error["type"] == "NotFoundError"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff\xfe"])
def test_a_body_that_is_no_object_is_refused(server: Rehearsed, body: bytes) -> None:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("POST", CHAT, body)
    response = connection.getresponse()

    assert response.status == 400
    assert "The body is not" in json.loads(response.read())["error"]["message"]
    connection.close()


def test_unknown_paths_and_methods_are_answered_as_such(server: Rehearsed) -> None:
    assert server.get("/nowhere") == (404, b'{"detail":"Not Found"}')
    assert server.get(CHAT) == (405, b'{"detail":"Method Not Allowed"}')
    assert server.get("/health") == (200, b"")


def test_every_response_says_that_it_is_a_rehearsal(server: Rehearsed) -> None:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    for path in ("/version", "/v1/models", "/nowhere"):  # one connection, kept alive
        connection.request("GET", path)
        response = connection.getresponse()
        assert response.getheader("x-vramledger-rehearsal") == "1"
        response.read()
    connection.close()

    (card,) = json.loads(server.get("/v1/models")[1])["data"]
    assert (card["id"], card["owned_by"]) == (MODEL, "vramledger-rehearsal")
    assert card["max_model_len"] == 4096
    assert json.loads(server.get("/version")[1]) == {"version": "0.33.0"}


def test_requests_sent_ahead_are_answered_in_their_order(server: Rehearsed) -> None:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.connect()
    body = json.dumps({"prompt": "the", "max_tokens": 1}).encode()
    post = b"POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n%b"
    connection.sock.sendall(
        post % (len(body), body) + b"GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
    )
    with connection.sock.makefile("rb") as file:
        answers = file.read()
    connection.close()

    assert answers.count(b"HTTP/1.1 200 OK") == 2
    assert answers.index(b"text_completion") < answers.rindex(b"content-length: 0")
