"""Finding words that are one token each, by a source that tells token ids.

A word is taken when it is one token behind a space, between two others, and no other word has its token. To ask for many at
once, candidates are written with a known word between them: "the w1 the w2 the"; the tokens between two of that word
are those of one candidate.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Final

from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.trial.prompts.body import CHAT
from vramledger.trial.prompts.lexicon import MOST, Lexicon, even_number
from vramledger.trial.prompts.token_source import TokenSource
from vramledger.workload.operators.draws import generator

# Prompts begin with one of these, so that templates that strip blanks change no count.
LEADS: Final = ("The", "the", "A", "a")
_WORD: Final = re.compile(r"[A-Za-z]{2,12}")
_AT_ONCE: Final = 200
_FEWEST_AT_ONCE: Final = 6
_TRIED: Final = 100  # candidates for the word between
_CHECKS: Final = 3  # texts
_CHECK_WORDS: Final = 700
_STREAM: Final = 22  # of a fixed seed


@frozen
class _Token:
    """A word and its token."""

    word: str
    number: int


def learn(source: TokenSource, endpoint: str) -> Lexicon:
    """The lexicon of a source; the tokens around the units are those of the endpoint, where the source knows them.

    Where it does not, `before` is the lead alone and `sides_known` is False: `lexicon.surrounded` adds the rest.

    Raises:
        CannotKnow: it has too few words, or its tokens do not add up.
    """
    lead = _lead(source)
    found = _tokens(source, lead)
    units = even_number(tuple(" " + token.word for token in found), "The tokenizer's vocabulary")
    kept = found[: len(units)]
    _check(source, kept, lead)
    ask = source.chat if endpoint == CHAT else source.prompt
    around = _around(ask(lead.text + units[0] + units[1]), kept)
    return Lexicon(
        units=units,
        lead=lead.text,
        before=lead.tokens if around is None else around.before,
        after=0 if around is None else around.after,
        basis=source.basis,
        said=source.said,
        sides_known=around is not None,
    )


@frozen
class _Lead:
    """How a prompt begins, and how many tokens that is."""

    text: str
    tokens: int


def _lead(source: TokenSource) -> _Lead:
    """The lead of the fewest tokens."""
    counted = [_Lead(text, len(source.plain(text) or ())) for text in LEADS]
    found = min(
        (lead for lead in counted if lead.tokens), key=lambda lead: lead.tokens, default=None
    )
    if found is None:
        raise CannotKnow(
            "The tokenizer gives no tokens for a word; give another with --tokenizer, or leave it out."
        )
    return found


def common_words() -> list[str]:
    """Short English words, most of which are one token of most vocabularies."""
    return (Path(__file__).parent / "words.txt").read_text("utf-8").split()


def _tokens(source: TokenSource, lead: _Lead) -> list[_Token]:
    """Up to `MOST` words of one token, those of the common list first."""
    between = _between(source, lead)
    found = {between.number: between.word}
    for batch in _batches(chain(common_words(), source.words()), between.word):
        found |= {
            token.number: token.word
            for token in _single(source, batch, between, lead)
            if token.number not in found
        }
        if len(found) >= MOST:
            break
    return [_Token(word, number) for number, word in found.items()][:MOST]


def _batches(candidates: Iterable[str], left_out: str) -> Iterator[list[str]]:
    """Words among the candidates, each once and one not at all, so many at a time."""
    seen = {left_out}

    def words() -> Iterator[str]:
        for candidate in candidates:
            word = candidate.strip()
            if word not in seen and _WORD.fullmatch(word):
                seen.add(word)
                yield word

    left = words()
    while batch := list(islice(left, _AT_ONCE)):
        yield batch


def _between(source: TokenSource, lead: _Lead) -> _Token:
    """A word that is one token behind a space, and its token."""
    for word in islice(chain(["the"], common_words()[:_TRIED], source.words()), 4 * _TRIED):
        if not _WORD.fullmatch(word.strip()):
            continue
        ids = source.plain(lead.text + f" {word.strip()}" * 3)
        if ids and len(ids) == lead.tokens + 3 and len(set(ids[lead.tokens :])) == 1:
            return _Token(word.strip(), ids[-1])
    raise CannotKnow(
        "The tokenizer has no word that is one token, so prompts of exact lengths cannot be made of words; give "
        "prompts of your own with --prompts, or send token ids to /v1/completions."
    )


def _single(
    source: TokenSource, words: Sequence[str], between: _Token, lead: _Lead
) -> Iterator[_Token]:
    """Those of the words that are one token; where pieces do not show, the halves are asked for by themselves."""
    text = "".join(f" {between.word} {word}" for word in words)
    ids = source.plain(f"{lead.text}{text} {between.word}")
    if not ids:
        return
    pieces: list[list[int]] = []
    for number in ids[lead.tokens : -1]:
        if number == between.number:
            pieces.append([])
        elif pieces:
            pieces[-1].append(number)
    if len(pieces) != len(words) or ids[-1] != between.number:
        half = len(words) // 2
        if half >= _FEWEST_AT_ONCE:
            yield from _single(source, words[:half], between, lead)
            yield from _single(source, words[half:], between, lead)
        return
    for word, piece in zip(words, pieces, strict=True):
        if len(piece) == 1:
            yield _Token(word, piece[0])


def _check(source: TokenSource, tokens: Sequence[_Token], lead: _Lead) -> None:
    """Whether the words are the same tokens in any order.

    Raises:
        CannotKnow: they are not.
    """
    draws = generator(0, _STREAM)
    for _ in range(_CHECKS):
        chosen = [tokens[place] for place in draws.integers(0, len(tokens), _CHECK_WORDS).tolist()]
        ids = source.plain(lead.text + "".join(" " + token.word for token in chosen))
        if ids is None or list(ids[lead.tokens :]) != [token.number for token in chosen]:
            raise CannotKnow(
                "The tokenizer joins words that stand side by side, so prompts of exact lengths cannot be made of "
                "them; give prompts of your own with --prompts, or send token ids to /v1/completions."
            )


@frozen
class _Around:
    before: int
    after: int


def _around(ids: Sequence[int] | None, tokens: Sequence[_Token]) -> _Around | None:
    """How many tokens stand before and after the first two words in a prompt of them; None where they do not show."""
    pair = [tokens[0].number, tokens[1].number]
    for place in range(len(ids or ()) - 1, 0, -1):
        if ids is not None and list(ids[place - 1 : place + 1]) == pair:
            return _Around(place - 1, len(ids) - place - 1)
    return None
