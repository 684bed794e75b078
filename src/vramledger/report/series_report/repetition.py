"""The report of repetitions: figures of all runs together, what runs differ by, and the contract held against that."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from vramledger.methods.measured.contract import Standing
from vramledger.methods.repeated.between import CONFIDENCE
from vramledger.methods.repeated.lines import LineOfRuns
from vramledger.methods.repeated.one_run import read_one
from vramledger.methods.repeated.result import Compared, Repeated, SideOf, repeated
from vramledger.methods.repeated.series import Attempt, Series, counted, left_out, read_series
from vramledger.report.html.titled_table import Table
from vramledger.report.repeat import FIGURES_HEAD, PAIRS_HEAD, difference_row, figure_rows
from vramledger.report.repeat_json import repeat_json
from vramledger.report.run_report.model import RuledLine, Ruling, Verdict
from vramledger.report.run_report.ruling import NOTHING_PROMISED, STANDINGS
from vramledger.report.series_report.members import (
    deployment_table,
    member_table,
    members_of,
    tables,
)
from vramledger.report.series_report.model import Kind, SeriesReport
from vramledger.report.series_report.run_by_run import run_by_run
from vramledger.report.simulation_contract import asked_text, found_text

_RIGHT: Final = frozenset(range(1, 9))
_HELD: Final = (
    f"low to high holds the mean of the runs at {CONFIDENCE:.0%}; within is the error of one run by itself, between is what runs differ "
    "by beyond it. Pooled figures are over the requests of all runs. Latencies are in seconds, ended as asked is a share of 1."
)


def repetition_report(folder: Path, key: str) -> SeriesReport:
    """From nothing but the records of its runs.

    Raises:
        BadInput: no series, or a run in it is damaged.
    """
    series = read_series(folder)
    runs, others = counted(folder, series), left_out(folder, series)
    found = repeated([read_one(each.turn, each.folder) for each in runs])
    members = members_of(folder)
    missing = len(series.turns) - len(runs)
    seeds = {one.folder.name: str(one.turn.seed) for side in found.sides for one in side.runs}
    return SeriesReport(
        key=key,
        name=folder.resolve().name,
        kind=Kind.REPETITION,
        rulings=tuple(_rulings(found, missing)),
        says=tuple(_says(series, found)),
        charts=tuple(chart for side in found.sides[:1] for chart in run_by_run(key, found.sides, side)),
        tables=tables(
            *map(_figures, found.sides),
            *(() if found.compared is None else (_compared(found.compared),)),
            member_table(members, "seed", seeds, folder),
            deployment_table(members),
        ),
        document=repeat_json(folder, series, found, others),
        origins=members.origins,
        words=members.words,
        scenarios=frozenset(run.description.scenario for run in members.runs),
        open_points=(*_open(found, others, missing, folder), *members.refused, *members.unsound),
    )  # fmt: skip


def _says(series: Series, found: Repeated) -> Iterator[str]:
    done = sum(len(side.runs) for side in found.sides)
    requests = sum(one.summary.offered for side in found.sides for one in side.runs)
    yield f"{done} of {len(series.turns)} runs, {requests:,} requests."


def _rulings(found: Repeated, missing: int) -> Iterator[Ruling]:
    """One a server; nothing is decided while runs are missing, or cannot be believed."""
    if not found.sides:
        yield Ruling(Verdict.INCONCLUSIVE, (), "No run of it was closed.")
    for side in found.sides:
        why = _first(side.inconclusive)
        if missing and not why:
            why = f"{missing} runs are still to be made."
        name = None if side.side is None else f"server {side.side.upper()}"
        if side.standing is None:
            yield Ruling(Verdict.INCONCLUSIVE, (), why or NOTHING_PROMISED, name)
            continue
        verdict = Verdict.INCONCLUSIVE if why else STANDINGS[side.standing]
        yield Ruling(verdict, tuple(map(_line, side.lines)), why, name)


def _first(reasons: Sequence[str]) -> str:
    """The first of several, which all stand among the open points."""
    more = len(reasons) - 1
    if not reasons:
        return ""
    return reasons[0] + (
        f" {more} more reasons are among the open points."
        if more > 1
        else " One more reason is among the open points."
        if more
        else ""
    )


def _line(found: LineOfRuns) -> RuledLine:
    amount, runs = found.line.amount, found.runs
    unit = _unit("" if amount is None else amount.name)
    is_open = found.standing is Standing.OPEN
    settles = f"{found.more:,} more runs, if figures stay as they are (assumed)" if is_open and found.more else ""  # fmt: skip
    return RuledLine(
        asked_text(found.line),
        STANDINGS[found.standing],
        found_text(found.line),
        unit=unit,
        value=None if amount is None else amount.value,
        low=None if runs is None else max(runs.low, 0.0),  # no latency or share lies below
        high=None if runs is None else runs.high,
        threshold=None if amount is None else amount.threshold,
        reason=found.why,
        settles=settles,
    )


def _unit(name: str) -> str:
    return "s" if name.endswith("_s") else "0..1" if name == "success" else ""


def _figures(side: SideOf) -> Table:
    of = "" if side.side is None else f" of server {side.side.upper()}"
    title = f"Figures{of}, {len(side.runs)} runs together and run by run"
    return Table(title, FIGURES_HEAD, tuple(figure_rows(side)), _RIGHT, (_HELD,))


def _compared(found: Compared) -> Table:
    said = found.attribution
    notes = [f"What differs between the servers: {'; '.join(said.differences) or 'nothing that both tell'}."]  # fmt: skip
    if said.untold:
        notes.append(f"Told by one alone: {', '.join(said.untold)}.")
    if said.refused:
        notes.append(said.refused)
    if not found.differences:
        notes.append("No difference is told of fewer than two pairs.")
    rows = tuple(map(difference_row, found.differences))
    return Table(f"B less A, in {found.pairs} pairs", PAIRS_HEAD, rows, _RIGHT - {5}, tuple(notes))


def _open(found: Repeated, others: Sequence[Attempt], missing: int, folder: Path) -> Iterator[str]:
    yield from found.inconclusive
    for each in others:
        yield f"{each.folder.name} is left out: it is {each.ended or 'not closed'}."
    if missing:
        yield f"{missing} runs are still to be made: vram trial resume {folder.name}."
