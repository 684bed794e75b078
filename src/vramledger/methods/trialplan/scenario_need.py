"""What a scenario of the contract needs: how long a trial of it has to send, and what that decides."""

from math import ceil
from typing import TYPE_CHECKING, Final

from vramledger.frozen import frozen
from vramledger.methods.trialplan.item import KINDS, Item, Kind, longest_s
from vramledger.methods.trialplan.line_need import LineNeed, line_needs
from vramledger.methods.trialplan.offered_time import fewest_seconds
from vramledger.methods.trialplan.played_ends import PlayedEnds

if TYPE_CHECKING:
    from vramledger.simulate.engines import Progress
    from vramledger.simulate.run import Simulation

_HOUR_S: Final = 3600.0
_LEAST_DRAIN_S: Final = 60.0
_MOST_DRAIN_S: Final = 600.0
_SLOWER: Final = 2.0  # times the longest stay at the slow end, before a drain is cut off
_ROUND_S: Final = 10.0
RUN: Final = next(kind for kind in KINDS if kind.name == "run")


@frozen
class ScenarioNeed:
    """A scenario as it was simulated. `fewest_s` is the shortest trial that meets its busiest part."""

    name: str
    requests: int
    span_s: float
    fewest_s: float
    drain_s: float
    lines: tuple[LineNeed, ...]
    notes: tuple[str, ...] = ()

    @property
    def send_s(self) -> float:
        """Seconds of load that decide all lines that can be decided, 0 where none can."""
        hours = [line.hours for line in self.lines if line.hours is not None]
        return rounded_up(max(self.fewest_s, max(hours) * _HOUR_S)) if hours else 0.0

    @property
    def per_hour(self) -> float:
        """Arrivals."""
        return self.requests / self.span_s * _HOUR_S

    @property
    def chance_of_failing(self) -> float:
        """The largest of its lines: they fail together."""
        return max((line.chance_of_failing for line in self.lines), default=0.0)

    @property
    def takes_s(self) -> float:
        """The longest the trial takes."""
        return longest_s(RUN, self.send_s, self.drain_s)

    def decided_in(self, send_s: float) -> tuple[str, ...]:
        """The lines that a trial decides which sends for so long."""
        if send_s < self.fewest_s:
            return ()
        return tuple(
            line.asked
            for line in self.lines
            if line.hours is not None and line.hours * _HOUR_S <= send_s + 1e-6
        )

    def item(self, kind: Kind, send_s: float, times: int | None = None) -> Item:
        """A trial of it, `times` one after another."""
        decided = self.decided_in(send_s) if kind is RUN else ()
        return Item(
            name=self.name if kind is RUN else f"{self.name}-{kind.name}",
            kind=kind.name,
            takes_s=longest_s(kind, send_s, self.drain_s, times or 1),
            scenario=self.name,
            send_s=send_s,
            drain_s=self.drain_s,
            decides=tuple(f"{self.name}: {line}" for line in decided),
            fresh=kind.name == "cold",
            times=times,
        )


def scenario_need(
    name: str,
    simulation: "Simulation",
    confidence: float,
    progress: "Progress",
    *,
    stages: bool = False,
) -> ScenarioNeed:
    """A scenario's need, by a simulation of it with a contract; `stages` is whether trials are told stage times."""
    contract = simulation.question.contract
    ends = PlayedEnds(simulation, progress)
    stay = max(_SLOWER * ends.slow.longest_s, _LEAST_DRAIN_S)
    return ScenarioNeed(
        name=name,
        requests=ends.requests,
        span_s=ends.span_s,
        fewest_s=fewest_seconds(simulation.offered),
        drain_s=rounded_up(min(stay, _MOST_DRAIN_S)),
        lines=() if contract is None else line_needs(contract, ends, confidence, stages=stages),
        notes=simulation.notes,
    )


def rounded_up(seconds: float) -> float:
    """To whole tens of seconds."""
    return float(ceil(seconds / _ROUND_S - 1e-9) * _ROUND_S)
