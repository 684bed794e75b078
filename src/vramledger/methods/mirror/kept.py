"""What is kept of the comparisons, in bounded memory."""

import random
from collections import Counter
from typing import Final

from vramledger.frozen import frozen
from vramledger.methods.mirror.row import Row
from vramledger.methods.shadow.pair import Pair

MOST: Final = 20_000  # rows


@frozen
class Again:
    """A's answer against its own to the same request, by words and by tokens where both list them."""

    words: Pair
    tokens: Pair | None


class Kept:
    """Counts of everything, and rows of a sample of at most `MOST` (reservoir: Vitter, 1985, algorithm R), drawn by the seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(f"rows {seed}")  # noqa: S311 - a draw, no secret
        self.rows: list[Row] = []
        self.again: list[Again] = []
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

    def row(self, row: Row) -> None:
        """One more that both answered."""
        self.compared += 1
        self.greedy += row.greedy
        if len(self.rows) < MOST:
            self.rows.append(row)
            return
        place = self._random.randrange(self.compared)
        if place < MOST:
            self.rows[place] = row

    def repeated(self, again: Again) -> None:
        """One more that A answered twice; the first `MOST` are kept."""
        if len(self.again) < MOST:
            self.again.append(again)
