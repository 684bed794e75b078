"""The knee of a workload on a simulated deployment, without prefix hits and with the workload's own.

Each is searched at the expected step times, and where its goals end again at the slow end of their band: a decision
rests on the slow end.
"""

from enum import StrEnum
from math import isclose
from typing import Final

from vramledger.evidence import Basis
from vramledger.frozen import frozen
from vramledger.methods.knee.curve import CurveKnee
from vramledger.methods.knee.find import TOLERANCE, Knee, Limits, find_knee
from vramledger.methods.knee.probes import Point, Probes, Progress
from vramledger.methods.knee.search import Limit
from vramledger.methods.simulated.subject import (
    SimulatedSubject,
    Standing,
    question_at,
    standing_of,
)
from vramledger.methods.subject import Axis, Goal
from vramledger.simulate.pace import Pace
from vramledger.simulate.run import NotServed, Question
from vramledger.simulate.run_notes import times_of

_ROUNDING: Final = 1e-9  # of a load, relative


class Finding(StrEnum):
    """Whether the load that was asked for keeps the contract, and if not, whether any does."""

    HOLDS = "holds"
    AT_LESS_LOAD = "holds at less load than was asked for"
    UNCERTAIN_THERE = "holds at less load, uncertain at the one asked for"
    NOT_AT_THE_SLOW_END = "holds, not at the slow end"
    DOES_NOT_HOLD = "does not hold"
    UNCERTAIN = "uncertain"  # no load holds clearly, and not all fail clearly
    STOPPED = "stopped"


@frozen
class SlowEnd:
    """The search where every step takes `factor` times as long; `limits` is None where it was stopped.

    `curve` is its knee, as `Knee.curve`.
    """

    factor: float
    limits: Limits | None
    points: tuple[Point, ...]
    curve: CurveKnee | None = None


@frozen
class Side:
    """One search; `knee` is None where it was stopped, and `points` are those played until then.

    `slow` is None where it was not begun, or the band of the step times has no slow end. `drawn` is what
    the seed decided, in words. `asked` is the load of the question; any load will do where it is 0.
    """

    hits: bool
    knee: Knee | None
    points: tuple[Point, ...]
    drawn: tuple[str, ...]
    slow: SlowEnd | None = None
    asked: float = 0.0

    @property
    def stopped(self) -> bool:
        """Whether somebody stopped it before its end."""
        return self.knee is None or (self.slow is not None and self.slow.limits is None)

    @property
    def shown(self) -> Point | None:
        """The load to look at: the highest that keeps the contract, else the lowest that fails."""
        limit = None if self.knee is None else self.knee.contract
        return None if limit is None else (limit.held or limit.failed)

    @property
    def decision(self) -> Limit | None:
        """Where the safe load ends at the slow end of the step times; None where that was not found."""
        if self.slow is not None:
            return None if self.slow.limits is None else self.slow.limits.safe
        return None if self.knee is None else self.knee.safe

    @property
    def finding(self) -> Finding:
        """What the search says of the load that was asked for, at the slow end of the step times too."""
        if self.knee is None:
            return Finding.STOPPED
        contract = self.knee.contract
        if contract.held is None:
            unclear = contract.failed is None or contract.uncertain
            return Finding.UNCERTAIN if unclear else Finding.DOES_NOT_HOLD
        if self.slow is not None and self.slow.limits is None:
            return Finding.STOPPED
        slow = (
            contract if self.slow is None or self.slow.limits is None else self.slow.limits.contract
        )
        if slow.held is None:
            return Finding.NOT_AT_THE_SLOW_END
        if self._reaches(contract) is False:
            return Finding.AT_LESS_LOAD
        sure = self._reaches(contract) and self._reaches(slow)
        return Finding.HOLDS if sure else Finding.UNCERTAIN_THERE

    def _reaches(self, limit: Limit) -> bool | None:
        """Whether a goal is kept at the load that was asked for; None where no play tells."""
        again = any(isclose(point.level, self.asked) for point in limit.again)
        if again or (limit.held is not None and limit.held.level >= self.asked * (1 - _ROUNDING)):
            return True
        return False if limit.failed is not None and limit.failed.level <= self.asked else None


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
        return any(side.stopped for side in self.sides)

    @property
    def shown(self) -> Point | None:
        """The load whose notes and run are shown; the first that was played where nothing was found."""
        return self.main.shown or next(iter(self.main.points), None)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know of the load that is shown."""
        return () if self.shown is None else self.shown.example(Goal.CONTRACT).notes

    def shown_question(self) -> Question:
        """The load that is shown, as a question of its own."""
        point = self.main.shown
        if point is None:
            return self.question
        return question_at(self.question, point.level, point.example(Goal.CONTRACT).seed)

    @property
    def holds(self) -> bool:
        """Whether the contract is kept at the load that was asked for, at the slow end of the step times too."""
        return self.main.finding is Finding.HOLDS


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
        if sides[-1].stopped:
            break
    times = times_of(standing.bench)
    return SimulatedKnee(question, standing, tolerance, standing.axis, tuple(sides), times.basis)


def _side(standing: Standing, progress: Progress, tolerance: float, *, hits: bool) -> Side:
    subject = SimulatedSubject(standing, hits=hits)
    probes, asked = Probes(subject, progress), subject.range.start
    try:
        knee = find_knee(probes, tolerance)
    except KeyboardInterrupt:
        return Side(hits, None, probes.points, subject.drawn, asked=asked)
    slow = None
    if standing.bench.paces.slow > 1:
        slow = _slow_end(standing, progress, tolerance, knee.contract, hits=hits)
    return Side(hits, knee, probes.points, subject.drawn, slow, asked)


def _slow_end(
    standing: Standing, progress: Progress, tolerance: float, near: Limit, *, hits: bool
) -> SlowEnd:
    """Begun at the load that holds at the expected step times, the highest that is likely to."""
    start = None if near.held is None else near.held.level
    subject = SimulatedSubject(standing, hits=hits, pace=Pace.SLOW, start=start)
    probes = Probes(subject, progress)
    try:
        knee = find_knee(probes, tolerance)
    except KeyboardInterrupt:
        return SlowEnd(standing.bench.paces.slow, None, probes.points)
    limits = Limits(knee.contract, knee.safe, knee.points)
    return SlowEnd(standing.bench.paces.slow, limits, probes.points, knee.curve)
