"""Candidates that were tried and are no answer, counted by what speaks against them."""

from collections.abc import Iterable
from typing import Final

from vramledger.frozen import frozen
from vramledger.sizing.candidate import Candidate, CardResult

SIMULATION: Final = "the contract in simulation"


@frozen
class Failing:
    """Candidates that one rule forbids; `example` is the first of them, with its reason."""

    rule: str
    count: int
    example: Candidate


@frozen
class Tried:
    """All candidates of some cards, and those that fail, most frequent rule first."""

    count: int
    failing: tuple[Failing, ...]

    @property
    def failed(self) -> int:
        """How many are no answer."""
        return sum(each.count for each in self.failing)


def tried(cards: Iterable[CardResult]) -> Tried:
    """What became of the candidates of these cards."""
    candidates = [candidate for card in cards for candidate in card.candidates]
    by_rule: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        if not candidate.recommended:
            by_rule.setdefault(candidate.rule or SIMULATION, []).append(candidate)
    ordered = sorted(by_rule.items(), key=lambda item: -len(item[1]))
    failing = (Failing(rule, len(found), found[0]) for rule, found in ordered)
    return Tried(len(candidates), tuple(failing))
