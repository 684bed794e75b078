"""What a ramp found: where it was stopped and by what, the safe load, the knee, and what that says of the load asked for."""

from dataclasses import field
from enum import StrEnum
from pathlib import Path
from typing import Final

from vramledger.errors import ExitCode
from vramledger.frozen import frozen
from vramledger.methods.knee.curve import CurveKnee
from vramledger.methods.knee.probes import Point
from vramledger.methods.knee.search import Ending, Limit
from vramledger.methods.measured.observed import ANSWERED, NO_PREEMPTION, QUEUE, STAYS
from vramledger.methods.measured.subject import Halt, Step
from vramledger.methods.ramp.prediction import Prediction
from vramledger.methods.subject import Axis, Goal

_ROUNDING: Final = 1e-9


class Stop(StrEnum):
    """What said stop, in the order in which one of several is named."""

    RESTART = "restart"
    PREEMPTION = "preemption"
    QUEUE = "queue"
    CONTRACT = "contract"
    FAILURES = "failures"
    MOST = "most"  # the highest level that was to be tried
    NOTHING = "nothing"  # nothing was played


class Finding(StrEnum):
    """What the ramp says of the load that was asked for; of any load where none was."""

    HOLDS = "holds"
    BELOW = "below what was asked for"
    NOTHING_SAFE = "nothing is safe"
    OPEN = "not known"
    STOPPED = "stopped"


CODES: Final = {
    Finding.HOLDS: ExitCode.HOLDS,
    Finding.BELOW: ExitCode.DOES_NOT_HOLD,
    Finding.NOTHING_SAFE: ExitCode.DOES_NOT_HOLD,
    Finding.OPEN: ExitCode.CANNOT_KNOW,
    Finding.STOPPED: ExitCode.INTERRUPTED,
}


@frozen
class Ramp:
    """`contract` ends where preemption, the contract or the queue said stop; `safe` keeps the headroom beside.

    `asked` is the level that the plan needs, None where nothing says. `halted` is why no more was played, with `why` in
    a sentence. `interrupted` is whether somebody stopped it.
    """

    folder: Path
    axis: Axis
    tolerance: float
    contract: Limit
    safe: Limit
    knee: CurveKnee | None
    points: tuple[Point, ...]
    steps: tuple[Step, ...]
    asked: float | None
    prediction: Prediction | None
    halted: Halt | None = None
    why: str = ""
    interrupted: bool = False
    rehearsed: bool = False
    about: dict[str, str | None] = field(default_factory=dict)  # engine, version, model, workload

    @property
    def stopped_by(self) -> str:
        """What ended the ramp: a `Halt`, or a `Stop`."""
        if self.interrupted:
            return "interrupt"
        if self.halted is not None:
            return str(self.halted)
        return str(self.stop)

    @property
    def stop(self) -> Stop:
        """What said stop at the lowest level that is too much."""
        failed = self.contract.failed
        if failed is None:
            return Stop.MOST if self.contract.ending is Ending.NEVER_REACHED else Stop.NOTHING
        broke = {
            kind_of(check.asked) for check in failed.example(Goal.CONTRACT).failed(Goal.CONTRACT)
        }
        return next((each for each in Stop if each in broke), Stop.CONTRACT)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Why the safe load that was found cannot be relied on; empty where it can."""
        found = []
        reads = [step.read for step in self.steps]
        if reads and not all(read.preemptions_told for read in reads):
            found.append("The server does not count preemptions, so that none can be ruled out; ramp a server with a metrics page.")  # fmt: skip
        if reads and not all(read.kv_told for read in reads):
            found.append("The server does not tell how full its KV cache is, so that no headroom can be told; ramp a server with a metrics page.")  # fmt: skip
        held = self.safe.held
        if held is not None:
            open_lines = [c.asked for c in held.first.checks(Goal.SAFE) if c.holds is None]
            open_lines = [
                each
                for each in open_lines
                if each != NO_PREEMPTION and not each.startswith("KV use")
            ]
            found += [
                f"{each} was not decided at the safe load; send more requests a step with --step-for."
                for each in open_lines
            ]
        elif self.safe.little is not None:
            lines = ", ".join(c.asked for c in self.safe.little.first.failed(Goal.SAFE))
            found.append(
                f"Too few requests for {lines} at the loads that could be safe; send more a step with --step-for."
            )
        elif self.safe.uncertain:
            found.append(
                "At the lowest loads the plays differ too much to tell; send more requests a step with --step-for."
            )
        return tuple(found)

    @property
    def finding(self) -> Finding:
        """Of the load that was asked for."""
        if self.interrupted:
            return Finding.STOPPED
        held, asked = self.safe.held, self.asked
        enough = held is not None and asked is not None and held.level >= asked * (1 - _ROUNDING)
        if self.unknown or (
            self.halted is not None and not (self.halted in (Halt.STEPS, Halt.TIME) and enough)
        ):
            return Finding.OPEN
        if held is None:
            return Finding.NOTHING_SAFE
        if asked is None or enough:
            return Finding.HOLDS
        failed = self.safe.failed
        below = failed is not None and failed.level <= asked * (1 + _ROUNDING)
        return Finding.BELOW if below else Finding.OPEN


def kind_of(asked: str) -> Stop:
    """What a line that failed stands for."""
    named = {NO_PREEMPTION: Stop.PREEMPTION, QUEUE: Stop.QUEUE, STAYS: Stop.RESTART}
    if asked in named:
        return named[asked]
    return Stop.FAILURES if asked == f"success >= {ANSWERED:.2%}" else Stop.CONTRACT
