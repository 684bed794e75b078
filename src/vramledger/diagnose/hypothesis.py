"""A hypothesis: a cause with its signs weighed to one score.

The score is the least of the signs that are needed, times 0.4 plus 0.6 of the weighted mean of the others. A needed sign that could not be
seen counts as `_UNSEEN`, so that what was never looked at neither accuses nor acquits. What another cause explains is taken off
afterwards (`ranking`). The confidence is the score times the part of all weight that was seen.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from vramledger.diagnose.sign import Sign
from vramledger.frozen import frozen

if TYPE_CHECKING:
    from vramledger.diagnose.picture import Picture

_UNSEEN: Final = 0.3
_ALONE: Final = 0.4  # of the score, by the needed signs alone
_NEEDED_WEIGHT: Final = 2.0


@frozen
class NextChange:
    """The one change to try next. `flag` and `value` say it as an engine argument where it is one."""

    text: str
    flag: str | None = None
    value: str | None = None


@frozen
class Cause:
    """A kind of cause: its id, its name, one line on what it is, what it looks at, and what to try.

    `root` ones explain what requests wait for in the engine; `harms` is False for what flatters or threatens and slows nothing yet.
    """

    id: str
    name: str
    title: str
    signs: "Callable[[Picture], Sequence[Sign]]"
    change: "Callable[[Picture], NextChange]"
    root: bool = False
    waits: bool = False  # whether it is one of the limits that keep requests waiting in the engine
    harms: bool = True


@frozen
class Hypothesis:
    """A cause as it stands against the evidence. `explained_by` names a stronger cause that explains it, empty for none."""

    cause: Cause
    signs: tuple[Sign, ...]
    score: float
    confidence: float
    explained_by: str = ""

    @property
    def supports(self) -> tuple[str, ...]:
        """What speaks for it."""
        return tuple(each.text for each in self.signs if each.supports)

    @property
    def contradicts(self) -> tuple[str, ...]:
        """What speaks against it."""
        told = [each.text for each in self.signs if each.strength is not None and not each.supports]
        return (*told, self.explained_by) if self.explained_by else tuple(told)

    @property
    def unseen(self) -> tuple[str, ...]:
        """What could not be seen."""
        return tuple(each.text for each in self.signs if each.strength is None)


def weighed(cause: Cause, signs: Sequence[Sign]) -> Hypothesis:
    """The hypothesis of a cause with these signs."""
    needed = [_UNSEEN if each.strength is None else each.strength for each in signs if each.needed]
    others = [each for each in signs if not each.needed and each.strength is not None]
    weight = sum(each.weight for each in others)
    mean = sum(each.weight * (each.strength or 0.0) for each in others) / weight if weight else 0.5
    score = min(needed, default=1.0) * (_ALONE + (1 - _ALONE) * mean)
    return Hypothesis(cause, tuple(signs), score, score * _visible(signs))


def _visible(signs: Sequence[Sign]) -> float:
    """The part of all weight that was seen."""
    weights = [(_NEEDED_WEIGHT if each.needed else each.weight, each.strength) for each in signs]
    whole = sum(weight for weight, _ in weights)
    return (
        sum(weight for weight, strength in weights if strength is not None) / whole
        if whole
        else 0.0
    )
