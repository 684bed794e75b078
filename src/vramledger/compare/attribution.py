"""Whether an effect can be put down to what differs."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from vramledger.compare.difference import Difference, Kind
from vramledger.compare.differing import arguments_untold, conduct_untold, differing, seeds_differ
from vramledger.compare.fields import ARGUMENT, DECISIVE
from vramledger.compare.following import with_consequences
from vramledger.compare.side import Side, discord
from vramledger.frozen import frozen

if TYPE_CHECKING:
    from vramledger.compare.matching import Pairs


class Answer(StrEnum):
    """Whether an effect is put down to the change."""

    ATTRIBUTED = "attributed"
    CONDITIONAL = "conditional"  # if what one side alone tells is no second change
    NOTHING = "nothing differs"
    REFUSED = "refused"


@frozen
class Attribution:
    """`change` is the one thing that an effect is put down to; `conditions` are what must not differ for that; `why` refuses it."""

    answer: Answer
    differences: tuple[Difference, ...]
    change: Difference | None
    conditions: tuple[str, ...]
    why: str

    @property
    def attributable(self) -> bool:
        """Whether there is one change, as far as both sides tell."""
        return self.answer in (Answer.ATTRIBUTED, Answer.CONDITIONAL)


def attribution(a: Side, b: Side, pairs: "Sequence[Pairs]") -> Attribution:
    """What differs between two sides, and whether that is one thing."""
    from vramledger.compare.sent import sent_differently

    found = [*differing(a.told, b.told), *arguments_untold(a.told, b.told)]
    seeds = seeds_differ([one.told for one in a.runs], [one.told for one in b.runs])
    found += [*([seeds] if seeds is not None else []), *sent_differently(pairs, a.told, b.told)]
    every = with_consequences(a.told, b.told, found)
    if any(each.name == "arguments" for each in every):
        every = tuple(each for each in every if not _is_lone_argument(each))
    return _answer(conduct_untold(every), tuple(_discords((a, b))))


def _is_lone_argument(each: Difference) -> bool:
    return each.kind is Kind.UNKNOWN and each.name.startswith(ARGUMENT)


def _discords(sides: Sequence[Side]) -> Iterator[str]:
    for side in sides:
        yield from discord(side)


def _answer(found: tuple[Difference, ...], discords: tuple[str, ...]) -> Attribution:
    changes = [each for each in found if each.kind is Kind.CHANGE]
    open_ones = [each for each in found if each.kind in (Kind.UNKNOWN, Kind.CONDITION)]
    conditions = tuple(f"{each.title} ({each.why})" for each in open_ones)
    change = changes[0] if len(changes) == 1 else None
    why = _refusal(changes, [each for each in open_ones if each.name in DECISIVE], discords)
    if why:
        return Attribution(Answer.REFUSED, found, change, conditions, why)
    if change is None:
        return Attribution(Answer.NOTHING, found, None, conditions, "")
    answer = Answer.CONDITIONAL if conditions else Answer.ATTRIBUTED
    return Attribution(answer, found, change, conditions, "")


def _refusal(
    changes: Sequence[Difference], decisive: Sequence[Difference], discords: tuple[str, ...]
) -> str:
    if discords:
        return discords[0]
    if len(changes) > 1:
        names = "; ".join(
            f"{each.title}: {_said(each.a)} of A, {_said(each.b)} of B" for each in changes
        )
        return f"{len(changes)} things differ, so that no effect can be put down to one of them; change one at a time ({names})."  # fmt: skip
    if decisive:
        names = ", ".join(f"{each.title} ({each.why})" for each in decisive)
        return f"Nobody knows whether there is a second change, because one side does not tell what was run: {names}."  # fmt: skip
    return ""


def _said(value: object) -> str:
    return "none" if value is None else str(value)
