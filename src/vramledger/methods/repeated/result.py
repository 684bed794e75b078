"""What repetitions come to, worked out from nothing but their directories."""

from collections.abc import Sequence

from vramledger.frozen import frozen
from vramledger.methods.measured.contract import Standing, whole
from vramledger.methods.repeated.between import FEWEST
from vramledger.methods.repeated.figures import FigureOfRuns, figures_of
from vramledger.methods.repeated.lines import LineOfRuns, contract_of, lines_of_runs
from vramledger.methods.repeated.one_run import OneRun, complaints
from vramledger.methods.repeated.pairs import (
    Attribution,
    Difference,
    attribution,
    differences_of,
    paired,
)
from vramledger.methods.repeated.turns import Side


@frozen
class SideOf:
    """The runs of one server. `inconclusive` are sentences on why they decide nothing."""

    side: Side | None
    runs: tuple[OneRun, ...]
    figures: tuple[FigureOfRuns, ...]
    lines: tuple[LineOfRuns, ...]
    inconclusive: tuple[str, ...]

    @property
    def standing(self) -> Standing | None:
        """Of the contract as a whole; None without one."""
        return whole((line.standing for line in self.lines), inconclusive=bool(self.inconclusive))

    @property
    def more(self) -> int | None:
        """How many more runs decide every open line; None where that is not known, 0 where all are decided."""
        needed = [line.more for line in self.lines if line.standing is Standing.OPEN]
        told = [each for each in needed if each is not None]
        return None if len(told) < len(needed) else max(told, default=0)


@frozen
class Compared:
    """Two servers: what differs between them, and by how much their runs do, pair by pair."""

    pairs: int
    attribution: Attribution
    differences: tuple[Difference, ...]


@frozen
class Repeated:
    """All of it; `sides` is empty where no run was closed."""

    sides: tuple[SideOf, ...]
    compared: Compared | None
    inconclusive: tuple[str, ...]


def repeated(runs: Sequence[OneRun]) -> Repeated:
    """The result of runs that were closed.

    Raises:
        BadInput: a run is damaged, or says something else than a trial would.
    """
    ours = {side: tuple(one for one in runs if one.turn.side is side) for side in (None, *Side)}
    sides = tuple(_side(side, found) for side, found in ours.items() if found)
    pairs = paired(runs)
    compared = None
    if pairs:
        compared = Compared(len(pairs), attribution(pairs), differences_of(pairs))
    reasons = [why for each in sides for why in each.inconclusive]
    if compared is not None and compared.attribution.refused:
        reasons.append(compared.attribution.refused)
    return Repeated(sides, compared, tuple(dict.fromkeys(reasons)))


def _side(side: Side | None, runs: tuple[OneRun, ...]) -> SideOf:
    contract = contract_of(runs)
    lines = () if contract is None else lines_of_runs(runs, contract)
    few = () if len(runs) >= FEWEST else ("One run has no interval; repeat it at least once.",)
    return SideOf(side, runs, figures_of(runs), lines, (*complaints(runs), *few))
