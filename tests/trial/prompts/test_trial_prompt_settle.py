import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tokenizing_server import Route, chat_text, llama_cpp_routes, serving, vllm_routes
from trained_tokenizers import KINDS, begins_marked, byte_level, joins_words
from vramledger.errors import BadInput, CannotKnow
from vramledger.evidence import Basis
from vramledger.trial.prompts.body import CHAT, COMPLETIONS, BodyMaker, BodyStyle
from vramledger.trial.prompts.lexicon import Lexicon
from vramledger.trial.prompts.settle import Counters, settle
from vramledger.trial.prompts.text import TextMaker
from vramledger.trial.server.asking import Asker

Fetch = Callable[[bytes], int | None]


def counted(tokenizer: Any, body: bytes) -> int:
    """Tokens of a request's prompt, as a server that uses the tokenizer counts them."""
    asked = json.loads(body)
    if "messages" in asked:
        return len(tokenizer.encode(chat_text(asked["messages"][0]["content"])).ids)
    if isinstance(asked["prompt"], list):
        return len(asked["prompt"])
    return len(tokenizer.encode(asked["prompt"]).ids)


def assert_exact(lexicon: Lexicon, endpoint: str, fetch: Fetch) -> None:
    text = TextMaker(lexicon, 3)
    body = BodyMaker(BodyStyle(endpoint, "m"), as_ids=lexicon.as_ids)
    draws = random.Random(1)
    for number in range(30):
        tokens = draws.randrange(lexicon.around, 1500)
        blocks = [draws.randrange(5) for _ in range(draws.randrange(20))]
        assert fetch(body.with_text(text.text(number, tokens, blocks, 64), 1)) == tokens


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tokenizer.json"
    begins_marked().save(str(path))
    return path


def usage(tokenizer: Any) -> Fetch:
    return lambda body: counted(tokenizer, body)


ROUTES: dict[str, Callable[[Any], dict[str, Route]]] = {
    "vllm": vllm_routes,
    "llama.cpp": llama_cpp_routes,
    "no chat": lambda tokenizer: {"/tokenize": _without_chat(vllm_routes(tokenizer)["/tokenize"])},
}


def _without_chat(tokenize: Route) -> Route:
    return lambda asked: tokenize(asked) if "prompt" in asked else None


@pytest.fixture(params=ROUTES)
def ask(request: pytest.FixtureRequest) -> Iterator[Asker]:
    with serving(ROUTES[request.param](begins_marked())) as address:
        yield Asker(address)


@pytest.mark.parametrize("endpoint", [CHAT, COMPLETIONS])
def test_the_servers_own_tokenizer_makes_lengths_exact(ask: Asker, endpoint: str) -> None:
    fetch = usage(begins_marked())
    found = settle(Counters(BodyStyle(endpoint, "m"), fetch, ask))
    assert found.basis is Basis.MEASURED
    assert_exact(found, endpoint, fetch)


@pytest.mark.parametrize("endpoint", [CHAT, COMPLETIONS])
def test_a_tokenizers_file_and_the_servers_usage_make_lengths_exact(
    file: Path, endpoint: str
) -> None:
    fetch = usage(begins_marked())
    found = settle(Counters(BodyStyle(endpoint, "m"), fetch, tokenizer=file))
    assert found.basis is Basis.EXACT
    assert found.sides_known is (endpoint == COMPLETIONS)
    assert_exact(found, endpoint, fetch)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("endpoint", [CHAT, COMPLETIONS])
def test_usage_alone_makes_lengths_exact(kind: str, endpoint: str) -> None:
    fetch = usage(KINDS[kind]())
    found = settle(Counters(BodyStyle(endpoint, "m"), fetch))
    assert found.said == (
        "Prompts are counted by what the server states as usage, from requests sent ahead."
    )
    assert not found.sides_known
    assert_exact(found, endpoint, fetch)


def test_token_ids_need_no_tokenizer() -> None:
    fetch = usage(byte_level())
    found = settle(Counters(BodyStyle(COMPLETIONS, "m"), fetch, ids=True))
    assert found.as_ids
    assert_exact(found, COMPLETIONS, fetch)


def test_token_ids_for_a_chat_are_refused() -> None:
    with pytest.raises(BadInput) as raised:
        settle(Counters(BodyStyle(CHAT, "m"), usage(byte_level()), ids=True))
    assert str(raised.value) == (
        "A chat takes no token ids; send to the completions endpoint, or leave ids out."
    )


def test_a_server_that_adds_to_a_list_of_ids_is_found_out() -> None:
    with pytest.raises(CannotKnow) as raised:
        settle(
            Counters(
                BodyStyle(COMPLETIONS, "m"),
                lambda body: counted(byte_level(), body) + 1,
                ids=True,
            )
        )
    assert str(raised.value) == (
        "The server counts +1 tokens for a list of token ids beyond those in it, so it does not "
        "take them as they are; send words instead."
    )


def test_the_file_of_another_model_is_found_out(file: Path) -> None:
    other = replace_words(usage(begins_marked()))
    with pytest.raises(CannotKnow, match="give the tokenizer of the model that is served"):
        settle(Counters(BodyStyle(CHAT, "m"), other, tokenizer=file))


def replace_words(fetch: Fetch) -> Fetch:
    """A server whose tokenizer needs two tokens where ours needs one, now and then."""
    return lambda body: (fetch(body) or 0) + body.count(b" a")


def test_a_server_that_states_no_usage_leaves_an_exact_file_unchecked(file: Path) -> None:
    found = settle(Counters(BodyStyle(COMPLETIONS, "m"), lambda _body: None, tokenizer=file))
    assert found.said == (
        "Prompts are counted with the tokenizer's file tokenizer.json. The server states no usage to "
        "check it by."
    )
    assert_exact(found, COMPLETIONS, usage(begins_marked()))


def test_without_any_count_lengths_cannot_be_exact(file: Path) -> None:
    for tokenizer in (None, file):
        with pytest.raises(CannotKnow) as raised:
            settle(Counters(BodyStyle(CHAT, "m"), lambda _body: None, tokenizer=tokenizer))
        assert str(raised.value) == (
            "The server does not say how many tokens a prompt has, so lengths cannot be made exact; give "
            "the model's tokenizer with --tokenizer, or prompts of your own with --prompts."
        )


def test_a_tokenizer_that_joins_words_cannot_be_learnt_from_usage() -> None:
    with pytest.raises(CannotKnow):
        settle(Counters(BodyStyle(COMPLETIONS, "m"), usage(joins_words())))


def test_a_server_that_ignores_the_text_is_not_taken_for_a_tokenizer() -> None:
    fetch = usage(byte_level())
    with serving({"/tokenize": lambda _asked: {"tokens": [1, 2, 3]}}) as address:
        found = settle(Counters(BodyStyle(CHAT, "m"), fetch, Asker(address)))
    assert "usage" in found.said
    assert_exact(found, CHAT, fetch)


def test_a_small_vocabulary_of_other_words_is_learnt_by_asking_for_its_words() -> None:
    tokenizer = begins_marked()
    with serving(vllm_routes(tokenizer)) as address:
        found = settle(Counters(BodyStyle(CHAT, "m"), usage(tokenizer), Asker(address)))
    assert len(found.units) >= 512
    assert replace(found, said="") == replace(
        settle_again(tokenizer), said=""
    )  # the same words in the same order whenever it is asked


def settle_again(tokenizer: Any) -> Lexicon:
    with serving(vllm_routes(tokenizer)) as address:
        return settle(Counters(BodyStyle(CHAT, "m"), usage(tokenizer), Asker(address)))
