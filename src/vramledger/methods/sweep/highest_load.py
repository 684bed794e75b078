"""The highest load that keeps the contract at a point, at the slow end of the step times, as columns of its row."""

from typing import Any, Final

from vramledger.methods.knee.find import TOLERANCE
from vramledger.methods.knee.probes import Probes
from vramledger.methods.knee.search import Limit, highest
from vramledger.methods.simulated.subject import SimulatedSubject, standing_of
from vramledger.methods.subject import Axis, Goal
from vramledger.simulate.pace import Pace
from vramledger.simulate.run import NotServed, Question

KNEE_TOLERANCE: Final = TOLERANCE


def highest_load(question: Question) -> dict[str, Any]:
    """How the search ended and the level where it did, with the workload's own prefix hits where there can be any.

    Raises:
        VramError: a level cannot be played.
    """
    standing = standing_of(question)
    if isinstance(standing, NotServed):
        return {}
    subject = SimulatedSubject(standing, hits=standing.hits, pace=Pace.SLOW)
    probes = Probes(subject, _silent)
    return _columns(highest(probes, Goal.CONTRACT, KNEE_TOLERANCE), standing.axis)


def _columns(found: Limit, axis: Axis) -> dict[str, Any]:
    held = found.held
    open_loop = held is not None and axis is Axis.RATE
    return {
        "knee": found.ending.value,
        "knee_level": None if held is None else held.level,
        "knee_per_s": held.first.figures.offered_per_s if held and open_loop else None,
    }


def _silent(_done: int, _all: int) -> None:
    """Progress is counted in points."""
