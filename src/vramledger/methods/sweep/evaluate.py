"""One point evaluated: its question asked, its answers laid out as a row."""

from typing import Any

from vramledger.errors import CannotKnow, VramError
from vramledger.methods.sweep.alike import alike
from vramledger.methods.sweep.base import Base
from vramledger.methods.sweep.bound import ruled_out
from vramledger.methods.sweep.depth import busiest
from vramledger.methods.sweep.highest_load import highest_load
from vramledger.methods.sweep.laid_out import known, saturation, simulated
from vramledger.methods.sweep.point import Point
from vramledger.methods.sweep.row import Row, Status
from vramledger.methods.sweep.settings import changed
from vramledger.simulate.ends import with_ends
from vramledger.simulate.from_deployment import settings_of
from vramledger.simulate.offered import Offered, read_offered
from vramledger.simulate.run import (
    NotServed,
    Question,
    bench_of,
    expected,
    ready_for,
    simulate_case,
)
from vramledger.workload.operators.prepared import Part, prepared

_SAME = "Nothing that is simulated differs from the base, whose figures are its own."


class Evaluator:
    """Simulates points of a base one after another; of the workload it keeps the part it read last."""

    def __init__(self, base: Base, base_digest: str) -> None:
        self._base, self._digest = base, base_digest
        self._part: Part | None = None
        self._offered: Offered | None = None

    def row(self, point: Point) -> Row:
        """The row of a point. One that is not simulated has its reason and no figures."""
        named = {"point": point.hash(self._digest), "changes": point.text}
        about: dict[str, Any] = {}
        try:
            question = changed(self._base, point)
            about = known(question, question.case.deployment())
            found = self._found(point, question)
        except VramError as error:
            status = Status.UNKNOWN if isinstance(error, CannotKnow) else Status.REFUSED
            found = _unplayed(status, str(error))
        return Row(point, {**named, **about, **found})

    def _found(self, point: Point, question: Question) -> dict[str, Any]:
        if point.changes and alike(self._base.question, question):
            return _unplayed(Status.SAME, _SAME)
        offered = self._read(question)
        if self._base.depth.bound:
            without = _ruled_out(question, offered)
            if without is not None:
                return without
        found = simulate_case(question, _silent, busiest(offered, self._base.depth.share))
        if isinstance(found, NotServed):
            return _unplayed(Status.NO_START, found.reason)
        if self._base.depth.ends and found.main.answers.lines and found.main.answers.holds:
            found = with_ends(found, _silent)
        return {**simulated(found), **(highest_load(question) if self._base.depth.knee else {})}

    def _read(self, question: Question) -> Offered:
        if self._offered is None or self._part != question.part:
            self._offered = None  # two at once may not have room
            with prepared(question.part, question.seed) as path:
                self._offered = read_offered(path, question.seed)
            self._part = question.part
        return self._offered


def _ruled_out(question: Question, offered: Offered) -> dict[str, Any] | None:
    """The columns of a point that theory rules out; None where it must be simulated."""
    ready = ready_for(question)
    if isinstance(ready, NotServed):
        return _unplayed(Status.NO_START, ready.reason)
    bench = bench_of(ready, offered)
    settings = settings_of(
        ready.deployment, ready.pool, prefix_caching=False, acceptance=question.acceptance
    )
    capacity = expected(bench, settings)
    reason = ruled_out(bench, capacity)
    if not reason:
        return None
    return {
        **_unplayed(Status.RULED_OUT, reason),
        **saturation(question, ready.deployment, capacity),
    }


def _unplayed(status: Status, reason: str) -> dict[str, Any]:
    return {"status": status.value, "reason": reason}


def _silent(_done: int, _all: int) -> None:
    """Progress is counted in points."""
