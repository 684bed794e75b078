"""The page of a search: the finding, where the goals end, the curve, and the run at the load that was found."""

from typing import Final

from vramledger.frozen import frozen
from vramledger.methods.simulated.knee import Side, SimulatedKnee
from vramledger.methods.subject import Goal
from vramledger.report.html.figure import Figure
from vramledger.report.html.page import rendered
from vramledger.report.html.titled_table import Table
from vramledger.report.knee import deployed, goals, hits_said, notes_title, opening, theory
from vramledger.report.knee_finding import LIMITS_HEAD, finding, limit_rows, method
from vramledger.report.knee_html.figure import knee_figure
from vramledger.report.knee_table import BROKEN, curve
from vramledger.report.knee_words import both, knee_sentence, level
from vramledger.report.simulation_html.headline import headline
from vramledger.report.simulation_html.page import FIGURES, run_tables, shown_of
from vramledger.simulate.run import Simulation

_PACKAGE: Final = "vramledger.report.knee_html"


@frozen
class ShownSide:
    """One search on the page; `figure` is None where nothing was played, `slow` where no slow end was searched."""

    limits: Table
    said: tuple[str, ...]
    figure: Figure | None
    slow: Table | None


def to_html(found: SimulatedKnee, simulation: Simulation) -> str:
    """One self-contained page; `simulation` is the load that is shown, as `shown_question` asks it."""
    shown = shown_of(simulation)
    sides = [_side(found, side) for side in found.sides]
    run_figures = [figure for make in FIGURES for figure in make(shown)]
    return rendered(
        _PACKAGE,
        [*(side.figure for side in sides if side.figure is not None), *run_figures],
        deployed=deployed(found),
        headline=finding(found, found.main),
        opening=[*opening(found)[1:], *goals(found)],
        sides=sides,
        method=method(found),
        run_title=_run_title(found),
        run_headline=headline(shown.main.answers, simulation.ends),
        run_tables=run_tables(shown.main),
        run_figures=run_figures,
        notes_title=notes_title(found),
        notes=found.notes,
        theory=theory(found).removeprefix("theory").strip(),
        basis=str(found.basis),
    )


def _side(found: SimulatedKnee, side: Side) -> ShownSide:
    hits = hits_said(side)
    limits = Table(f"Where the goals end, {hits}", LIMITS_HEAD, tuple(limit_rows(found, side)))
    figure = knee_figure(found, side) if side.points else None
    return ShownSide(limits, tuple(_said(found, side)), figure, _slow_loads(found, side))


def _said(found: SimulatedKnee, side: Side) -> list[str]:
    """What the rows of the table do not say."""
    if side.knee is None:
        return [finding(found, side)]
    own = [] if side is found.main else [finding(found, side)]
    return [
        *own,
        " ".join(both(side.knee.contract, side.knee.safe, found.axis)),
        knee_sentence(side.knee.curve, found.axis),
    ]


def _slow_loads(found: SimulatedKnee, side: Side) -> Table | None:
    """The loads that were played at the slow end."""
    if side.slow is None or not side.slow.points:
        return None
    loads = curve(found.axis, side.slow.points)
    title = f"Loads that were played with every step x{side.slow.factor:.2f}, {hits_said(side)}"
    bend = () if side.slow.limits is None else (knee_sentence(side.slow.curve, found.axis),)
    return Table(title, loads.head, tuple(loads.rows), loads.right, (*bend, BROKEN))


def _run_title(found: SimulatedKnee) -> str:
    point = found.main.shown
    if point is None:
        return "The run at the load of the question"
    kept = found.main.knee is not None and found.main.knee.contract.held is point
    which = "the highest load that holds" if kept else "the lowest load that fails"
    seed = point.example(Goal.CONTRACT).seed
    return f"The run at {level(point, found.axis)}, seed {seed}, {which} at the expected step times"
