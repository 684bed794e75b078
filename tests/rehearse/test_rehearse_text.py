"""Tokens of texts, prompts of chats, names of blocks, and drawn answers."""

import string

from hypothesis import given
from hypothesis import strategies as st

from vramledger.rehearse.answers import drawn_answer
from vramledger.rehearse.api.asked import Asked
from vramledger.rehearse.text.blocks import block_names
from vramledger.rehearse.text.chat_template import chat_tokens
from vramledger.rehearse.text.tokenizer import SIZE, decode, encode
from vramledger.rehearse.text.words import WORDS

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
WORDLY = st.lists(st.sampled_from((*WORDS, " ", "x", "é", ", ", "The")), max_size=20)


def test_words_are_different_and_of_small_letters() -> None:
    assert len(set(WORDS)) == len(WORDS)
    assert set("".join(WORDS)) <= set(string.ascii_lowercase)


@given(TEXTS)
def test_what_is_decoded_is_what_was_encoded(text: str) -> None:
    assert decode(encode(text)) == text


@given(WORDLY.map(" ".join))
def test_what_is_decoded_is_what_was_encoded_of_words_too(text: str) -> None:
    assert decode(encode(text)) == text


@given(WORDLY.map("".join), st.lists(st.sampled_from(WORDS), min_size=1))
def test_tokens_add_up_where_a_text_is_cut_before_a_space(text: str, words: list[str]) -> None:
    rest = "".join(" " + word for word in words)

    assert encode(text + rest) == encode(text) + encode(rest)
    assert len(encode(rest)) == len(words)


def test_unknown_pieces_are_their_bytes() -> None:
    assert encode("The") == list(b"The")
    assert encode("é") == list("é".encode())
    assert len(encode("the of  to")) == 4  # two spaces: one of them stands alone


def test_numbers_of_a_larger_vocabulary_read_as_words() -> None:
    assert decode([SIZE + 5]).strip() in WORDS


def test_an_answer_has_the_same_tokens_in_the_next_prompt() -> None:
    asked = Asked(chat=True, model="m", prompt=[1], max_tokens=12, ignore_eos=True)
    answer = drawn_answer(asked, seed=1, number=7, mean=300)
    first = chat_tokens([("user", "say it")])
    then = chat_tokens([("user", "say it"), ("assistant", "".join(answer.texts)), ("user", "go")])

    assert then[: len(first) + 12] == [*first, *answer.tokens]


def test_answers_depend_on_seed_and_number_and_on_nothing_else() -> None:
    asked = Asked(chat=False, model="m", prompt=[1], max_tokens=50, ignore_eos=True)
    first = drawn_answer(asked, seed=1, number=7, mean=300)

    assert drawn_answer(asked, seed=1, number=7, mean=300) == first
    assert drawn_answer(asked, seed=1, number=8, mean=300) != first
    assert drawn_answer(asked, seed=2, number=7, mean=300) != first


def test_answers_that_end_by_themselves_have_the_mean() -> None:
    asked = Asked(chat=False, model="m", prompt=[1], max_tokens=10_000)
    lengths = [len(drawn_answer(asked, 1, number, mean=100).tokens) for number in range(2000)]

    assert 90 < sum(lengths) / len(lengths) < 110


@given(st.integers(0, 40), st.integers(0, 10_000))
def test_min_tokens_come_before_an_end(least: int, number: int) -> None:
    asked = Asked(chat=False, model="m", prompt=[1], max_tokens=50, min_tokens=least)
    answer = drawn_answer(asked, 1, number, mean=5)

    assert least < len(answer.tokens) <= 50
    assert len(answer.texts) == len(answer.tokens)
    assert (answer.texts[-1] == "") == (answer.finish == "stop")


@given(st.lists(st.integers(0, 3), max_size=40), st.lists(st.integers(0, 3), max_size=40))
def test_blocks_are_shared_exactly_as_far_as_tokens_are(one: list[int], other: list[int]) -> None:
    size = 4
    same = 0
    while same < min(len(one), len(other)) and one[same] == other[same]:
        same += 1
    names = block_names(one, size), block_names(other, size)
    shared = sum(a == b for a, b in zip(*names, strict=False))

    assert [len(each) for each in names] == [len(one) // size, len(other) // size]
    assert shared == min(same // size, len(names[0]), len(names[1]))
    assert names[0][:shared] == names[1][:shared]


def test_salts_keep_blocks_apart() -> None:
    assert not set(block_names([1] * 8, 4, "a")) & set(block_names([1] * 8, 4, "b"))
