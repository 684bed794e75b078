"""What a search found: the best of each card, number of GPUs and kind of cache, and what is as good."""

from collections.abc import Iterable
from math import inf

from vramledger.frozen import frozen
from vramledger.methods.sweep.candidates import Bounds, Home, family, has_small_cache
from vramledger.methods.sweep.objective import Objective, better, ranked
from vramledger.methods.sweep.point import Change, Point
from vramledger.methods.sweep.prices import Prices
from vramledger.methods.sweep.row import Row, Status, Verdict
from vramledger.methods.sweep.run import Results
from vramledger.methods.sweep.settings import BUDGET, DATA, SEQUENCES, TENSOR

_LAYOUT = frozenset({TENSOR, DATA})


@frozen
class Winner:
    """The best of a card, a number of GPUs and a kind of cache; `ties` are as good on the part that was screened.

    `owes`: it holds the cache in fewer bits than the base, which changes answers.
    """

    row: Row
    ties: tuple[Row, ...]
    owes: bool
    cost: float | None  # an hour


@frozen
class Found:
    """What a search found. `ranking` has what was simulated on all requests, best first."""

    ranking: tuple[Row, ...]
    winners: tuple[Winner, ...]  # by card, GPUs, kind of cache
    screened: tuple[Row, ...]  # on `share` of the requests
    share: float
    results: Results
    objective: Objective
    bounds: Bounds
    prices: Prices
    rounds: int
    owing: frozenset[Point] = frozenset()

    @property
    def best(self) -> Row | None:
        """The best of those that hold the cache as the base does; of all where none else is simulated."""
        rows = [row for row in self.ranking if row.simulated]
        return next((row for row in rows if row.point not in self.owing), next(iter(rows), None))

    @property
    def best_owing(self) -> Row | None:
        """The best of those with a smaller cache, where that is more than equal to the best without."""
        best = self.best
        owing = next(
            (row for row in self.ranking if row.simulated and row.point in self.owing), None
        )
        if owing is None or best is None or owing is best:
            return None
        return owing if better(owing, best, self.objective, self.prices) else None

    @property
    def hopeless(self) -> tuple[Row, ...]:
        """Of each card and number of GPUs without a winner, the one that serves most by theory, or one that is refused."""
        won = {_place(winner.row) for winner in self.winners}
        left = [row for row in self.screened if not row.simulated and _place(row) not in won]
        left = [row for row in left if row.status is not Status.SAME]
        left.sort(key=lambda row: float(row.columns.get("saturation_per_s") or 0.0))
        by_place = {_place(row): row for row in left}
        return tuple(by_place[place] for place in sorted(by_place))

    @property
    def layouts(self) -> tuple[Row, ...]:
        """The best, and the rows that differ from it in the layout alone."""
        best = self.best
        if best is None:
            return ()
        refined = {SEQUENCES, BUDGET}.difference(self.bounds.values)
        wanted = _changes(best, _LAYOUT | refined)
        others = [row for row in self.screened if _changes(row, _LAYOUT) == wanted]
        return (best, *others)


def _changes(row: Row, left_out: frozenset[str]) -> set[Change]:
    return {change for change in row.point.changes if change.name not in left_out}


@frozen
class Hunt:
    """What a search knows of its question."""

    bounds: Bounds
    home: Home
    objective: Objective
    prices: Prices
    start: Row

    def ranked(self, rows: Iterable[Row]) -> list[Row]:
        """The simulated ones, best first."""
        live = (row for row in rows if row.simulated)
        return [row for one in ranked(live, self.objective, self.prices) for row in one]

    def owes(self, row: Row) -> bool:
        return has_small_cache(row) and not self.home.small_cache

    def families(self, rows: Iterable[Row], most: int) -> list[list[Row]]:
        """The best families of each kind of cache, the best row of each first."""
        found: dict[bool, dict[tuple[object, ...], list[Row]]] = {False: {}, True: {}}
        for row in self.ranked(rows):
            found[self.owes(row)].setdefault(family(row), []).append(row)
        return [members for kind in found.values() for members in list(kind.values())[:most]]

    def groups(self, rows: Iterable[Row]) -> dict[tuple[object, ...], list[Row]]:
        """Simulated rows by card, GPUs and kind of cache, the best first."""
        found: dict[tuple[object, ...], list[Row]] = {}
        for row in self.ranked(rows):
            key = (row.columns.get("gpu"), row.columns.get("gpus"), self.owes(row))
            found.setdefault(key, []).append(row)
        return found

    def has_enough(self, rows: Iterable[Row], gpus: int) -> bool:
        """Whether every card keeps the contract with half of so many GPUs, where few are looked for."""
        fewest: dict[object, float] = {}
        for row in rows:
            kept = row.verdict is Verdict.PASS
            most = float(row.columns.get("gpus") or inf) if kept else inf
            card = row.columns.get("gpu")
            fewest[card] = min(fewest.get(card, inf), most)
        return self.objective.fewest and bool(fewest) and 2 * max(fewest.values()) < gpus

    def nearest(self, rows: Iterable[Row]) -> list[Row]:
        """Of each card the one that serves most, among those that theory rules out."""
        out = [row for row in rows if row.status is Status.RULED_OUT]
        out.sort(key=lambda row: float(row.columns.get("saturation_per_s") or 0.0))
        return list({row.columns.get("gpu"): row for row in out}.values())

    def found(
        self, results: Results, screened: tuple[Row, ...], share: float, rounds: int
    ) -> Found:
        everything = (*results.rows, *screened)
        candidates = {row.point for row in screened}
        at_home = Point() in candidates or any(row.status is Status.SAME for row in screened)
        rows = [row for row in results.rows if row.point.changes or at_home]
        return Found(
            tuple(self.ranked(rows)),
            self._winners(rows, screened),
            screened,
            share,
            results,
            self.objective,
            self.bounds,
            self.prices,
            rounds,
            frozenset(row.point for row in everything if self.owes(row)),
        )

    def _winners(self, rows: list[Row], screened: tuple[Row, ...]) -> tuple[Winner, ...]:
        parts = self.groups(screened)
        found = []
        for key, members in self.groups(rows).items():
            best = members[0]
            ties = _ties_of(best, parts.get(key, []), self)
            found.append(Winner(best, ties, self.owes(best), self.prices.of(best)))
        return tuple(sorted(found, key=_by_card))


def _place(row: Row) -> tuple[str, int]:
    return str(row.columns.get("gpu")), int(row.columns.get("gpus") or 0)


def _by_card(winner: Winner) -> tuple[str, int, bool]:
    return (*_place(winner.row), winner.owes)


def _ties_of(best: Row, members: list[Row], hunt: Hunt) -> tuple[Row, ...]:
    """Those of a screened group that are equal to the one that won."""
    own = next((row for row in members if row.point == best.point), None)
    if own is None:
        return ()
    others = [row for row in members if row is not own]
    return tuple(
        row
        for row in others
        if not better(row, own, hunt.objective, hunt.prices)
        and not better(own, row, hunt.objective, hunt.prices)
    )
