"""What a report says, before anything is written: the model that its three writers share."""

from enum import StrEnum
from math import inf
from typing import TYPE_CHECKING, Final

from vramledger.frozen import frozen
from vramledger.record.document import Origin

if TYPE_CHECKING:
    from vramledger.accept.verdict import ScenarioVerdict
    from vramledger.record.document import Description
    from vramledger.report.series_report.model import SeriesReport
    from vramledger.trial.conduct.summary import Summary
    from vramledger.trial.conduct.timeline import Timeline

UNSTATED: Final = ""


class Verdict(StrEnum):
    """What a line, a run or the whole comes to."""

    PASS = "PASS"  # noqa: S105 - a verdict
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"
    NOT_JUDGEABLE = (
        "NOT JUDGEABLE"  # of a line that this form of buying can never show; it decides nothing
    )


def whole(found: "list[Verdict]") -> Verdict:
    """Of several, one: what fails decides, then what is open; nothing at all is open."""
    worst_first = (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.PASS)
    return next((each for each in worst_first if each in found), Verdict.INCONCLUSIVE)


def words_of(about: "Description") -> tuple[str, ...]:
    """What a run is where no server was measured here; of what was imported, what its file says of itself too."""
    told = (about.model_extra or {}).get("imported")
    claimed = told.get("claimed_origin") if isinstance(told, dict) else None
    found = [] if about.origin is Origin.MEASURED else [about.origin.value]
    found += [claimed] if claimed in (Origin.REHEARSED, Origin.SIMULATED) else []
    return tuple(dict.fromkeys(found))


@frozen
class RuledLine:
    """One line of a contract: what was asked, what was found, and why it is not decided where it is not.

    `value`, `low`, `high` and `threshold` are the same as numbers (seconds, shares of 0..1 or requests an hour), None where
    there is none; `found` is the value in words. `value` is infinite where it falls among failures. `settles` is what would decide
    an open line, `records` where the figure comes from.
    """

    name: str
    verdict: Verdict
    found: str
    unit: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    threshold: float | None = None
    reason: str = ""
    settles: str = ""
    records: tuple[str, ...] = ()


@frozen
class Ruling:
    """A contract held against a run. `lines` is empty where nothing was promised, and `why` says so.

    `judged` is what `accept` says beside the lines: load, work and groups; None where no plan was at hand.
    """

    verdict: Verdict
    lines: tuple[RuledLine, ...] = ()
    why: str = ""
    scenario: str | None = None
    judged: "ScenarioVerdict | None" = None


@frozen
class Missing:
    """A scenario of the plan without a run: nothing of it is decided."""

    scenario: str
    ruling: Ruling


@frozen
class Beside:
    """One figure of the memory ledger: predicted (low, expected, high), and measured where the run tells it."""

    name: str
    unit: str
    low: float
    expected: float
    high: float
    basis: str
    measured: float | None = None
    said: str = ""

    @property
    def inside(self) -> bool | None:
        """Whether what was measured lies in the band; None where nothing was."""
        return None if self.measured is None else self.low <= self.measured <= self.high


@frozen
class LedgerBeside:
    """The ledger of the run's deployment beside what was measured; `why` where there is none."""

    rows: tuple[Beside, ...] = ()
    of: str = ""
    why: str = ""


@frozen
class Percentiles:
    """A latency of everything that was offered: seconds, infinite where a percentile falls among failures."""

    name: str
    p50: float
    p95: float
    p99: float
    max: float
    count: int

    @property
    def is_infinite(self) -> bool:
        """Whether even the median failed."""
        return self.p50 == inf


@frozen
class RunReport:
    """One run. `summary` is None where it is no trial, `timeline` where nothing can be drawn."""

    key: str  # in ids: letters and digits
    name: str
    description: "Description"
    about: tuple[tuple[str, str], ...]
    ruling: Ruling
    counts: tuple[tuple[str, int], ...]
    percentiles: tuple[Percentiles, ...]
    ledger: LedgerBeside
    open_points: tuple[str, ...]
    summary: "Summary | None" = None
    timeline: "Timeline | None" = None

    @property
    def origin(self) -> Origin:
        """Where its figures come from."""
        return self.description.origin

    @property
    def words(self) -> tuple[str, ...]:
        """What it is where no server was measured here; of what was imported, what its file says of itself too."""
        return words_of(self.description)

    @property
    def mark(self) -> str:
        """What each of its titles carries where no server was measured here."""
        return f" ({', '.join(self.words)})" if self.words else ""


@frozen
class SealCheck:
    """One thing that was looked at when a bundle was verified."""

    name: str
    standing: str
    said: str


@frozen
class Seal:
    """The bundle that the runs were in. `unchanged` is None where that could not be told."""

    sha256: str | None
    unchanged: bool | None
    checks: tuple[SealCheck, ...]
    people: tuple[tuple[str, str], ...] = ()
    signed_by: str | None = None
    said: str = ""


@frozen
class Terms:
    """What the parties agreed on, as far as it was stated; an empty text leaves a line to fill in by hand."""

    buyer: str = UNSTATED
    supplier: str = UNSTATED
    order: str = UNSTATED
    on_pass: str = UNSTATED
    on_fail: str = UNSTATED
    on_inconclusive: str = UNSTATED


@frozen
class Report:
    """The whole. `terms` is None where it is no acceptance, `seal` where the runs were in no bundle."""

    title: str
    runs: tuple[RunReport, ...]
    open_points: tuple[str, ...]
    seal: Seal | None = None
    terms: Terms | None = None
    missing: tuple[Missing, ...] = ()
    series: "tuple[SeriesReport, ...]" = ()

    @property
    def is_acceptance(self) -> bool:
        """Whether two parties sign it."""
        return self.terms is not None

    @property
    def verdict(self) -> Verdict:
        """Of all runs. What was changed since it was sealed decides nothing."""
        if self.seal is not None and self.seal.unchanged is not True:
            return Verdict.INCONCLUSIVE
        return whole([each.verdict for each in self.rulings])

    @property
    def rulings(self) -> tuple[Ruling, ...]:
        """Of the runs, of the series, then of the scenarios without one."""
        runs = tuple(each.ruling for each in self.runs)
        series = (ruling for each in self.series for ruling in each.rulings)
        return (*runs, *series, *(each.ruling for each in self.missing))

    @property
    def origins(self) -> tuple[Origin, ...]:
        """Of its runs, each once."""
        series = {origin for each in self.series for origin in each.origins}
        return tuple(sorted({run.origin for run in self.runs} | series))

    @property
    def mark(self) -> str:
        """What titles about all runs carry."""
        runs = {word for run in self.runs for word in run.words}
        said = sorted(runs | {word for each in self.series for word in each.words})
        return f" ({', '.join(said)})" if said else ""
