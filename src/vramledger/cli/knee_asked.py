"""``vram simulate --knee``: its options, its search, its answer."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from vramledger.cli.output import show, show_json
from vramledger.cli.page import write_page
from vramledger.cli.progress_lines import progress_shown
from vramledger.errors import BadInput, ExitCode
from vramledger.methods.knee.find import TOLERANCE
from vramledger.methods.simulated.knee import Finding, SimulatedKnee, simulated_knee
from vramledger.simulate.ends import with_ends
from vramledger.simulate.run import NotServed, Question, simulate_case

_NO_PART: Final = {"out": "-o"}


def refuse_knee_options(asked: Mapping[str, Any]) -> None:
    """Refuse what belongs to a search without one, and the other way round.

    Raises:
        BadInput: such an option is given.
    """
    if not asked["knee"] and asked["tolerance"] is not None:
        raise BadInput("--tolerance is of the search for the knee; give --knee, or leave it out.")
    given = [flag for name, flag in _NO_PART.items() if asked[name] is not None]
    if asked["knee"] and given:
        raise BadInput(
            f"--knee plays many loads and keeps none of the runs, so it has no use for {given[0]}; simulate "
            "the load that it finds with --rate-scale."
        )


def answer_knee(
    question: Question, tolerance: float | None, html: Path | None, *, as_json: bool
) -> int:
    """Search, print, and the exit code; a page shows the curve and the load that was found.

    Raises:
        As `simulated_knee`.
    """
    with progress_shown("knee", "simulations") as bar:
        found = simulated_knee(question, bar, TOLERANCE if tolerance is None else tolerance)
    if html is not None and not isinstance(found, NotServed):
        _page(found, html)
    if as_json:
        from vramledger.report.knee_json import not_served_json, to_json

        show_json(not_served_json(found.reason) if isinstance(found, NotServed) else to_json(found))
    elif isinstance(found, NotServed):
        show(f"DOES NOT START, so nothing was simulated: {found.reason}")
    else:
        from vramledger.report.knee import to_text

        show(to_text(found))
    return _code(found)


def _page(found: SimulatedKnee, html: Path) -> None:
    from vramledger.report.knee_html.page import to_html

    with progress_shown("simulate", "requests") as bar:
        simulation = simulate_case(found.shown_question(), bar)
        if not isinstance(simulation, NotServed):
            simulation = with_ends(simulation, bar)
    if not isinstance(simulation, NotServed):
        write_page(html, to_html(found, simulation))


_CODES: Final = {
    Finding.HOLDS: ExitCode.HOLDS,
    Finding.AT_LESS_LOAD: ExitCode.DOES_NOT_HOLD,
    Finding.UNCERTAIN_THERE: ExitCode.CANNOT_KNOW,
    Finding.NOT_AT_THE_SLOW_END: ExitCode.CANNOT_KNOW,
    Finding.DOES_NOT_HOLD: ExitCode.DOES_NOT_HOLD,
    Finding.UNCERTAIN: ExitCode.CANNOT_KNOW,
    Finding.STOPPED: ExitCode.INTERRUPTED,
}


def _code(found: SimulatedKnee | NotServed) -> int:
    if isinstance(found, NotServed):
        return ExitCode.DOES_NOT_HOLD
    return ExitCode.INTERRUPTED if found.stopped else _CODES[found.main.finding]
