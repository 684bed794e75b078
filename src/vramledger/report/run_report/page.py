"""The report as one self-contained page, without a script; what comes out of a file is escaped, and nothing is loaded."""

from collections.abc import Iterator
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
        after=list(after_runs(report)),
    )


def contracts_of(report: Report) -> Iterator[ShownContract]:
    """Of every run, then of the scenarios that have none."""
    for run in report.runs:
        judged = run.ruling.judged
        beside = () if judged is None else tuple(judged_tables(judged))
        yield ShownContract(contract_table(run.ruling, run.name), run.mark, beside)
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
    drawn = tuple(
        ShownChart(each, tuple(shapes(each, strip) for strip in each.strips))
        for each in charts_of(run)
    )
    return ShownRun(run.key, run.name, run.mark, drawn, tuple(run_tables(run)))
