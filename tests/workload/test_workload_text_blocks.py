"""Prefix blocks of texts: equal ids exactly where beginnings are equal."""

from fractions import Fraction
from hashlib import blake2b

from hypothesis import given
from hypothesis import strategies as st

from vramledger.workload.counting import CharacterCounter
from vramledger.workload.text_blocks import KEY_BYTES, block_ids

_KEY = bytes(range(KEY_BYTES))
_COUNTER = CharacterCounter()
_TEXTS = st.text(alphabet="ab你é", max_size=120)


def _plainly(text: str, block_tokens: int, key: bytes) -> list[bytes]:
    """Character by character."""
    ids, block, weight, before = [], "", Fraction(0), b""
    border = block_tokens
    for each in text:
        block += each
        weight += Fraction(2, 3) if each == "你" else Fraction(1, 4)
        if weight >= border:
            symbols = block.encode("utf-32-le")
            before = blake2b(before + symbols, key=key, digest_size=12).digest()
            ids.append(before)
            block = ""
            border += block_tokens
    return ids


@given(_TEXTS, st.integers(1, 8))
def test_blocks_are_those_of_the_plain_walk(text: str, block_tokens: int) -> None:
    assert block_ids(text, _COUNTER, block_tokens, _KEY) == _plainly(text, block_tokens, _KEY)


@given(_TEXTS, _TEXTS, _TEXTS)
def test_texts_share_as_many_blocks_as_their_beginnings_fill(
    beginning: str, one: str, two: str
) -> None:
    first, second = f"{beginning}{one}", f"{beginning}{two}"
    ids = [block_ids(each, _COUNTER, 4, _KEY) for each in (first, second)]
    shared = sum(a == b for a, b in zip(*ids, strict=False))
    assert ids[0][:shared] == ids[1][:shared]  # equal ones come first, and none after
    assert shared >= len(block_ids(beginning, _COUNTER, 4, _KEY))
    if first == second:
        assert shared == len(ids[0])


def test_a_block_that_differs_makes_all_that_follow_differ() -> None:
    same = "the same words " * 20
    one = block_ids(f"A{same}", _COUNTER, 4, _KEY)
    two = block_ids(f"B{same}", _COUNTER, 4, _KEY)
    assert not set(one) & set(two)


def test_a_text_that_fills_no_block_has_none() -> None:
    assert block_ids("", _COUNTER, 16, _KEY) == []
    assert block_ids("x" * 63, _COUNTER, 16, _KEY) == []
    assert len(block_ids("x" * 64, _COUNTER, 16, _KEY)) == 1


def test_another_key_makes_other_ids_with_the_same_structure() -> None:
    text = "some words that repeat, some words that repeat, " * 10
    one = block_ids(text, _COUNTER, 4, _KEY)
    two = block_ids(text, _COUNTER, 4, bytes(KEY_BYTES))
    assert not set(one) & set(two)
    assert len(one) == len(two) == len(set(one))


def test_there_are_as_many_blocks_as_whole_ones_in_the_count() -> None:
    for length in (0, 1, 63, 64, 65, 1000, 4096):
        text = "y" * length
        assert len(block_ids(text, _COUNTER, 16, _KEY)) == length // 64
