"""Where the simulator expects the safe load to end: a place to start a ramp at, and no evidence of anything."""

from typing import Any, Final

from vramledger.frozen import frozen
from vramledger.methods.knee.find import find_limits
from vramledger.methods.knee.probes import Probes
from vramledger.methods.simulated.subject import SimulatedSubject, standing_of
from vramledger.methods.subject import Axis
from vramledger.simulate.run import NotServed, Question
from vramledger.simulate.run_notes import times_of
from vramledger.simulate.timing.carrying import refusals

TOLERANCE: Final = 0.1
STEP: Final = 1.4  # ratio of steps that begin at a prediction
_BELOW: Final = 0.7


@frozen
class Prediction:
    """`level` is the highest safe load in the simulation, None where there is none and `why` says so.

    `basis` is of its step times. `foreign` are the reasons, finished sentences, why a calibration is none of this deployment.
    """

    level: float | None
    basis: str
    why: str = ""
    foreign: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As ramp.json keeps it."""
        return {
            "level": self.level,
            "basis": self.basis,
            "why": self.why or None,
            "foreign": list(self.foreign),
            "evidence": False,
        }


def predicted(question: Question) -> Prediction:
    """The prediction for a load of the question's kind.

    Raises:
        BadInput: no deployment, or no workload.
        CannotKnow: a card, cache, feature or workload that cannot be simulated.
    """
    standing = standing_of(question)
    if isinstance(standing, NotServed):
        return Prediction(None, "derived", f"The deployment does not start: {standing.reason}")
    foreign = refusals(standing.bench.deployment, question.fit)
    basis = str(times_of(standing.bench).basis)
    subject = SimulatedSubject(standing, hits=standing.hits)
    limits = find_limits(Probes(subject, lambda _done, _of_all: None), TOLERANCE)
    held = limits.safe.held or limits.contract.held
    if held is None:
        return Prediction(None, basis, "No load is safe in the simulation.", foreign)
    return Prediction(held.level, basis, foreign=foreign)


def started_at(level: float, axis: Axis) -> float:
    """Where to begin below a predicted end."""
    begin = level * _BELOW
    return max(float(int(begin)), 1.0) if axis is Axis.CONCURRENCY else begin
