"""Pairs of answers whose differences are known by construction, and divergences with known values."""

from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vramledger.methods.shadow.answer import OK, Answer, Step
from vramledger.methods.shadow.divergence import apart
from vramledger.methods.shadow.pair import compare
from vramledger.methods.shadow.reading import answer_of, as_words

LN2 = log(2)


def answer(text: str, finish: str = "length") -> Answer:
    """One letter a token."""
    return Answer(OK, tuple(Step(letter) for letter in text), finish)


@pytest.mark.parametrize(
    ("a", "b", "agreed", "parted", "exact"),
    [
        ("abcd", "abcd", 4, False, True),
        ("abcd", "abxd", 2, True, False),  # what agrees behind the first difference does not count
        ("abcd", "xbcd", 0, True, False),
        ("", "", 0, False, True),
    ],
)
def test_tokens_count_up_to_the_first_that_differs(
    a: str, b: str, agreed: int, *, parted: bool, exact: bool
) -> None:
    found = compare(0, answer(a), answer(b))
    assert (found.agreed, found.parted, found.exact) == (agreed, parted, exact)
    assert found.positions == agreed + parted


def test_an_end_where_the_other_goes_on_is_a_difference_and_a_limit_is_none() -> None:
    ended = compare(0, answer("ab", "stop"), answer("abcd"))
    assert (ended.agreed, ended.parted, ended.exact, ended.longer) == (2, True, False, 4)
    cut = compare(0, answer("ab", "length"), answer("abcd"))
    assert (cut.agreed, cut.parted, cut.exact) == (2, False, False)


def test_distributions_are_compared_up_to_the_first_difference_and_at_it() -> None:
    top = {"a": log(0.6), "b": log(0.4)}
    steps = tuple(Step(letter, top) for letter in "aaaa")
    other = (*steps[:2], Step("b", top), Step("a", top))
    found = compare(0, Answer(OK, steps), Answer(OK, other))
    assert (found.agreed, found.places) == (2, 3)
    assert found.kl_low == pytest.approx(0, abs=1e-9)


def test_whole_distributions_give_the_divergences_of_the_textbook() -> None:
    p, q = {"a": 0.5, "b": 0.5}, {"a": 0.9, "b": 0.1}
    found = apart({k: log(v) for k, v in p.items()}, {k: log(v) for k, v in q.items()})
    assert found.kl_low == pytest.approx(0.5 * log(0.5 / 0.9) + 0.5 * log(0.5 / 0.1), rel=1e-6)
    assert found.js_low == pytest.approx(found.js_high, abs=1e-6)
    assert found.unlisted < 1e-9


def test_lists_without_a_common_token_are_bounded_by_ln_two() -> None:
    found = apart({"a": log(0.9)}, {"b": log(0.9)})
    assert found.js_high == pytest.approx(LN2)
    assert found.js_low == 0  # as far as the lists say, all of it may be one tail


@given(
    st.lists(st.tuples(st.floats(0.001, 1), st.floats(0.001, 1)), min_size=2, max_size=12),
    st.integers(1, 6),
)
def test_the_truth_lies_within_the_bounds_whatever_is_left_out(
    masses: list[tuple[float, float]], listed: int
) -> None:
    p = [each[0] / sum(m[0] for m in masses) for each in masses]
    q = [each[1] / sum(m[1] for m in masses) for each in masses]
    kl = sum(x * log(x / y) for x, y in zip(p, q, strict=True))
    js = sum(x * log(2 * x / (x + y)) + y * log(2 * y / (x + y)) for x, y in zip(p, q, strict=True)) / 2  # fmt: skip
    found = apart(_likeliest(p, listed), _likeliest(q, listed))
    assert found.kl_low <= kl + 1e-9
    assert found.js_low - 1e-9 <= js <= found.js_high + 1e-9
    whole = apart(_likeliest(p, len(p)), _likeliest(q, len(q)))
    assert whole.kl_low == pytest.approx(kl, abs=1e-6)


def _likeliest(masses: list[float], count: int) -> dict[str, float]:
    order = sorted(range(len(masses)), key=lambda place: -masses[place])[:count]
    return {str(place): log(masses[place]) for place in order}


def test_answers_of_all_three_forms_are_read_alike() -> None:
    top = [{"token": "a", "logprob": -0.1}, {"token": "b", "logprob": -2.5}]
    entry = {"token": "a", "logprob": -0.1, "bytes": [97], "top_logprobs": top}
    chat = {"message": {"content": "a"}, "logprobs": {"content": [entry]}, "finish_reason": "stop"}
    lists = {"tokens": ["a"], "token_logprobs": [-0.1], "top_logprobs": [{"a": -0.1, "b": -2.5}]}
    text = {"text": "a", "logprobs": lists, "finish_reason": "stop"}
    llama = {"text": "a", "logprobs": {"content": [entry]}, "finish_reason": "stop"}
    read = [answer_of({"choices": [each]}) for each in (chat, text, llama)]
    assert all(each == read[0] for each in read)
    assert read[0].ok
    assert sorted(round(exp(p), 3) for p in read[0].steps[0].top.values()) == [0.082, 0.905]


@pytest.mark.parametrize(
    "document",
    [None, [], {}, {"choices": []}, {"choices": [3]}, {"choices": [{"text": 3}]}, {"choices": {"a": 1}}],
)  # fmt: skip
def test_what_is_no_answer_is_a_failure_of_its_own_class(document: object) -> None:
    assert answer_of(document).error == "bad_json"


def test_flaws_in_log_probabilities_leave_the_tokens() -> None:
    entry = {"token": "a", "logprob": "x", "top_logprobs": [{"token": "b", "logprob": None}, 3]}
    found = answer_of({"choices": [{"text": "a", "logprobs": {"content": [entry, 4]}}]})
    assert [step.top for step in found.steps] == [{}]


def test_without_tokens_words_are_compared() -> None:
    found = answer_of({"choices": [{"text": "one two  three", "finish_reason": "stop"}]})
    assert (found.unit, len(found.steps)) == ("words", 3)
    told = answer_of({"choices": [{"text": "one two", "logprobs": {"tokens": ["on", "e two"]}}]})
    assert (told.unit, as_words(told).steps) == ("tokens", found.steps[:2])
