"""Finding words that are one token each, by what the server counts for whole requests.

A group of common words is sent; when the prompt grew by as many tokens as there are words, each of them is one token.
Otherwise it is halved. A word of two tokens and two words that make one could hide each other; whether sums hold is
checked again with other texts.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from vramledger.errors import CannotKnow
from vramledger.evidence import Basis
from vramledger.frozen import frozen
from vramledger.trial.prompts.learning import LEADS, common_words
from vramledger.trial.prompts.lexicon import Lexicon, even_number, surrounded
from vramledger.workload.operators.draws import generator

CountTokens = Callable[
    [str], int | None
]  # content of a prompt -> tokens of the whole, as the server counts

_LEAD: Final = LEADS[0]
_GROUP: Final = 64
_ENOUGH: Final = 256  # words
_MOST_REQUESTS: Final = 200
_CHECK_WORDS: Final = (40, 400)
_STREAM: Final = 23  # of a fixed seed
_SAID: Final = "Prompts are counted by what the server states as usage, from requests sent ahead."


def learn_from_usage(count: CountTokens) -> Lexicon:
    """The lexicon of a server that tells no tokens but how many a prompt had.

    Raises:
        CannotKnow: it does not say, its counts are not sums, or it has too few words of one token.
    """
    around = _asked(count, _LEAD)
    words: list[str] = []
    for word in _single(count, common_words(), around):
        words.append(word)
        if len(words) >= _ENOUGH:
            break
    units = even_number(tuple(" " + word for word in words), "What the server counts")
    found = surrounded(Lexicon(units, _LEAD, 0, 0, Basis.MEASURED, _SAID), around, _SAID)
    off = error_of(found, count)
    if off:
        raise CannotKnow(
            f"The server's counts of prompts are not sums of words: texts of {_CHECK_WORDS[0]} and {_CHECK_WORDS[1]} words "
            f"are off by {off:,} tokens; give the model's tokenizer with --tokenizer."
        )
    return found


def error_of(lexicon: Lexicon, count: CountTokens) -> int:
    """By how many tokens the server's count is off at most, of a short and of a longer prompt."""
    return max(map(abs, errors_of(lexicon, count)))


def errors_of(lexicon: Lexicon, count: CountTokens) -> list[int]:
    """The server's count less ours, of a short and of a longer prompt.

    Raises:
        CannotKnow: the server does not say.
    """
    draws = generator(0, _STREAM)
    found = []
    for words in _CHECK_WORDS:
        places = draws.integers(0, len(lexicon.units), words).tolist()
        text = lexicon.lead + "".join(lexicon.units[place] for place in places)
        sent = text if lexicon.lead else text[1:]
        found.append(_asked(count, sent) - lexicon.around - words)
    return found


def _asked(count: CountTokens, text: str) -> int:
    found = count(text)
    if found is None:
        raise CannotKnow(
            "The server does not say how many tokens a prompt has, so lengths cannot be made exact; give the model's "
            "tokenizer with --tokenizer, or prompts of your own with --prompts."
        )
    return found


@frozen
class _Group:
    """Words, and how many tokens more than words they are; None: not asked yet."""

    words: Sequence[str]
    extra: int | None = None


def _single(count: CountTokens, words: Sequence[str], around: int) -> Iterator[str]:
    """Words of one token, as they are found; nothing more once too many requests were sent.

    What one half of a group has too much is asked for, the other half has the rest.
    """
    cuts = range(0, len(words), _GROUP)
    waiting = [_Group(words[place : place + _GROUP]) for place in cuts][::-1]
    left = _MOST_REQUESTS
    while waiting and left > 0:
        group = waiting.pop()
        extra = group.extra
        if extra is None:
            left -= 1
            extra = _extra(count, group.words, around)
        if not extra:
            yield from group.words
        elif len(group.words) > 1:
            half = len(group.words) // 2
            left -= 1
            first = _extra(count, group.words[:half], around)
            waiting += [
                _Group(group.words[half:], extra - first),
                _Group(group.words[:half], first),
            ]


def _extra(count: CountTokens, words: Sequence[str], around: int) -> int:
    return _asked(count, _LEAD + "".join(f" {word}" for word in words)) - around - len(words)
