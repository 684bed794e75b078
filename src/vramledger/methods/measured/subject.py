"""A live server as a subject: each play of a level is a trial of its own, in a folder of its own.

A play that is there already is read and not sent again, so that a ramp goes on where it was cut off.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from math import inf
from pathlib import Path
from typing import Final

from vramledger.errors import CannotKnow, VramError
from vramledger.frozen import frozen
from vramledger.methods.measured.idle import LIMIT_S, Idle, await_idle
from vramledger.methods.measured.observed import Judging, Read, read_observation
from vramledger.methods.subject import Axis, Observation, Range
from vramledger.record.description import FILE, read_description
from vramledger.trial.conduct.approach import key_for
from vramledger.trial.conduct.asked import TrialAsked
from vramledger.trial.conduct.conduct import conduct
from vramledger.trial.conduct.resume import close_only
from vramledger.trial.conduct.watch import Watch
from vramledger.trial.sampling.target import authorization
from vramledger.trial.server import ask_server

_MOST_CUT: Final = 1000


class Halt(StrEnum):
    """Why a live search ended before it had found what it looked for."""

    CLIENT = "client"  # the load generator was the bottleneck
    CUT = "cut"  # a step was not offered as asked
    BUSY = "busy"  # the server did not come to rest between two steps
    SERVER = "server"  # it cannot be reached, or answers nothing
    STEPS = "steps"  # as many as were allowed
    TIME = "time"  # what was allowed for all of them


class Halted(CannotKnow):
    """No further step can be played, or the last one tells nothing."""

    def __init__(self, halt: Halt, message: str) -> None:
        super().__init__(message)
        self.halt = halt


@frozen
class Step:
    """One play: its level, which attempt at it, where its trial lies, and what was read of it.

    `waited` is the wait for an idle server before it; None where the play was there already.
    """

    level: float
    attempt: int
    folder: Path
    read: Read
    waited: Idle | None


@frozen
class Stepping:
    """How steps are made.

    `step_s` is how long each sends, `most_steps` how many there may be, `idle_s` how long a server may take to come to
    rest before each. After `total_s` of all together no other is begun.
    """

    step_s: float
    most_steps: int
    idle_s: float = LIMIT_S
    total_s: float = inf


class MeasuredSubject:
    """Levels are requests in flight, or factors on the recorded arrivals; attempt n has the trial's seed plus n.

    `keep` is told of each step as it ends.
    """

    def __init__(
        self,
        trial: TrialAsked,
        folder: Path,
        levels: Range,
        judging: Judging,
        stepping: Stepping,
        watch: Watch,
        keep: Callable[[Step], None],
    ) -> None:
        self._trial, self._folder, self._range = trial, folder, levels
        self._judging, self._stepping, self._watch, self._keep = judging, stepping, watch, keep
        self._metrics: str | None = None
        self._asked_metrics = False
        self.steps: list[Step] = []
        self._began_s = time.monotonic()

    @property
    def range(self) -> Range:
        """The levels that can be played."""
        return self._range

    def repeats(self, level: float) -> bool:
        """Whether a play of that level was so near a threshold that chance may have decided it."""
        return any(step.read.seen.unsure for step in self.steps if step.level == level)

    def play(self, level: float, attempt: int) -> Observation:
        """The load of that level, sent to the server, or read where that was done before.

        Raises:
            Halted: nothing more is to be had.
            BadInput: the first step cannot be made.
            KeyboardInterrupt: it was stopped.
        """
        folder = self._folder / step_name(level, attempt, self._range.axis)
        waited = None if self._is_there(folder, level) else self._sent(level, attempt, folder)
        read = read_observation(folder, level, self._judging)
        step = Step(level, attempt, folder, read, waited)
        self.steps.append(step)
        self._keep(step)
        if read.open:
            _halt(read)
        return read.seen

    def _is_there(self, folder: Path, level: float) -> bool:
        """Whether that play was made, and decides something; one that was cut off is closed and put aside."""
        from vramledger.record.document import Ended

        if not (folder / FILE).is_file():
            return False
        close_only(folder)
        whole = read_description(folder).ended in (Ended.COMPLETE, Ended.CUT)
        if whole and not read_observation(folder, level, self._judging).open:
            return True
        aside = (folder.with_name(f"{folder.name}-cut-{number}") for number in range(1, _MOST_CUT))
        folder.rename(next(place for place in aside if not place.exists()))
        return False

    def _sent(self, level: float, attempt: int, folder: Path) -> Idle:
        stepping, count = self._stepping, len(self.steps)
        if count >= stepping.most_steps:
            raise Halted(
                Halt.STEPS, f"{count} steps were made, as many as were allowed; --steps sets how many there may be."
            )  # fmt: skip
        if time.monotonic() - self._began_s + stepping.step_s > stepping.total_s:
            raise Halted(
                Halt.TIME, f"Another step would end after the {stepping.total_s:g} s that were allowed; --for sets how long a ramp may take."
            )  # fmt: skip
        self._watch.phase(f"step {count + 1}, {level_said(level, self._range.axis)}")
        try:
            idle = self._at_rest()
            conduct(self._trial_at(level, attempt), folder, self._watch)
        except VramError as error:
            if isinstance(error, Halted) or not self.steps:
                raise
            raise Halted(Halt.SERVER, f"The step at {level_said(level, self._range.axis)} was not made: {error}") from None  # fmt: skip
        if read_description(folder).ended == "interrupted":
            raise KeyboardInterrupt
        return idle

    def _trial_at(self, level: float, attempt: int) -> TrialAsked:
        trial, step_s = self._trial, self._stepping.step_s
        seeded = replace(trial, seed=trial.seed + attempt, duration_s=step_s)
        if self._range.axis is Axis.CONCURRENCY:
            return replace(seeded, closed=round(level))
        return replace(seeded, part=replace(trial.part, rate_scale=level))

    def _at_rest(self) -> Idle:
        """Wait until the server has nothing to do.

        Raises:
            Halted: it does not come to rest.
        """
        key = key_for(self._trial)
        if not self._asked_metrics:
            facts = ask_server(
                self._trial.url, key, metrics_url=self._trial.metrics_url, closely=False
            )
            self._metrics, self._asked_metrics = facts.metrics_url, True
        self._watch.phase("waiting until the server is idle")
        found = await_idle(self._metrics, authorization(key), self._stepping.idle_s)
        if found.idle is False:
            raise Halted(
                Halt.BUSY,
                f"The server did not come to rest within {self._stepping.idle_s:g} s: {found.why}; keep other load away from it, "
                "or restart it, and resume the ramp.",
            )
        return found


def step_name(level: float, attempt: int, axis: Axis) -> str:
    """``step-c8``, ``step-x0.5-again-1``."""
    sign = "c" if axis is Axis.CONCURRENCY else "x"
    again = f"-again-{attempt}" if attempt else ""
    return f"step-{sign}{level:g}{again}"


def level_said(level: float, axis: Axis) -> str:
    """``8 in flight``, ``x0.5``."""
    return f"{level:,.0f} in flight" if axis is Axis.CONCURRENCY else f"x{level:g}"


def _halt(read: Read) -> None:
    halt = Halt.CLIENT if read.client else Halt.CUT
    raise Halted(halt, " ".join(read.open))
