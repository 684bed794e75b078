"""The knee of a workload on a simulated deployment, without prefix hits and with the workload's own."""

from vramledger.evidence import Basis
from vramledger.frozen import frozen
from vramledger.methods.knee.find import TOLERANCE, Knee, find_knee
from vramledger.methods.knee.probes import Point, Probes, Progress
from vramledger.methods.simulated.subject import (
    SimulatedSubject,
    Standing,
    question_at,
    standing_of,
)
from vramledger.methods.subject import Axis, Goal
from vramledger.simulate.run import NotServed, Question
from vramledger.simulate.run_notes import times_of


@frozen
class Side:
    """One search; `knee` is None where it was stopped, and `points` are those played until then."""

    hits: bool
    knee: Knee | None
    points: tuple[Point, ...]
    notes: tuple[str, ...]


@frozen
class SimulatedKnee:
    """`sides` has the workload's own prefix hits first, where there can be any."""

    question: Question
    standing: Standing
    tolerance: float
    axis: Axis
    sides: tuple[Side, ...]
    basis: Basis  # of every time

    @property
    def main(self) -> Side:
        """The side that is judged."""
        return self.sides[0]

    @property
    def stated(self) -> bool:
        """Whether there is a contract; else preemption and a queue that grows stand for one."""
        contract = self.question.contract
        return contract is not None and not contract.is_empty

    def asked(self, goal: Goal) -> tuple[str, ...]:
        """The lines of the contract, or those that the safe load adds; empty where nothing was played."""
        points = self.main.points
        if not points:
            return ()
        first = points[0].first
        checks = first.contract if goal is Goal.CONTRACT else first.headroom
        return tuple(check.asked for check in checks)

    @property
    def stopped(self) -> bool:
        """Whether somebody stopped the search before its end."""
        return any(side.knee is None for side in self.sides)

    def shown_question(self) -> Question:
        """The load to look at: the highest that keeps the contract, else the lowest that fails; else its own."""
        limit = None if self.main.knee is None else self.main.knee.contract
        point = None if limit is None else (limit.held or limit.failed)
        if point is None:
            return self.question
        return question_at(self.question, point.level, point.example(Goal.CONTRACT).seed)

    @property
    def holds(self) -> bool:
        """Whether the contract is kept at any rate."""
        return self.main.knee is not None and self.main.knee.contract.held is not None


def simulated_knee(
    question: Question, progress: Progress, tolerance: float = TOLERANCE
) -> SimulatedKnee | NotServed:
    """Search the knee of the question's workload; an interrupt ends it with what was found.

    Raises:
        BadInput: no workload, nothing in it, a deployment that is none, or no tolerance.
        CannotKnow: a card, cache, feature or workload that cannot be simulated.
    """
    standing = standing_of(question)
    if isinstance(standing, NotServed):
        return standing
    sides: list[Side] = []
    for hits in (True, False) if standing.hits else (False,):
        sides.append(_side(standing, progress, tolerance, hits=hits))
        if sides[-1].knee is None:
            break
    times = times_of(standing.bench)
    return SimulatedKnee(question, standing, tolerance, standing.axis, tuple(sides), times.basis)


def _side(standing: Standing, progress: Progress, tolerance: float, *, hits: bool) -> Side:
    subject = SimulatedSubject(standing, hits=hits)
    probes = Probes(subject, progress)
    try:
        knee: Knee | None = find_knee(probes, tolerance)
    except KeyboardInterrupt:
        knee = None
    return Side(hits, knee, probes.points, subject.notes)
