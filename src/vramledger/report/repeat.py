"""Repetitions for a terminal."""

from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import Final

from vramledger.methods.measured.contract import Standing
from vramledger.methods.repeated.between import CONFIDENCE
from vramledger.methods.repeated.figures import FigureOfRuns
from vramledger.methods.repeated.lines import LineOfRuns
from vramledger.methods.repeated.pairs import Difference
from vramledger.methods.repeated.result import Compared, Repeated, SideOf
from vramledger.methods.repeated.series import Attempt, Series
from vramledger.report.simulation_contract import asked_text
from vramledger.report.table import table

_TITLES: Final = {
    "ttft_s": "TTFT",
    "first_answer_s": "first answer",
    "tpot_s": "TPOT",
    "e2e_s": "E2E",
    "itl_s": "ITL, gaps",
    "ok_share": "ended as asked",
    "requests_per_s": "requests/s, ok",
    "output_tokens_per_s": "output tokens/s",
}
_SAID: Final = {Standing.HOLDS: "PASS", Standing.FAILS: "FAIL", Standing.OPEN: "INCONCLUSIVE"}
FIGURES_HEAD: Final = (
    "",
    "pooled",
    "mean of runs",
    "low",
    "high",
    "least",
    "most",
    "within",
    "between",
)
PAIRS_HEAD: Final = ("B less A", "A", "difference", "low", "high", "")
_RIGHT: Final = frozenset(range(1, 9))


def repeat_text(folder: Path, series: Series, found: Repeated, others: Sequence[Attempt]) -> str:
    """The verdict first, then each server's figures, then the two beside each other."""
    done = sum(len(side.runs) for side in found.sides)
    lines = [f"{done} of {len(series.turns)} runs in {folder}"]
    lines += [f"left out    {each.folder.name}: {each.ended or 'not closed'}" for each in others]
    lines += [f"INCONCLUSIVE: {why}" for why in found.inconclusive]
    for side in found.sides:
        lines += ["", *_side(side)]
    if found.compared is not None:
        lines += ["", *_compared(found.compared)]
    if done < len(series.turns):
        lines += ["", f"The rest is still to be made: vram trial resume {folder}"]
    return "\n".join(lines)


def _side(found: SideOf) -> Iterator[str]:
    about = found.runs[0]
    name = "" if found.side is None else f"{found.side.upper()}: "
    yield (
        f"{name}{about.summary.trial['server']}, {about.about.origin.value}, {len(found.runs)} runs, "
        f"{sum(each.summary.offered for each in found.runs):,} requests"
    )
    yield from _contract(found)
    yield (
        f"low to high holds the mean of the runs at {CONFIDENCE:.0%}; within is the error of one run by itself, between what "
        "runs differ by beyond it"
    )
    yield from table(FIGURES_HEAD, figure_rows(found), _RIGHT)


def figure_rows(found: SideOf) -> list[tuple[str, ...]]:
    """A row for each figure that is known."""
    return [_row(each) for each in found.figures if _is_shown(found, each)]


def _contract(found: SideOf) -> Iterator[str]:
    if found.standing is None:
        return
    yield f"contract    {_SAID[found.standing]}, by the interval of {len(found.runs)} runs{_more(found)}"
    yield from (f"{_label(each):<12} {_line(each)}" for each in found.lines)


def _more(found: SideOf) -> str:
    if found.standing is not Standing.OPEN or not found.more:
        return ""
    return f"; {found.more:,} more would decide it if figures stay as they are (assumed)"


def _label(found: LineOfRuns) -> str:
    return "not checked" if found.line.amount is None else _SAID[found.standing]


def _line(found: LineOfRuns) -> str:
    said = asked_text(found.line)
    if found.runs is None:
        return f"{said}: {found.line.found}" + (f"; {found.why}" if found.why else "")
    runs = found.runs
    text = f"{said}: {_number(runs.mean)} ({_number(runs.low)} to {_number(runs.high)})"
    if found.why:
        return f"{text}; {found.why}"
    return f"{text}; {found.more:,} more runs would decide it" if found.more else text


def _is_shown(side: SideOf, found: FigureOfRuns) -> bool:
    """The first answer only where it is not the first token."""
    if found.pooled is None:
        return False
    if found.name != "first_answer_s":
        return True
    return any(
        each.name == "ttft_s" and each.statistic == found.statistic and each.pooled != found.pooled
        for each in side.figures
    )


def _row(found: FigureOfRuns) -> tuple[str, ...]:
    runs = found.runs
    cells: tuple[float | None, ...] = (
        (None,) * 7
        if runs is None
        else (
            runs.mean,
            runs.low,
            runs.high,
            min(runs.values),
            max(runs.values),
            runs.within,
            runs.between,
        )
    )
    return (figure_name(found), _number(found.pooled), *map(_number, cells))


def _compared(found: Compared) -> Iterator[str]:
    said = found.attribution
    yield f"{found.pairs} pairs; what differs between the servers: {'; '.join(said.differences) or 'nothing that both tell'}"
    if said.untold:
        yield f"told by one alone: {', '.join(said.untold)}"
    if not found.differences:
        yield "No difference is told of fewer than two pairs."
        return
    yield from table(PAIRS_HEAD, [difference_row(each) for each in found.differences], _RIGHT - {5})


def difference_row(found: Difference) -> tuple[str, ...]:
    """B less A, with its interval."""
    pairs = found.pairs
    words = "differs" if found.told else _undecided(found.more)
    return (
        figure_name(found),
        *map(_number, (found.base, pairs.mean, pairs.low, pairs.high)),
        words,
    )


def _undecided(more: int | None) -> str:
    return "no difference told" + (f"; {more:,} more pairs would tell it" if more else "")


def figure_name(found: FigureOfRuns | Difference) -> str:
    """``TTFT p95``."""
    return " ".join(part for part in (_TITLES[found.name], found.statistic) if part)


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isfinite(value) else ("inf" if value > 0 else "-inf")
