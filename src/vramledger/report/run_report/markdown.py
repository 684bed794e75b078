"""The report as Markdown: the same tables, those behind the plots among them."""

from collections.abc import Iterable, Iterator
from typing import Final

from vramledger.printable import flat
from vramledger.report.html.titled_table import Table
from vramledger.report.run_report.model import Report
from vramledger.report.run_report.page import after_runs, before_runs, charts_of, contracts_of
from vramledger.report.run_report.tables import run_tables
from vramledger.report.run_report.words import heading, verdict_reason, warning

_MARKUP: Final = str.maketrans(
    {each: f"\\{each}" for each in "\\`*[]|#"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
)


def to_markdown(report: Report) -> str:
    """The same as the page, without its plots; no text out of a file is markup."""
    return "\n".join(_lines(report)).rstrip() + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield from (f"# {_text(heading(report))}{report.mark}", "")
    if warning(report):
        yield from (f"**{warning(report)}**", "")
    yield from (f"**{report.verdict}**{_text(verdict_reason(report))}", "")
    yield from (f"## Verdict{report.mark}", "")
    for each in contracts_of(report):
        yield from _tables((each.table, *each.beside), each.mark)
    yield from _tables(before_runs(report), report.mark)
    if report.open_points:
        yield from (f"## Open points{report.mark}", "")
        yield from (f"- {_text(point)}" for point in report.open_points)
        yield ""
    for one in report.series:
        yield from (f"## {one.kind.capitalize()} {_text(one.name)}{one.mark}", "")
        for said in one.says:
            yield from (_text(said), "")
        yield from _tables((*(chart.table for chart in one.charts), *one.tables), one.mark)
    for run in report.runs:
        yield from (f"## Run {_text(run.name)}{run.mark}", "")
        yield from _tables((chart.table for chart in charts_of(run)), run.mark)
        yield from _tables(run_tables(run), run.mark)
    yield from _tables(after_runs(report), report.mark)


def _tables(tables: Iterable[Table], mark: str) -> Iterator[str]:
    for each in tables:
        yield from _table(each, mark)


def _table(table: Table, mark: str) -> Iterator[str]:
    yield from (f"### {_text(table.title)}{mark}", "")
    if table.rows:
        yield _row(table.head)
        rule = ("---:" if at in table.right else "---" for at in range(len(table.head)))
        yield f"|{'|'.join(rule)}|"
        yield from map(_row, table.rows)
        yield ""
    for note in table.notes:
        yield from (_text(note), "")


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(_text, cells))} |"


def _text(text: str) -> str:
    return flat(text).translate(_MARKUP)
