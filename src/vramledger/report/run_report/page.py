"""The report as one self-contained page, without a script; what comes out of a file is escaped, and nothing is loaded."""

from collections.abc import Iterable, Iterator
from typing import Final

from vramledger.frozen import frozen
from vramledger.report.html.page import rendered_still
from vramledger.report.html.palette import LIGHT, role_class
from vramledger.report.html.strips import Chart, Shape, shapes
from vramledger.report.html.titled_table import Table
from vramledger.report.run_report.distributions import distributions
from vramledger.report.run_report.judged_tables import judged_tables, settles_table
from vramledger.report.run_report.model import Report, RunReport
from vramledger.report.run_report.over_time import over_time
from vramledger.report.run_report.tables import (
    consequence_table,
    contract_table,
    party_table,
    run_tables,
    seal_table,
    signature_table,
)
from vramledger.report.run_report.words import heading, verdict_reason, warning
from vramledger.report.series_report.model import SeriesReport

_PACKAGE: Final = "vramledger.report.run_report"


@frozen
class ShownChart:
    """A chart with the shapes of each of its strips."""

    chart: Chart
    strips: tuple[list[Shape], ...]


@frozen
class ShownContract:
    """A contract with what its titles carry, and the tables that stand beside its lines."""

    table: Table
    mark: str
    beside: tuple[Table, ...] = ()


@frozen
class ShownSeries:
    """A series' own part of the page; `kind` is a word."""

    key: str
    name: str
    kind: str
    mark: str
    says: tuple[str, ...]
    charts: tuple[ShownChart, ...]
    tables: tuple[Table, ...]


@frozen
class ShownRun:
    """A run's own part of the page."""

    key: str
    name: str
    mark: str
    charts: tuple[ShownChart, ...]
    tables: tuple[Table, ...]


def to_html(report: Report) -> str:
    """The page."""
    return rendered_still(
        _PACKAGE,
        roles=[role_class(role) for role in LIGHT["roles"]],
        title=heading(report),
        mark=report.mark,
        warning=warning(report),
        verdict=str(report.verdict),
        headline=verdict_reason(report),
        contracts=list(contracts_of(report)),
        before=list(before_runs(report)),
        points=report.open_points,
        runs=[_shown(run) for run in report.runs],
        series=[_shown_series(each) for each in report.series],
        after=list(after_runs(report)),
    )


def contracts_of(report: Report) -> Iterator[ShownContract]:
    """Of every run and series, then of the scenarios that have none."""
    for run in report.runs:
        judged = run.ruling.judged
        beside = () if judged is None else tuple(judged_tables(judged))
        yield ShownContract(contract_table(run.ruling, run.name), run.mark, beside)
    for series in report.series:
        what = (
            f"{series.kind.capitalize()} {series.name},"
            if len(series.rulings) > 1
            else series.kind.capitalize()
        )
        for ruling in series.rulings:
            yield ShownContract(contract_table(ruling, series.name, what), series.mark)
    for each in report.missing:
        yield ShownContract(contract_table(each.ruling, each.scenario), "")


def before_runs(report: Report) -> Iterator[Table]:
    """What stands between the verdict and the open points."""
    if report.terms is not None:
        yield party_table(report, report.terms)
        yield consequence_table(report, report.terms)
        yield from (each for each in (settles_table(report),) if each is not None)
    if report.seal is not None:
        yield seal_table(report.seal)


def after_runs(report: Report) -> Iterator[Table]:
    """What stands at the end."""
    if report.terms is not None:
        yield signature_table(report.terms)


def charts_of(run: RunReport) -> Iterator[Chart]:
    """The plots of a run."""
    yield from (each for each in (over_time(run), distributions(run)) if each is not None)


def _shown(run: RunReport) -> ShownRun:
    return ShownRun(run.key, run.name, run.mark, _drawn(charts_of(run)), tuple(run_tables(run)))


def _shown_series(found: SeriesReport) -> ShownSeries:
    return ShownSeries(
        found.key,
        found.name,
        str(found.kind),
        found.mark,
        found.says,
        _drawn(found.charts),
        found.tables,
    )


def _drawn(charts: Iterable[Chart]) -> tuple[ShownChart, ...]:
    return tuple(ShownChart(each, tuple(shapes(each, strip) for strip in each.strips)) for each in charts)  # fmt: skip
