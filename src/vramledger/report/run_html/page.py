"""The report as HTML and as Markdown."""

from collections.abc import Iterator

from vramledger.report.html.page import rendered
from vramledger.report.html.titled_table import Table
from vramledger.report.run_html.figures import figures
from vramledger.report.run_html.shown import Shown
from vramledger.report.run_html.tables import (
    acceptance_tables,
    figure_tables,
    open_points,
    verdict_tables,
)


def to_html(shown: Shown) -> str:
    """One self-contained page; what comes out of a file is escaped, and nothing is loaded."""
    drawn = [
        figure
        for run in shown.runs
        if run.timeline is not None
        for figure in figures(run.name, run.name, run.timeline)
    ]
    return rendered(
        "vramledger.report.run_html",
        drawn,
        title=_title(shown),
        mark=shown.mark,
        opening=list(_opening(shown)),
        headline=_headline(shown),
        first=_first(shown),
        rest=_rest(shown),
        notes=open_points(shown),
    )


def to_markdown(shown: Shown) -> str:
    """The same without plots."""
    lines = [f"# {_cell(_title(shown))}{shown.mark}", "", f"**{_headline(shown)}**", ""]
    lines += [f"{_cell(each)}\n" for each in _opening(shown)]
    for table in (*_first(shown), *_rest(shown)):
        lines += _markdown(table, shown.mark)
    points = open_points(shown)
    if points:
        lines += ["## What weakens the figures", "", *(f"- {_cell(each)}" for each in points)]
    return "\n".join(lines).rstrip() + "\n"


def _title(shown: Shown) -> str:
    return f"{'Acceptance' if shown.acceptance else 'Trial'}: {shown.title}"


def _headline(shown: Shown) -> str:
    """The verdict, and whether it may be believed."""
    if shown.verified is not None and not shown.verified.unchanged:
        return f"{shown.verdict}: the bundle is not as it was sealed."
    failing = [run.name for run in shown.runs if run.verdict == "FAIL"]
    why = f": run {', '.join(failing)} does not keep its contract" if failing else ""
    return f"{shown.verdict}{why}"


def _opening(shown: Shown) -> Iterator[str]:
    for run in shown.runs:
        about = run.summary.description
        seen = about.in_effect
        engine = " ".join(each for each in (seen.engine, seen.engine_version) if each)
        ended = "" if about.ended is None else f", ended {about.ended.value}"
        yield f"Run {run.name}: {about.name}, {engine or 'engine unknown'}, {about.origin.value}, began {about.started_at or 'unknown'}{ended}."


def _first(shown: Shown) -> list[Table]:
    form = list(acceptance_tables(shown)) if shown.acceptance else []
    return [*verdict_tables(shown), *form]


def _rest(shown: Shown) -> list[Table]:
    return [table for run in shown.runs for table in figure_tables(run)]


def _markdown(table: Table, mark: str) -> list[str]:
    lines = [f"## {_cell(table.title)}{mark}", ""]
    if table.rows:
        rule = ("---:" if at in table.right else "---" for at in range(len(table.head)))
        lines += [_row(table.head), f"|{'|'.join(rule)}|", *map(_row, table.rows), ""]
    return [*lines, *(f"{each}\n" for each in table.notes)]


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    """As Markdown shows it: nothing in it is markup."""
    flat = " ".join(text.split())
    return flat.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`")
