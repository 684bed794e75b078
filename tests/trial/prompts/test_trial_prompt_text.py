from hypothesis import given
from hypothesis import strategies as st

from vramledger.trial.prompts.lexicon import ids_lexicon
from vramledger.trial.prompts.numbering import (
    BLOCK,
    PRIVATE,
    WARM_UP,
    fresh_salt,
    kept_salt,
    numbering,
)
from vramledger.trial.prompts.text import TextMaker

LEXICON = ids_lexicon()


def ids(text: bytes) -> list[int]:
    return [int(each) for each in text.split(b",") if each]


def test_the_text_of_a_salt_is_the_same_in_every_maker() -> None:
    one, other = TextMaker(LEXICON, 5), TextMaker(LEXICON, 5)
    assert one.text(77, 900, [3, 4], 256) == other.text(77, 900, [3, 4], 256)


def test_another_salt_shares_nothing_not_even_the_blocks() -> None:
    one, other = TextMaker(LEXICON, 5), TextMaker(LEXICON, 6)
    assert ids(one.text(77, 900, [3, 4], 256))[:7] != ids(other.text(77, 900, [3, 4], 256))[:7]


def test_two_words_tell_a_million_requests_apart() -> None:
    make = TextMaker(LEXICON, 5)
    texts = {make.text(number, 2) for number in range(1 << 20)}
    assert len(texts) == 1 << 20


def test_warm_up_prompts_and_blocks_begin_otherwise_than_requests() -> None:
    makers = [TextMaker(LEXICON, 5), TextMaker(LEXICON, 5, WARM_UP)]
    begins = {make.text(number, 16) for make in makers for number in range(1000)}
    begins |= {makers[0].text(0, 16, [number], 16) for number in range(1000)}
    assert len(begins) == 3000


def test_a_shorter_prompt_of_a_request_is_the_beginning_of_a_longer_one() -> None:
    make = TextMaker(LEXICON, 5)
    whole = make.text(9, 70_000)  # longer than the tape it is cut from
    for tokens in (1, 6, 7, 8, 500, 69_999):
        assert whole.startswith(make.text(9, tokens))
        assert len(ids(make.text(9, tokens))) == tokens


def test_blocks_that_a_prompt_does_not_fill_are_its_own() -> None:
    make = TextMaker(LEXICON, 5)
    assert make.text(1, 31, [8, 9], 16)[:80] == make.text(2, 31, [8, 9], 16)[:80]
    assert ids(make.text(1, 31, [8, 9], 16))[16:] != ids(make.text(2, 31, [8, 9], 16))[16:]


def test_a_prompt_made_of_blocks_alone_repeats_where_the_log_repeats_it() -> None:
    make = TextMaker(LEXICON, 5)
    assert make.text(1, 32, [8, 9], 16) == make.text(2, 32, [8, 9], 16)


@given(
    salt=st.integers(0, (1 << 64) - 1),
    kind=st.sampled_from([PRIVATE, BLOCK, WARM_UP]),
    bits=st.integers(1, 12),
)
def test_the_lowest_bits_of_numbers_differ(salt: int, kind: int, bits: int) -> None:
    number = numbering(salt, kind)
    assert len({number(each) % (1 << bits) for each in range(1 << bits)}) == 1 << bits


def test_a_kept_salt_is_that_of_its_seed_and_a_fresh_one_is_new() -> None:
    assert kept_salt(3) == kept_salt(3) != kept_salt(4)
    assert len({fresh_salt() for _ in range(100)}) == 100
    assert all(0 <= salt < 1 << 64 for salt in (kept_salt(0), kept_salt(10**30), fresh_salt()))
