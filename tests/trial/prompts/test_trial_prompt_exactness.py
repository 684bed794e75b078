from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trained_tokenizers import KINDS, joins_words
from vramledger.errors import CannotKnow
from vramledger.trial.prompts.body import COMPLETIONS
from vramledger.trial.prompts.learning import learn
from vramledger.trial.prompts.lexicon import Lexicon
from vramledger.trial.prompts.text import TextMaker
from vramledger.trial.prompts.token_source import FileTokens

SALT = 20261202
REQUESTS = 1 << 20


@cache
def learnt(kind: str) -> Lexicon:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        KINDS[kind]().save(str(path))
        return learn(FileTokens(path), COMPLETIONS)


def tokens(kind: str, text: bytes) -> list[int]:
    found: list[int] = KINDS[kind]().encode(text.decode()).ids
    return found


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, deadline=None)
@given(
    number=st.integers(0, REQUESTS),
    length=st.integers(1, 3000),
    blocks=st.lists(st.integers(0, 10_000), max_size=40),
    block_tokens=st.sampled_from([0, 1, 2, 16, 64, 512]),
)
def test_prompts_have_exactly_the_tokens_asked_for(
    kind: str, number: int, length: int, blocks: list[int], block_tokens: int
) -> None:
    lexicon = learnt(kind)
    text = TextMaker(lexicon, SALT).text(number, length, blocks, block_tokens)
    assert len(tokens(kind, text)) == max(length, lexicon.around)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, deadline=None)
@given(
    shared=st.lists(st.integers(0, 10_000), min_size=1, max_size=12),
    first=st.lists(st.integers(0, 10_000), max_size=4),
    second=st.lists(st.integers(0, 10_000), max_size=4),
    lengths=st.tuples(st.integers(1, 1200), st.integers(1, 1200)),
    block_tokens=st.sampled_from([16, 64]),
)
def test_prompts_share_their_equal_blocks_and_nothing_behind(
    kind: str,
    shared: list[int],
    first: list[int],
    second: list[int],
    lengths: tuple[int, int],
    block_tokens: int,
) -> None:
    lexicon = learnt(kind)
    make = TextMaker(lexicon, SALT)
    chains = ([*shared, *first], [*shared, *second])
    found = [
        tokens(kind, make.text(number, length, chain, block_tokens))
        for number, length, chain in zip((1, 2), lengths, chains, strict=True)
    ]
    full = [chain[: length // block_tokens] for chain, length in zip(chains, lengths, strict=True)]
    common = alike(*full) * block_tokens
    ends = [max(length, lexicon.around) - lexicon.after for length in lengths]
    expected = min(common, *ends)
    assert found[0][:expected] == found[1][:expected]
    digits = -(-64 // (len(lexicon.units).bit_length() - 1))
    if min(ends) >= max(expected, lexicon.before) + digits:
        assert alike(*found) < max(expected, lexicon.before) + digits


def alike(first: list[int], second: list[int]) -> int:
    """How many values two lists have in common from their beginning."""
    pairs = zip(first, second, strict=False)
    return next(
        (place for place, (one, other) in enumerate(pairs) if one != other),
        min(len(first), len(second)),
    )


def test_a_tokenizer_that_joins_words_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    tokenizer: Any = joins_words()
    tokenizer.save(str(path))
    with pytest.raises(CannotKnow, match="one token"):
        learn(FileTokens(path), COMPLETIONS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_prompt_of_a_hundred_thousand_tokens_is_exact(kind: str) -> None:
    text = TextMaker(learnt(kind), SALT).text(5, 100_000, range(150), 512)
    assert len(tokens(kind, text)) == 100_000
