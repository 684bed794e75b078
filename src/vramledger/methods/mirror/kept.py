"""What is kept of the comparisons, in bounded memory."""

import random
from collections import Counter
from typing import Final, Generic, TypeVar

from vramledger.frozen import frozen
from vramledger.methods.mirror.row import Row
from vramledger.methods.shadow.pair import Pair

MOST: Final = 20_000  # of a sample
T = TypeVar("T")


@frozen
class Again:
    """A's answer against its own to the same request, by words and by tokens where both list them."""

    words: Pair
    tokens: Pair | None


@frozen
class Ended:
    """A request that A answered: its number in order of time, and whether B failed it."""

    number: int
    failed: bool


class Sample(Generic[T]):
    """Of all that came, at most `MOST`, each as likely as any other (reservoir: Vitter, 1985, algorithm R), drawn by the seed."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)  # noqa: S311 - a draw, no secret
        self.held: list[T] = []
        self.seen = 0

    def add(self, one: T) -> None:
        """One more came."""
        self.seen += 1
        if len(self.held) < MOST:
            self.held.append(one)
            return
        place = self._random.randrange(self.seen)
        if place < MOST:
            self.held[place] = one


class Kept:
    """Counts of everything, and samples."""

    def __init__(self, seed: int) -> None:
        self._rows: Sample[Row] = Sample(f"rows {seed}")
        self._ended: Sample[Ended] = Sample(f"ended {seed}")
        self._again: Sample[Again] = Sample(f"again {seed}")
        self.compared = 0
        self.greedy = 0
        self.errors_a: Counter[str] = Counter()
        self.errors_b: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.greedy_failed = 0  # answered by one side alone
        self.greedy_put = 0
        self.skipped: Counter[str] = Counter()
        self.again_failed = 0
        self.put = 0
        self.aborted = 0
        self.unreadable: Counter[str] = Counter()
        self.unfinished = 0

    @property
    def rows(self) -> list[Row]:
        """Of those that both answered, in order of time."""
        return sorted(self._rows.held, key=lambda each: each.words.prompt)

    @property
    def ended(self) -> list[Ended]:
        """Of those that A answered, in order of time."""
        return sorted(self._ended.held, key=lambda each: each.number)

    @property
    def again(self) -> list[Again]:
        """Of those that A answered twice, in order of time."""
        return sorted(self._again.held, key=lambda each: each.words.prompt)

    def outcome(self, a: str | None, b: str | None) -> None:
        """One more that was put to both, by the class of each one's failure."""
        for failures, failure in ((self.errors_a, a), (self.errors_b, b)):
            if failure is not None:
                failures[failure] += 1
        self.outcomes["_".join("ok" if each is None else "failed" for each in (a, b))] += 1

    def row(self, row: Row) -> None:
        """One more that both answered."""
        self.compared += 1
        self.greedy += row.greedy
        self._rows.add(row)

    def answered(self, number: int, *, failed_by_b: bool) -> None:
        """One more that A answered."""
        self._ended.add(Ended(number, failed_by_b))

    def repeated(self, again: Again) -> None:
        """One more that A answered twice."""
        self._again.add(again)
