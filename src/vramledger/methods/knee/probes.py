"""Every play of a search, kept: no load is played twice."""

from collections.abc import Callable
from typing import Final, TypeAlias

from vramledger.frozen import frozen
from vramledger.methods.knee.sequential import verdict_of
from vramledger.methods.subject import Goal, Observation, Subject, Verdict

Progress: TypeAlias = Callable[[int, int], None]  # plays done, and about how many there will be
_ABOUT: Final = 40


@frozen
class Point:
    """A level and its plays, at least one, in the order of attempts."""

    level: float
    plays: tuple[Observation, ...]
    repeats: bool

    @property
    def first(self) -> Observation:
        """The play whose figures stand for the level."""
        return self.plays[0]

    def verdict(self, goal: Goal) -> Verdict | None:
        """What its plays say of a goal; None where they are too few."""
        return verdict_of([play.verdict(goal) for play in self.plays], repeats=self.repeats)

    def held(self, goal: Goal) -> int:
        """Plays in which the goal held."""
        return sum(play.verdict(goal) is Verdict.HOLDS for play in self.plays)

    def example(self, goal: Goal) -> Observation:
        """A play that shows the verdict on the goal; the first where none does."""
        shown = self.verdict(goal)
        return next((play for play in self.plays if play.verdict(goal) is shown), self.first)


class Probes:
    """Plays loads to a subject and keeps what was seen."""

    def __init__(self, subject: Subject, progress: Progress) -> None:
        self.range = subject.range
        self._subject = subject
        self._progress = progress
        self._plays: dict[float, list[Observation]] = {}

    @property
    def points(self) -> tuple[Point, ...]:
        """Every level that was played, rising."""
        return tuple(self.at(level) for level in sorted(self._plays))

    def at(self, level: float) -> Point:
        """A level that was played."""
        return Point(level, tuple(self._plays[level]), self._subject.repeats(level))

    def first(self, level: float) -> Observation:
        """The first play of a level."""
        return self._plays[level][0] if level in self._plays else self._play(level)

    def verdict(self, level: float, goal: Goal) -> Verdict:
        """The verdict on a level, played until it is clear or called uncertain."""
        self.first(level)
        while (found := self.at(level).verdict(goal)) is None:
            self._play(level)
        return found

    def _play(self, level: float) -> Observation:
        seen = self._subject.play(level, len(self._plays.get(level, ())))
        self._plays.setdefault(level, []).append(seen)
        done = sum(map(len, self._plays.values()))
        self._progress(done, max(_ABOUT, done + 1))
        return seen
