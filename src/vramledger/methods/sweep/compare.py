"""Each change held against the base: differences, ratios, and what it broke or mended."""

from dataclasses import replace
from typing import Final

from vramledger.errors import ExitCode
from vramledger.frozen import frozen
from vramledger.methods.sweep.base import Base
from vramledger.methods.sweep.best import best_of
from vramledger.methods.sweep.found import Found
from vramledger.methods.sweep.prices import UNPRICED, Prices
from vramledger.methods.sweep.row import Row, Status, Verdict
from vramledger.methods.sweep.run import Results
from vramledger.methods.sweep.tensor_steps import TensorStep, tensor_steps
from vramledger.methods.sweep.trials import Trial, trials

COMPARED: Final = (
    "goodput_per_hour",
    "ok_per_hour",
    "goodput_per_gpu_hour",
    "ok_per_gpu_hour",
    "saturation_per_s",
    "saturation_per_gpu_s",
    "knee_per_s",
    "ttft_p95_s",
    "tpot_p95_s",
    "itl_p95_s",
    "e2e_p95_s",
    "queue_p95_s",
    "kv_usage_p99",
    "preemptions",
    "recomputed_share",
)


@frozen
class Effect:
    """A figure at the base and at a point; the ratio is None where the base has none or 0."""

    name: str
    before: float | None
    after: float | None

    @property
    def difference(self) -> float | None:
        if self.before is None or self.after is None:
            return None
        found = self.after - self.before
        return found if found == found else None  # noqa: PLR0124 - infinity less infinity

    @property
    def ratio(self) -> float | None:
        if self.difference is None or not self.before or not abs(self.before) < float("inf"):
            return None
        return None if self.after is None else self.after / self.before


@frozen
class Compared:
    """A row beside the base; no effects where one of the two was not simulated."""

    row: Row
    effects: tuple[Effect, ...]
    broke: tuple[str, ...]  # lines of the contract that hold at the base and not here
    mended: tuple[str, ...]

    def effect(self, name: str) -> Effect | None:
        """The effect on a figure."""
        return next((effect for effect in self.effects if effect.name == name), None)


@frozen
class Swept:
    """A sweep played: the base's row, and every point beside it."""

    base: Base
    results: Results
    start: Row | None  # the base's row; None where it was interrupted before
    points: tuple[Compared, ...]
    tensor_steps: tuple[TensorStep, ...] = ()
    found: Found | None = None  # of a search
    trials: tuple[Trial, ...] = ()
    prices: Prices = UNPRICED

    @property
    def best(self) -> Row | None:
        """The best row of a search, or of a list that keeps the contract for certain."""
        if self.found is not None:
            return self.found.best
        return best_of(self.rows, self.start, self.prices)

    @property
    def rows(self) -> tuple[Row, ...]:
        return self.results.rows

    @property
    def exit_code(self) -> ExitCode:
        """Whether some point serves the load: keeps the contract at the slow end too, or starts where there is none."""
        rows = self.rows
        if any(row.keeps or (row.simulated and row.verdict is None) for row in rows):
            return ExitCode.HOLDS
        unknown = any(row.verdict in (Verdict.PASS, Verdict.INCONCLUSIVE) for row in rows)
        return (
            ExitCode.CANNOT_KNOW
            if unknown or all(row.status is Status.UNKNOWN for row in rows)
            else ExitCode.DOES_NOT_HOLD
        )


def compared(base: Base, results: Results, prices: Prices = UNPRICED) -> Swept:
    """The results beside the base's own row."""
    start = next((row for row in results.rows if not row.point.changes), None)
    points = tuple(_beside(row, start) for row in results.rows if row.point.changes)
    steps = tensor_steps(base, results.rows)
    return Swept(base, results, start, points, steps, prices=prices)


def searched(base: Base, found: Found) -> Swept:
    """A search's points beside the base, with the trials that would confirm it."""
    swept = compared(base, found.results, found.prices)
    return replace(
        swept,
        tensor_steps=tensor_steps(base, found.layouts),
        found=found,
        trials=trials(base, found),
    )


def _beside(row: Row, start: Row | None) -> Compared:
    if start is None or not start.simulated or not row.simulated:
        return Compared(row, (), (), ())
    effects = tuple(Effect(name, _of(start, name), _of(row, name)) for name in COMPARED)
    before, after = start.broken, row.broken
    return Compared(row, effects, tuple(sorted(after - before)), tuple(sorted(before - after)))


def _of(row: Row, name: str) -> float | None:
    """A figure of the simulation that is judged, or one of the point itself."""
    found: float | None = row.columns[name] if name in row.columns else row.figure(name)
    return found
