"""What judging came to: every line of every scenario, and the whole."""

from collections.abc import Iterable
from enum import StrEnum
from math import inf
from typing import Final

from vramledger.errors import ExitCode
from vramledger.frozen import frozen


class Said(StrEnum):
    """The verdict of a line, or of the whole.

    `NOT_JUDGEABLE` is of a line that this form of buying can never show (a service's own GPUs); it decides nothing of the whole.
    """

    PASS = "PASS"  # noqa: S105 - a verdict, no password
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"
    NOT_JUDGEABLE = "NOT JUDGEABLE"


_WORST_FIRST: Final = (Said.FAIL, Said.INCONCLUSIVE, Said.PASS)
_CODES: Final = {
    Said.PASS: ExitCode.HOLDS,
    Said.FAIL: ExitCode.DOES_NOT_HOLD,
    Said.INCONCLUSIVE: ExitCode.CANNOT_KNOW,
}


@frozen
class Line:
    """One line of the contract.

    `value`, `low`, `high` and `threshold` are in `unit`; infinite where failures or the sample leave an end open, None where there is
    no figure. `records` say where the figure comes from, `settles` what would decide an open line.
    """

    name: str
    said: Said
    unit: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    threshold: float | None = None
    reason: str = ""
    records: tuple[str, ...] = ()
    counted: int | None = None
    independent: float | None = None
    settles: str = ""


@frozen
class Reached:
    """A figure of the load: what the plan asks for, and what the run came to; None where nobody said."""

    name: str
    unit: str
    asked: float | None
    reached: float | None
    enough: bool | None


@frozen
class Group:
    """Requests of one tenant or one class of length. Percentiles are of everything offered, failures infinite."""

    of: str  # "tenant", "input" or "output"
    name: str
    offered: int
    ok: int
    good: int
    figures: tuple[tuple[str, float | None], ...]  # "ttft_s p95" -> seconds


@frozen
class Work:
    """What was done in an hour. `good` requests met every limit; `lost_share` of the tokens went to requests that did not count.

    None where it cannot be told. `quality_proven` is whether they may be called valid.
    """

    offered_per_hour: float | None = None
    good_per_hour: float | None = None
    good_low: float | None = None
    good_high: float | None = None
    good_tokens_per_hour: float | None = None
    lost_share: float | None = None
    quality_proven: bool | None = None


@frozen
class ScenarioVerdict:
    """A scenario of the plan. `run` is the name of its folder, None where there is none; `origin` where its figures come from."""

    name: str
    kind: str
    run: str | None
    origin: str | None
    offered: int
    lines: tuple[Line, ...]
    reached: tuple[Reached, ...] = ()
    groups: tuple[Group, ...] = ()
    work: Work = Work()
    notes: tuple[str, ...] = ()

    @property
    def said(self) -> Said:
        """Of its lines."""
        return whole(line.said for line in self.lines)


@frozen
class Verdict:
    """The whole. `origin` is where all runs come from, `mixed` where they differ, None without a run."""

    plan: str
    form: str
    scenarios: tuple[ScenarioVerdict, ...]
    level: float
    notes: tuple[str, ...] = ()
    origin: str | None = None

    @property
    def lines(self) -> tuple[Line, ...]:
        """Every line of every scenario."""
        return tuple(line for each in self.scenarios for line in each.lines)

    @property
    def said(self) -> Said:
        """One line that fails decides, then one that is open; without a line to judge, nothing is decided."""
        return whole(each.said for each in self.scenarios)

    @property
    def exit_code(self) -> ExitCode:
        """0 PASS, 1 FAIL, 3 INCONCLUSIVE."""
        return _CODES[self.said]


def whole(said: Iterable[Said]) -> Said:
    """Of several, one."""
    found = set(said)
    return next((each for each in _WORST_FIRST if each in found), Said.INCONCLUSIVE)


def held(low: float, high: float, threshold: float, *, at_least: bool = False) -> Said:
    """PASS where the whole interval keeps the threshold, FAIL where all of it breaks it."""
    if at_least:
        low, high, threshold = -high, -low, -threshold
    if high <= threshold:
        return Said.PASS
    return Said.FAIL if low > threshold else Said.INCONCLUSIVE


def is_open(value: float | None) -> bool:
    """Whether an end of an interval is not bounded."""
    return value is None or abs(value) == inf
