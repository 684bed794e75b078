"""The page: headline, contract, figures, tables and provenance put into the template."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from vramledger.record.overview.overview import overview_of
from vramledger.report.html.figure import Figure
from vramledger.report.html.page import rendered
from vramledger.report.html.titled_table import Table
from vramledger.report.number import share
from vramledger.report.simulation import (
    RIGHT,
    counted,
    heading,
    percentile_head,
    percentile_rows,
    theory,
)
from vramledger.report.simulation_contract import contract_rows
from vramledger.report.simulation_html.binding import binding
from vramledger.report.simulation_html.distributions import by_length, held, latencies
from vramledger.report.simulation_html.headline import headline
from vramledger.report.simulation_html.over_time import over_time
from vramledger.report.simulation_html.shown import Shown, Side
from vramledger.simulate.run import Played, Simulation
from vramledger.simulate.run_columns import run_columns

FIGURES: Final[tuple[Callable[[Shown], Iterator[Figure]], ...]] = (
    over_time,
    binding,
    latencies,
    held,
    by_length,
)


def to_html(simulation: Simulation, folder: Path | None) -> str:
    """One self-contained page. Whatever comes out of a file is escaped; nothing is loaded.

    `folder` has the records, where they were kept.
    """
    shown = shown_of(simulation)
    figures = [figure for make in FIGURES for figure in make(shown)]
    return rendered(
        "vramledger.report.simulation_html",
        figures,
        title=_title(simulation),
        headline=headline(shown.main.answers, simulation.ends),
        opening=heading(simulation).splitlines(),
        first=run_tables(shown.main),
        rest=[table for side in shown.sides[1:] for table in run_tables(side)],
        theory=theory(simulation).strip(),
        notes=simulation.notes,
        basis=str(simulation.basis),
        folder=None if folder is None else str(folder),
    )


def shown_of(simulation: Simulation) -> Shown:
    """What there is to show, reduced to what can be drawn."""
    kept = simulation.sanity.capacity.headroom
    asked = (
        "as asked" if simulation.question.headroom is not None else "as vram size keeps (assumed)"
    )
    said = f"{share(kept)} of the pool, {asked}"
    return Shown(tuple(_sides(simulation)), simulation.question.contract, kept, said)


def _sides(simulation: Simulation) -> Iterator[Side]:
    if simulation.own is not None:
        yield _side(simulation, simulation.own, "own", "with the workload's prefix hits", "solid")
    dash = "dot" if simulation.own is not None else "solid"
    yield _side(simulation, simulation.no_hits, "no-hits", "without prefix hits", dash)


def _side(simulation: Simulation, played: Played, key: str, title: str, dash: str) -> Side:
    overview = overview_of(run_columns(simulation, played))
    ends = simulation.ends
    if ends is not None and played is not simulation.main:
        ends = ends.of_no_hits
    return Side(key, title, dash, played.answers, overview, ends)


def run_tables(side: Side) -> list[Table]:
    """The contract, where there is one, the percentiles and the counts of a run."""
    found = side.answers
    slow = None if side.ends is None else side.ends.slow
    rows = tuple(percentile_rows(found, slow))
    percentiles = Table(f"Percentiles, {side.title}", percentile_head(slow), rows, RIGHT)
    counts = tuple((line[:_NAME].strip(), line[_NAME:].strip()) for line in counted(found))
    rest = Table(f"Counts, {side.title}", ("", ""), counts)
    if not found.lines:
        return [percentiles, rest]
    ends = () if side.ends is None else _ENDS
    lines = tuple(contract_rows(found, side.ends))
    contract = Table(f"Contract, {side.title}", ("verdict", "asked", "simulated", *ends), lines)
    return [contract, percentiles, rest]


_NAME: Final = 12  # characters of a line's name
_ENDS: Final = ("at the slow end", "at the fast end")


def _title(simulation: Simulation) -> str:
    """What was simulated, in the words of the heading's first two lines."""
    load, deployment = heading(simulation).splitlines()[:2]
    return f"{deployment}: {load.partition(': ')[2]}"
