"""Words that are one token each, and what stands around them in a prompt."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, Final

from vramledger.errors import CannotKnow
from vramledger.evidence import Basis
from vramledger.frozen import frozen

FEWEST: Final = 16  # words; with fewer, telling prompts apart takes too many of them
MOST: Final = 1024
_AFTER: Final = (
    8  # tokens: chat templates end with the mark of an end and the head of an answer (assumed)
)
_IDS_FIRST: Final = 1024  # below lie bytes and special tokens


@frozen
class Lexicon:
    """A prompt is `lead` and then units, each of which adds exactly one token.

    A unit begins with the one character that joins it to what stands before. There are a power of two of them, all
    different. Of a prompt of N tokens, `before` come ahead of the first unit (template, special tokens, lead) and
    `after` behind the last one; N - before - after are units. `sides_known` is False where only the sum is known.
    With `as_ids` the units are token ids in a JSON list, and there is no lead.
    """

    units: tuple[str, ...]
    lead: str
    before: int
    after: int
    basis: Basis
    said: str  # one sentence: who counted
    sides_known: bool = True
    as_ids: bool = False

    @property
    def around(self) -> int:
        """Tokens of a prompt that are no units: the shortest prompt there is."""
        return self.before + self.after

    def to_json(self) -> dict[str, Any]:
        """As JSON holds it."""
        return asdict(self) | {"basis": str(self.basis), "units": list(self.units)}


def lexicon_from_json(found: Mapping[str, Any]) -> Lexicon:
    """The lexicon that `Lexicon.to_json` wrote."""
    return Lexicon(**{**found, "units": tuple(found["units"]), "basis": Basis(found["basis"])})


def even_number(words: tuple[str, ...], where: str) -> tuple[str, ...]:
    """As many of the words as the largest power of two there is, up to `MOST`.

    Raises:
        CannotKnow: there are too few to make prompts that differ.
    """
    if len(words) < FEWEST:
        raise CannotKnow(
            f"{where} has {len(words)} words of one token, and prompts that differ take at least {FEWEST}; "
            "give prompts of your own with --prompts, or send token ids to /v1/completions."
        )
    return words[: 1 << (min(len(words), MOST).bit_length() - 1)]


def ids_lexicon(first: int = _IDS_FIRST, count: int = MOST) -> Lexicon:
    """Token ids from `first` on as units, for engines that take a list of them as the prompt of a completion."""
    return Lexicon(
        units=tuple(f",{number}" for number in range(first, first + count)),
        lead="",
        before=0,
        after=0,
        basis=Basis.EXACT,
        said="Prompts are lists of token ids, which the server takes as they are.",
        as_ids=True,
    )


def surrounded(lexicon: Lexicon, around: int, said: str) -> Lexicon:
    """The lexicon when a template puts `around` tokens, the lead included, around the units, nobody knows on which side.

    Up to `_AFTER` of them are taken to stand behind. Where fewer do, what is shared ends up to so many tokens past
    the end of a block, which leaves the engine as many whole blocks as the log has.
    """
    after = min(around, _AFTER)
    return replace(lexicon, before=around - after, after=after, sides_known=False, said=said)
