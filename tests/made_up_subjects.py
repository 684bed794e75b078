"""Subjects whose ends are known, for the tests of a search."""

from collections.abc import Callable
from dataclasses import dataclass, field

from vramledger.methods.subject import Check, Figures, Observation, Range

Holds = Callable[[float, int], bool]


@dataclass
class MadeUp:
    """Keeps the contract where `holds` says so; the safe load is the same up to `safe_share` of a level."""

    holds: Holds
    range: Range = field(default_factory=lambda: Range(start=1.0, lowest=1e-3, highest=1e3))
    wants_more: Holds = lambda _level, _attempt: False
    draws: bool = True
    safe_share: float = 1.0
    figures: Callable[[float], Figures] = lambda level: Figures(level, level, e2e_mean_s=1.0)
    played: list[tuple[float, int]] = field(default_factory=list)

    def repeats(self, _level: float) -> bool:
        return self.draws

    def play(self, level: float, attempt: int) -> Observation:
        self.played.append((level, attempt))
        holds = self.holds(level, attempt)
        more = not holds and self.wants_more(level, attempt)
        safe = self.holds(level / self.safe_share, attempt)
        return Observation(
            level=level,
            seed=attempt,
            contract=(Check("it holds", str(holds), holds, wants_more=more),),
            headroom=(Check("it is safe", str(safe), safe),),
            figures=self.figures(level),
            took_s=0.0,
        )


def up_to(end: float) -> Holds:
    """Every attempt holds up to one level."""
    return lambda level, _attempt: level <= end
