"""What a method asks: a server that a load of a given level can be played to, simulated or live."""

from enum import StrEnum
from typing import Final, Protocol

from vramledger.frozen import frozen
from vramledger.simulate.judged import Amount

_DIGITS: Final = 4  # of a level, so that the printed one is the one that was played


class Axis(StrEnum):
    """What the level of a load counts."""

    RATE = "rate_scale"  # times the recorded arrivals
    CONCURRENCY = "concurrency"  # requests in flight


class Goal(StrEnum):
    """What a level is to keep."""

    CONTRACT = "contract"
    SAFE = "safe"  # the contract, and headroom in the KV cache beside it


class Verdict(StrEnum):
    """What a level does to a goal."""

    HOLDS = "holds"
    TOO_MUCH = "too much"
    TOO_LITTLE = "too little"  # nothing fails but what asks for more load
    UNCERTAIN = "uncertain"  # repeated, it holds about as often as it fails


@frozen
class Check:
    """One line of a goal, what was found, and whether it holds; None where it was not checked.

    `wants_more`: it fails because less was offered than it asks for. `amount` is None where what was
    found is no number.
    """

    asked: str
    found: str
    holds: bool | None
    wants_more: bool = False
    amount: Amount | None = None


@frozen
class Figures:
    """What was seen at a level; None where there is nothing to count. Shares are 0..1."""

    offered_per_s: float | None
    answered_per_s: float
    goodput_per_hour: float | None = None
    ttft_p50_s: float | None = None
    ttft_p95_s: float | None = None
    e2e_mean_s: float | None = None
    e2e_p95_s: float | None = None
    kv_p99: float | None = None
    in_system_mean: float | None = None
    in_system_p99: float | None = None
    preemptions: int | None = None


@frozen
class Observation:
    """One load, played once. `headroom` holds the checks that the safe load adds to the contract's.

    `notes` are what a reader must know of this play, finished sentences. `unsure` is whether another play of
    the level could well come out otherwise, as far as this one tells.
    """

    level: float
    seed: int
    contract: tuple[Check, ...]
    headroom: tuple[Check, ...]
    figures: Figures
    took_s: float
    notes: tuple[str, ...] = ()
    unsure: bool = False

    def checks(self, goal: Goal) -> tuple[Check, ...]:
        """The lines of that goal, each once."""
        lines = self.contract if goal is Goal.CONTRACT else (*self.contract, *self.headroom)
        return tuple({check.asked: check for check in lines}.values())

    def failed(self, goal: Goal) -> tuple[Check, ...]:
        """The lines that fail."""
        return tuple(check for check in self.checks(goal) if check.holds is False)

    def verdict(self, goal: Goal) -> Verdict:
        """What this one play says; never uncertain."""
        failed = self.failed(goal)
        if not failed:
            return Verdict.HOLDS
        little = all(check.wants_more for check in failed)
        return Verdict.TOO_LITTLE if little else Verdict.TOO_MUCH


@frozen
class Range:
    """The levels that can be played. `guess` is about where service ends, None where nothing says.

    `step` is the ratio by which a search goes outward: a live server is never asked for more than so many times
    what it held. `why_lowest` and `why_highest` say why there is no level beyond, as a part of a sentence.
    """

    start: float
    lowest: float
    highest: float
    axis: Axis = Axis.RATE
    guess: float | None = None
    step: float = 2.0
    why_lowest: str = "nothing lower can be played"
    why_highest: str = "nothing higher can be played"

    def rounded(self, level: float) -> float:
        """The nearest level that can be printed, inside the range."""
        return min(max(self._near(level), self._near(self.lowest)), self._near(self.highest))

    def _near(self, level: float) -> float:
        return round(level) if self.axis is Axis.CONCURRENCY else float(f"{level:.{_DIGITS}g}")


class Subject(Protocol):
    """A server with a load whose level can be chosen: a factor on a rate, a number in flight."""

    @property
    def range(self) -> Range:
        """The levels that can be played."""
        ...

    def repeats(self, level: float) -> bool:
        """Whether another attempt at that level may come out otherwise."""
        ...

    def play(self, level: float, attempt: int) -> Observation:
        """The load of that level, played; attempts from 0 on draw it anew.

        Raises:
            VramError: it cannot be played.
        """
        ...
