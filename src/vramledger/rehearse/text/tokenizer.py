"""A tokenizer that is exact and simple: a known word is one token, everything else is its UTF-8 bytes.

Text is cut into runs of ASCII letters, each with the one space before it where there is one, and single other
characters. A run that is one of `WORDS` (in small letters) is one token, with its space or without it; any other piece
is one token for each byte. So ``decode(encode(text)) == text`` for every text, and tokens of a text that is cut before
a space add up.

Token numbers: 0 to 255 are bytes, then come the words without a space, the words with one, and the marks of the chat
template. Numbers beyond these, which a client may send as a prompt, count as tokens and read as one of the words.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from vramledger.rehearse.text.words import WORDS

_BYTES: Final = 256
BARE: Final = _BYTES  # of the first word without a space
SPACED: Final = BARE + len(WORDS)
MARKS: Final = SPACED + len(WORDS)
MARK_NAMES: Final = ("<|end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>")
SIZE: Final = MARKS + len(MARK_NAMES)
END: Final = MARKS
_PIECE: Final = re.compile(r" ?[A-Za-z]+|.", re.DOTALL)
_NUMBERS: Final = {word: BARE + place for place, word in enumerate(WORDS)} | {
    " " + word: SPACED + place for place, word in enumerate(WORDS)
}
_TEXTS: Final = (*WORDS, *(" " + word for word in WORDS), *MARK_NAMES)


def encode(text: str) -> list[int]:
    """The tokens of a text; a lone surrogate is a question mark, as it has no bytes."""
    found: list[int] = []
    for piece in _PIECE.findall(text):
        number = _NUMBERS.get(piece)
        if number is None:
            found.extend(piece.encode("utf-8", "replace"))
        else:
            found.append(number)
    return found


def decode(tokens: Sequence[int]) -> str:
    """The text of tokens; bytes that are no UTF-8 become the replacement character."""
    return b"".join(_pieces(tokens)).decode("utf-8", "replace")


def _pieces(tokens: Iterable[int]) -> Iterable[bytes]:
    for token in tokens:
        yield bytes((token,)) if token < _BYTES else text_of(token).encode()


def text_of(token: int) -> str:
    """The text of a token that is no byte."""
    return _TEXTS[token - BARE] if token < SIZE else " " + WORDS[token % len(WORDS)]
