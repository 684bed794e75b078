"""A plot of repetitions: the figures of every run beside each other, with the interval of their mean."""

from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from typing import Final

from vramledger.methods.repeated.figures import FigureOfRuns
from vramledger.methods.repeated.result import SideOf
from vramledger.report.html.axes import Axis, counted, numbers
from vramledger.report.html.strips import Chart, Curve, Kind, Strip
from vramledger.report.html.titled_table import Table
from vramledger.report.number import share
from vramledger.report.repeat import figure_name
from vramledger.units import format_seconds

_SHOWN: Final = (
    ("ttft_s", "p95"), ("itl_s", "p99"), ("tpot_s", "p95"), ("e2e_s", "p95"), ("requests_per_s", None),
    ("output_tokens_per_s", None), ("ok_share", None),
)  # fmt: skip
_ROLES: Final = ("input", "output")
_TINY: Final = 1e-6


def run_by_run(key: str, sides: Sequence[SideOf], first: SideOf) -> Iterator[Chart]:
    """One chart, with a strip a figure; none where no figure has a value of every run."""
    runs = max(len(side.runs) for side in sides)
    names = [each for each in _SHOWN if _of(first, each) is not None]
    if not names:
        return
    yield Chart(
        f"{key}-runs",
        "Run by run",
        "A dot is one run, in the order in which they were made; dashed is the mean of a server's runs, and the shaded area holds that mean at 95 %. "
        "Axes begin at 0; what lies on the upper edge falls among failures.",
        numbers(runs),
        "run",
        tuple(_strip(sides, each, runs) for each in names),
        _table(sides, names, runs),
    )


def _of(side: SideOf, name: tuple[str, str | None]) -> FigureOfRuns | None:
    return next((each for each in side.figures if (each.name, each.statistic) == name and each.runs is not None), None)  # fmt: skip


def _strip(sides: Sequence[SideOf], name: tuple[str, str | None], runs: int) -> Strip:
    found = [(side, told) for side in sides if (told := _of(side, name)) is not None]
    values = [value for _, told in found for value in _values(told)]
    curves = [curve for place, (side, told) in enumerate(found) for curve in _curves(side, told, _ROLES[place], runs)]  # fmt: skip
    most = max((value for value in values if isfinite(value)), default=1.0)  # all of them failed
    axis: Axis = counted(values, form(name[0]), max(most, _TINY))
    return Strip(figure_name(found[0][1]), axis, tuple(curves))


def _curves(side: SideOf, found: FigureOfRuns, role: str, runs: int) -> Iterator[Curve]:
    assert found.runs is not None  # noqa: S101 - `_of` chose it
    told = "each run" if side.side is None else f"server {side.side.upper()}"
    whole = [0.5, runs + 0.5]
    if isfinite(found.runs.low) and isfinite(found.runs.high):
        low = [max(found.runs.low, 0.0)]
        yield Curve(
            "95 % of the mean", role, Kind.BAND, whole, [found.runs.high], low, listed=False
        )
    if isfinite(found.runs.mean):
        yield Curve("mean", role, Kind.ACROSS, (), [found.runs.mean], listed=False)
    numbered = [float(number) for number in range(1, len(found.runs.values) + 1)]
    yield Curve(told, role, Kind.MARKS, numbered, list(found.runs.values))


def _values(found: FigureOfRuns) -> Sequence[float]:
    return () if found.runs is None else (*found.runs.values, found.runs.high)


def form(name: str) -> Callable[[float], str]:
    """How values of such a figure are written."""
    if name.endswith("_s") and not name.endswith("per_s"):
        return format_seconds
    return share if name.endswith("share") else (lambda value: f"{value:,.4g}")


def _table(sides: Sequence[SideOf], names: Sequence[tuple[str, str | None]], runs: int) -> Table:
    columns = [(told, _title(side, told)) for side in sides for name in names if (told := _of(side, name)) is not None]  # fmt: skip
    rows = tuple((str(place + 1), *(_cell(told, place) for told, _ in columns)) for place in range(runs))  # fmt: skip
    head = ("run", *(title for _, title in columns))
    return Table("Figures run by run", head, rows, frozenset(range(1, len(head))))


def _title(side: SideOf, found: FigureOfRuns) -> str:
    return figure_name(found) + ("" if side.side is None else f", {side.side.upper()}")


def _cell(found: FigureOfRuns, place: int) -> str:
    values = () if found.runs is None else found.runs.values
    if place >= len(values):
        return ""
    return form(found.name)(values[place]) if isfinite(values[place]) else "failed"
