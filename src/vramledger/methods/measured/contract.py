"""A contract held against a trial: the figures of one run, beside the thresholds of its plan.

They are held against everything that was offered, from when it was due, with failures as infinite, by the rules of the
simulator (`simulate.judged`). One run gives figures without intervals: a line that barely holds may fail the next time.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen
from vramledger.plan.contract_json import contract_from_json
from vramledger.plan.requirement import Contract
from vramledger.record.latency import BY_NAME, gaps_us, with_failures
from vramledger.record.outcome import Outcome
from vramledger.trial.conduct.latencies import NAMES, Measured, measured

if TYPE_CHECKING:
    import numpy as np

    from vramledger.record.run import Run
    from vramledger.simulate.judged import Line, Served
    from vramledger.simulate.output_gaps import Gaps
    from vramledger.trial.conduct.summary import Summary

    Floats = np.ndarray[Any, np.dtype[np.float64]]

_MICRO: Final = 1e6


class Standing(StrEnum):
    """What one run says of a line, or of a contract."""

    HOLDS = "holds"
    FAILS = "fails"
    OPEN = "not decided"


def whole(standings: Iterable[Standing], *, inconclusive: bool = False) -> Standing | None:
    """Of several, one: what fails decides, then what is open; None of none. Inconclusive figures decide nothing."""
    found = set(standings)
    if found and inconclusive:
        return Standing.OPEN
    worst_first = (Standing.FAILS, Standing.OPEN, Standing.HOLDS)
    return next((each for each in worst_first if each in found), None)


@frozen
class Promise:
    """One line of the contract with what was found, and why it is not decided where it is not."""

    line: "Line"
    standing: Standing
    why: str = ""

    @property
    def is_unchecked(self) -> bool:
        """Whether the record tells nothing about it."""
        return self.line.holds is None and self.line.amount is None


@frozen
class Promised:
    """The contract of a plan's scenario, line by line; empty where a run was made without a plan, or the plan promises nothing.

    `inconclusive` is whether the run's figures decide nothing, however its lines look.
    """

    scenario: str | None
    lines: tuple[Promise, ...] = ()
    inconclusive: bool = False

    @property
    def standing(self) -> Standing | None:
        """Of the whole: it fails with one line, and holds where every line does. None without a line."""
        return whole((line.standing for line in self.lines), inconclusive=self.inconclusive)


def promised(found: "Summary") -> Promised:
    """The contract that a trial was run for, held against it.

    Raises:
        BadInput: what run.json holds is no contract, or a table is damaged.
    """
    stated = found.trial.get("contract")
    scenario = found.description.scenario
    if stated is None:
        return Promised(scenario)
    reasons = {each.line: each.why for each in found.unjudgeable}
    lines = held_against(
        contract_from_json(stated), served_of(measured(found.run), counted_gaps(found.run))
    )
    return Promised(
        scenario, tuple(_promise(line, reasons) for line in lines), bool(found.inconclusive)
    )


def held_against(contract: Contract, found: "Served") -> "tuple[Line, ...]":
    """The lines of a contract, held against requests that were measured: that of the queue is not checked."""
    from vramledger.simulate.judged import Line, judged

    told = replace(contract, queue_must_drain=None)
    drains = (Line("the queue drains", "not checked", None),) if contract.queue_must_drain else ()
    return (*judged(told, found), *drains)


def served_of(found: Measured, gaps: "Gaps | None" = None) -> "Served":
    """The measured requests as a contract is held against them, in the order in which they are given.

    A request is as long as it was asked to be; where nobody asked, as long as the server counted it.
    """
    import numpy as np

    from vramledger.simulate.judged import Served
    from vramledger.simulate.output_gaps import Gaps

    columns = found.columns
    stayed = columns["done_s"] - columns["due_s"]
    first, last = (
        np.min(columns["due_s"], initial=np.inf),
        np.nanmax(columns["done_s"], initial=-np.inf),
    )
    return Served(
        input_tokens=_length(columns, "input_tokens"),
        output_tokens=_length(columns, "output_tokens"),
        ok=found.outcome == Outcome.OK.value,
        cancelled=found.outcome == Outcome.CANCELLED.value,
        stayed=stayed,
        latency={name: with_failures(BY_NAME[name].of(columns), found.outcome) for name in NAMES},
        gaps=Gaps(np.zeros(0), np.zeros(0)) if gaps is None else gaps,
        span_s=max(float(last - first), 0.0),
        queue_drains=False,  # that line is not asked
        at=_at,
    )


def _length(columns: "Mapping[str, Floats]", name: str) -> "Floats":
    import numpy as np

    asked = columns[f"{name}_asked"]
    return np.where(np.isnan(asked), columns[f"{name}_got"], asked)


def _at(values: "Floats", share: float) -> float | None:
    """The percentile of the summary's tables: the least value that the share does not exceed."""
    import numpy as np

    told = values[~np.isnan(values)]
    return float(np.quantile(told, share, method="inverted_cdf")) if len(told) else None


def all_gaps(run: "Run") -> "Gaps":
    """Every gap between two chunks of the measured requests that ended as asked, in the order of the table."""
    import numpy as np

    from vramledger.simulate.output_gaps import Gaps

    seconds = np.concatenate([np.zeros(0), *(each / _MICRO for each in _gaps_us(run))])
    return Gaps(seconds, np.ones(len(seconds)))


def counted_gaps(run: "Run") -> "Gaps":
    """The same by length, each with how many are so long: of an hour of records in the memory of a few."""
    import numpy as np

    from vramledger.record.gap_counts import GapCounter
    from vramledger.simulate.output_gaps import Gaps

    counter = GapCounter()
    for each in _gaps_us(run):
        counter.add(each)
    found = counter.found()
    return Gaps(found.seconds, found.counts.astype(np.float64))


def _gaps_us(run: "Run") -> "Iterator[np.ndarray[Any, np.dtype[np.int64]]]":
    import pyarrow.compute as pc

    from vramledger.record.gap_counts import ROWS

    for batch in run.requests.batches(("row", "outcome", "chunk_offset_us"), ROWS):
        ok = pc.equal(batch.column("outcome"), Outcome.OK.value)
        kept = batch.filter(pc.and_(pc.is_valid(batch.column("row")), ok))
        yield gaps_us(kept.column("chunk_offset_us"))


def _promise(line: "Line", reasons: dict[str, str]) -> Promise:
    why = reasons.get(line.asked.split(" ", 1)[0], "")
    if line.few is not None:
        why = f"{line.few.counted:,} values, and such a percentile needs {line.few.needed:,}"
    if why or line.holds is None:
        return Promise(line, Standing.OPEN, why or "it is not among what a trial is held against")
    return Promise(line, Standing.HOLDS if line.holds else Standing.FAILS)
