"""Which known error an unknown line is nearest to, by the words they share."""

import re
from functools import cache
from math import log
from typing import Final

from vramledger.diagnose.startup.error import KnownError
from vramledger.diagnose.startup.errors import ERRORS

_WORD: Final = re.compile(r"[a-z_]{3,}")
_LEAST: Final = 0.12  # of the weight of all words: below it nothing is near


def nearest_error(text: str) -> KnownError | None:
    """The known error whose samples share most of their rarer words with a line, None where none comes near."""
    words = frozenset(_WORD.findall(text[:4_096].lower()))
    scored = [(_alike(words, sample), error) for error in ERRORS for sample in _words(error)]
    best, error = max(scored, key=lambda pair: pair[0])
    return error if best >= _LEAST else None


def _alike(words: frozenset[str], sample: frozenset[str]) -> float:
    """Weight of the words in both over that of those in either."""
    either = sum(_weight(word) for word in words | sample)
    return sum(_weight(word) for word in words & sample) / either if either else 0.0


@cache
def _words(error: KnownError) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(_WORD.findall(sample.lower())) for sample in error.samples)


@cache
def _rarity() -> dict[str, float]:
    """A word that stands in many samples says little: log of samples over those with it."""
    samples = [words for error in ERRORS for words in _words(error)]
    every = frozenset().union(*samples)
    return {word: log(len(samples) / sum(word in one for one in samples)) for word in every}


def _weight(word: str) -> float:
    return _rarity().get(word, 0.5)
