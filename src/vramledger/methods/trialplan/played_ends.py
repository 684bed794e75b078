"""A scenario simulated at the expected step times and at the ends of their band, as a trial would be judged."""

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vramledger.methods.trialplan.offered_time import span_seconds
from vramledger.simulate.answers import served_as
from vramledger.simulate.ends import played_at
from vramledger.simulate.output_gaps import output_gaps
from vramledger.simulate.pace import Pace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vramledger.simulate.engines import Progress
    from vramledger.simulate.judged import Line, Served
    from vramledger.simulate.output_gaps import Gaps
    from vramledger.simulate.run import Played, Simulation

    Floats = np.ndarray[Any, np.dtype[np.float64]]

_NANO: Final = 1e-9


class Side:
    """One play of the scenario."""

    def __init__(self, played: "Played") -> None:
        self._played = played
        self.lines: tuple[Line, ...] = played.answers.lines
        self.queue_drains = played.answers.queue_drains
        self.due_s: Floats = np.asarray(played.offered.due_ns * _NANO, np.float64)

    @cached_property
    def served(self) -> "Served":
        """What a contract is held against."""
        run = self._played
        return served_as(
            run.offered,
            run.figures,
            output_gaps(run.engines),
            run.answers.levels,
            queue_drains=self.queue_drains,
        )

    def gaps_up_to(self, lengths: "Sequence[int]") -> "dict[int, Gaps]":
        """The gaps of requests with at most so many input tokens."""
        run = self._played
        return {
            most: output_gaps(run.engines, run.offered.input_tokens <= most) for most in lengths
        }

    @property
    def longest_s(self) -> float:
        """The longest stay of a request that ended."""
        stayed = self.served.stayed
        told = stayed[np.isfinite(stayed)]
        return float(told.max()) if len(told) else 0.0

    def waiting(self, step_s: float) -> "Floats":
        """Requests that wait in all engines, sampled every `step_s` while requests arrive."""
        ends_s = float(self.due_s[-1])
        moments = np.arange(0.0, max(ends_s, step_s), step_s)
        total: Floats = np.zeros(len(moments))
        for engine in self._played.engines:
            steps = engine.found.steps
            at = np.searchsorted(steps["start_ns"] * _NANO, moments, side="right") - 1
            inside = (at >= 0) & (moments < steps["end_ns"][np.maximum(at, 0)] * _NANO)
            total += np.where(inside, steps["waiting"][np.maximum(at, 0)], 0)
        return total


class PlayedEnds:
    """The main run of a simulation, at its expected step times, at the slow end and at the fast one."""

    def __init__(self, simulation: "Simulation", progress: "Progress") -> None:
        hits = simulation.own is not None
        main = simulation.main
        self.expected = Side(main)
        self.slow, self.fast = (
            Side(played_at(simulation, pace, progress, main, hits=hits))
            for pace in (Pace.SLOW, Pace.FAST)
        )
        self.requests = len(main.offered)
        self.span_s = span_seconds(main.offered)

    @property
    def sides(self) -> tuple[Side, Side, Side]:
        """The expected one, the slow one, the fast one."""
        return self.expected, self.slow, self.fast

    def line(self, side: Side, asked: str) -> "Line | None":
        """A line of the contract in one of them."""
        return next((each for each in side.lines if each.asked == asked), None)
